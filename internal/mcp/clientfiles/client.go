package clientfiles

import (
	"bytes"
	"time"
)

// The names of the clients.
const (
	ClaudeDesktop = "claude-desktop"
	ClaudeCode    = "claude-code"
	Cursor        = "cursor"
	VSCode        = "vscode"
	Windsurf      = "windsurf"
	Codex         = "codex"
	Gemini        = "gemini"
	Zed           = "zed"
	OpenCode      = "opencode"
	Cline         = "cline"
	Roo           = "roo"
	Kilo          = "kilo"
	Goose         = "goose"
	Crush         = "crush"
	AgenticX      = "agenticx"
	AgentPlugins  = "agent-plugins"
	Kiro          = "kiro"
	CopilotCLI    = "copilot-cli"
	Junie         = "junie"
	Amp           = "amp"
	Continue      = "continue"
	AmazonQ       = "amazon-q"
	LMStudio      = "lm-studio"
)

// Clients lists the names of all clients that are known.
func Clients() []string {
	return []string{
		ClaudeDesktop, ClaudeCode, Cursor, VSCode, Windsurf, Codex, Gemini, Zed, OpenCode,
		Cline, Roo, Kilo, Goose, Crush, AgenticX, AgentPlugins,
		Kiro, CopilotCLI, Junie, Amp, Continue, AmazonQ, LMStudio,
	}
}

type format byte

const (
	formatJSON format = iota
	formatTOML
	formatYAML
)

// client says how one client writes its servers. The keys are its names for
// what a Server has; an empty one means that it has nothing of the kind.
type client struct {
	name, title string
	format      format
	paths       [][]string // where the servers may stand; the first is where new ones go
	bare        bool       // the root may be the map of servers itself
	forms       forms
	local       bool // no remote servers

	command, args, env, cwd     string
	url                         []urlKey
	headers                     string
	kind                        string // the key of the transport
	stdio, http, sse            string // its words for them, as they are written; empty: the key is left out
	timeout                     string
	unit                        time.Duration
	enabledTools, disabledTools string
	enabled, disabled           string // keys of bools; a client has one or the other
	patterns                    bool   // * in its list of enabled tools means tools, and is no name
	emptyAll                    bool   // an empty list of enabled tools means all of them
}

// urlKey is a key that holds a URL, and the transport that it means where no
// other key says so.
type urlKey struct{ key, transport string }

// Title gives the name of a client as its makers write it.
func Title(name string) string {
	c, _ := clientOf(name)
	return c.title
}

// clientOf gives the table row of a client.
func clientOf(name string) (client, bool) {
	c := client{
		name: name, paths: [][]string{{"mcpServers"}}, command: "command", args: "args", env: "env", headers: "headers",
		url: []urlKey{{"url", ""}}, kind: "type", unit: time.Second,
	}
	switch name {
	case ClaudeDesktop:
		c.title, c.local, c.kind = "Claude Desktop", true, "type"
	case ClaudeCode:
		c.title, c.bare = "Claude Code", true
		c.stdio, c.http, c.sse = "stdio", "http", "sse"
		c.forms = forms{braces: true, defaults: true}
	case Cursor:
		c.title, c.bare = "Cursor", true
		c.forms = forms{env: true, editor: true}
	case VSCode:
		c.title, c.paths, c.cwd = "VS Code", [][]string{{"servers"}, {"mcp", "servers"}, {"mcpServers"}}, "cwd"
		c.stdio, c.http, c.sse = "stdio", "http", "sse"
		c.forms = forms{env: true, editor: true, input: true}
	case Windsurf:
		c.title, c.url = "Windsurf", []urlKey{{"serverUrl", HTTP}, {"url", ""}}
		c.disabledTools, c.disabled = "disabledTools", "disabled"
		c.forms = forms{env: true}
	case Codex:
		c.title, c.format, c.paths, c.cwd = "Codex", formatTOML, [][]string{{"mcp_servers"}}, "cwd"
		c.headers, c.timeout = "http_headers", "tool_timeout_sec"
		c.enabledTools, c.disabledTools, c.enabled = "enabled_tools", "disabled_tools", "enabled"
		c.kind, c.url = "", []urlKey{{"url", HTTP}}
	case Gemini:
		c.title, c.cwd = "Gemini CLI", "cwd"
		c.url = []urlKey{{"httpUrl", HTTP}, {"url", SSE}}
		c.timeout, c.unit = "timeout", time.Millisecond
		c.enabledTools, c.disabledTools = "includeTools", "excludeTools"
		c.forms = forms{braces: true, defaults: true, bare: true}
	case Zed:
		c.title, c.paths, c.enabled = "Zed", [][]string{{"context_servers"}}, "enabled"
		c.kind = ""
	case OpenCode:
		c.title, c.paths, c.cwd = "opencode", [][]string{{"mcp"}, {"mcp", "servers"}}, "cwd"
		c.args, c.env = "", "environment"
		c.stdio, c.http, c.sse = "local", "remote", "remote"
		c.timeout, c.unit, c.enabled = "timeout", time.Millisecond, "enabled"
		c.forms = forms{curly: true}
	case Cline, Roo, Kilo:
		c.title, c.disabled, c.timeout = "Cline", "disabled", "timeout"
		c.stdio, c.http, c.sse = "stdio", "streamableHttp", "sse"
		c.forms = forms{env: true}
		if name != Cline {
			c.title, c.http, c.cwd, c.disabledTools = "Roo Code", "streamable-http", "cwd", "disabledTools"
			c.forms = forms{env: true, editor: true}
		}
		if name == Kilo {
			c.title = "Kilo Code"
		}
	case Goose:
		c.title, c.format, c.paths = "Goose", formatYAML, [][]string{{"extensions"}}
		c.command, c.env, c.url = "cmd", "envs", []urlKey{{"uri", ""}, {"url", ""}}
		c.stdio, c.http, c.sse = "stdio", "streamable_http", "sse"
		c.timeout, c.enabledTools, c.enabled = "timeout", "available_tools", "enabled"
		c.emptyAll = true // Goose writes one for every server
	case Crush:
		c.title, c.paths = "Crush", [][]string{{"mcp"}}
		c.stdio, c.http, c.sse = "stdio", "http", "sse"
		c.timeout, c.disabled, c.disabledTools = "timeout", "disabled", "disabled_tools"
		c.forms = forms{braces: true, defaults: true, bare: true, runs: true}
	case AgenticX:
		c.title, c.bare, c.cwd = "AgenticX", true, "cwd"
		c.kind, c.stdio, c.http, c.sse = "transport", "stdio", "streamable_http", "sse"
		c.timeout, c.enabledTools, c.emptyAll = "timeout", "enabled_tools", true
	case AgentPlugins:
		c.title, c.cwd = "Agent Plugins", "cwd"
		c.stdio, c.http, c.sse = "stdio", "streamable-http", "sse"
		c.forms = forms{only: "PLUGIN_ROOT PLUGIN_DATA"}
	default:
		return newerClient(c)
	}
	return c, true
}

// newerClient fills in the rows of the clients that keep to mcpServers and
// differ in what they add to it.
func newerClient(c client) (client, bool) {
	switch c.name {
	case Kiro:
		c.title, c.disabled, c.disabledTools = "Kiro", "disabled", "disabledTools"
		c.timeout, c.unit = "timeout", time.Millisecond
		c.forms = forms{braces: true}
	case CopilotCLI:
		c.title, c.stdio, c.http, c.sse = "Copilot CLI", "local", "http", "sse"
		c.enabledTools, c.patterns = "tools", true
		c.timeout, c.unit = "timeout", time.Millisecond
		c.forms = forms{braces: true, defaults: true, bare: true}
	case Junie:
		c.title, c.enabled = "Junie", "enabled"
	case Amp:
		c.title, c.paths, c.kind = "Amp", [][]string{{"amp.mcpServers"}}, "transport"
		c.enabledTools, c.patterns, c.emptyAll = "includeTools", true, true
		c.forms = forms{braces: true}
	case Continue:
		c.title, c.format, c.cwd = "Continue", formatYAML, "cwd"
		c.stdio, c.http, c.sse = "stdio", "streamable-http", "sse"
		c.forms = forms{template: true}
	case AmazonQ:
		c.title, c.disabled, c.http = "Amazon Q", "disabled", "http"
		c.timeout, c.unit = "timeout", time.Millisecond
		c.forms = forms{env: true}
	case LMStudio:
		c.title = "LM Studio"
	default:
		return client{}, false
	}
	return c, true
}

// forText gives the row for one text. Continue takes a server as YAML in its
// settings, and in the form of Claude's clients in a JSON file of its own.
func (c client) forText(text []byte) client {
	body := bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if c.name == Continue && (len(body) == 0 || body[0] == '{') {
		c.format, c.http, c.cwd = formatJSON, "http", ""
		c.forms = forms{braces: true}
	}
	return c
}

// formsAt gives the variables that the client puts in at one place: command,
// args, env, cwd, url or headers.
func (c client) formsAt(place string) forms {
	remote := place == "url" || place == "headers"
	switch c.name {
	case Goose:
		if remote {
			return forms{braces: true, bare: true}
		}
	case AgentPlugins:
		if remote || place == "command" {
			return forms{}
		}
	case Kiro:
		if place != "env" && place != "headers" {
			return forms{}
		}
	case AmazonQ:
		switch place {
		case "env", "headers":
		case "command":
			return forms{braces: true, defaults: true, bare: true}
		default:
			return forms{}
		}
	case Continue:
		if c.format == formatJSON && place != "env" {
			return forms{}
		}
	}
	return c.forms
}

// transportOf reads a client's word for a transport.
func transportOf(word string) (string, bool) {
	switch word {
	case "stdio", "local", "custom":
		return Stdio, true
	case "http", "streamable-http", "streamableHttp", "streamable_http", "streamablehttp", "streamableHTTP":
		return HTTP, true
	case "sse":
		return SSE, true
	case "remote":
		return "", true
	}
	return "", false
}
