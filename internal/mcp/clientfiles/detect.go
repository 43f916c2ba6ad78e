package clientfiles

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// Detect tells whose file a text is: by the name of the file where that says
// it, else by what the text holds. Scripts are nobody's: Crush's crushrc would
// have to be run to be read.
func Detect(file string, text []byte) (client string, ok bool) {
	slashed := strings.ReplaceAll(file, `\`, "/")
	if c := detectPath(slashed); c != "" {
		return c, true
	}
	switch ext := strings.ToLower(path.Ext(slashed)); ext {
	case ".toml":
		v, _, err := parseTOML(text)
		_, found := v.get("mcp_servers")
		return Codex, err == nil && found
	case ".yaml", ".yml":
		if hasTopKey(text, "mcpServers") {
			return Continue, true
		}
		return Goose, hasTopKey(text, "extensions")
	case ".sh", ".bash", ".zsh":
		return "", false
	}
	if base := path.Base(slashed); base == "crushrc" || base == ".crushrc" {
		return "", false
	}
	root, _, err := parseJSONC(text)
	if err != nil || root.kind != kindTable {
		return "", false
	}
	c := detectShape(root)
	return c, c != ""
}

// hasTopKey looks for a key at the beginning of a line of YAML.
func hasTopKey(text []byte, key string) bool {
	return bytes.HasPrefix(text, []byte(key+":")) || bytes.Contains(text, []byte("\n"+key+":"))
}

// detectPath knows the names that only one client uses.
func detectPath(file string) string {
	base := path.Base(file)
	parts := strings.Split(file, "/")
	in := func(dir string) bool {
		return slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool { return strings.EqualFold(part, dir) })
	}
	dir := path.Base(path.Dir(file))
	if dir == "mcpServers" && in(".continue") {
		return Continue
	}
	switch base {
	case "claude_desktop_config.json":
		return ClaudeDesktop
	case ".claude.json", ".mcp.json":
		return ClaudeCode
	case "mcp_config.json":
		if in("windsurf") {
			return Windsurf
		}
	case "opencode.json", "opencode.jsonc":
		return OpenCode
	case "crush.json", ".crush.json":
		return Crush
	case "cline_mcp_settings.json":
		return Cline
	case "mcp_settings.json":
		switch {
		case in("kilocode.kilo-code"):
			return Kilo
		case in("rooveterinaryinc.roo-cline"):
			return Roo
		}
	case "config.toml":
		if in(".codex") {
			return Codex
		}
	case "config.yaml":
		switch {
		case in("goose"):
			return Goose
		case in(".continue"):
			return Continue
		}
	case "mcp-config.json":
		return CopilotCLI
	case "settings.jsonc":
		if dir == "amp" || dir == ".amp" {
			return Amp
		}
	case "settings.json":
		switch {
		case dir == "amp" || dir == ".amp":
			return Amp
		case in(".gemini"):
			return Gemini
		case in("zed") || in(".zed"):
			return Zed
		case in("User") || in(".vscode"):
			return VSCode
		}
	case "mcp.json":
		switch {
		case in(".cursor"):
			return Cursor
		case in(".vscode") || in("User"):
			return VSCode
		case in(".roo"):
			return Roo
		case in(".kilocode"):
			return Kilo
		case in(".agenticx"):
			return AgenticX
		case in(".kiro"):
			return Kiro
		case in(".junie"):
			return Junie
		case in("amazonq") || in(".amazonq"):
			return AmazonQ
		case in(".lmstudio") || in("lm-studio"):
			return LMStudio
		}
	}
	return ""
}

// detectShape goes by what a JSON file holds.
func detectShape(root value) string {
	if v, _ := root.get("$schema"); v.text == pluginSchema {
		return AgentPlugins
	}
	has := func(key string) bool { v, ok := root.get(key); return ok && v.kind == kindTable }
	switch {
	case has("amp.mcpServers"):
		return Amp
	case has("context_servers"):
		return Zed
	case has("servers"):
		return VSCode
	case has("mcpServers"):
		m, _ := root.get("mcpServers")
		if has("projects") {
			return ClaudeCode
		}
		return detectEntries(m)
	case has("mcp"):
		return detectMCP(root)
	case has("projects"):
		return ClaudeCode
	}
	if c, _ := clientOf(ClaudeCode); isServerMap(c, root) {
		return detectEntries(root)
	}
	return ""
}

func detectMCP(root value) string {
	m, _ := root.get("mcp")
	if inner, ok := openCodeServers(m); ok {
		for _, f := range inner.fields {
			if v, _ := f.value.get("command"); v.kind == kindText {
				return VSCode // settings.json of old
			}
		}
		return OpenCode
	}
	for _, f := range m.fields {
		switch v, _ := f.value.get("type"); v.text {
		case "local", "remote":
			return OpenCode
		case "stdio", "http", "sse":
			return Crush
		}
	}
	return ""
}

// detectEntries goes by the keys that only one client has. What is left could
// be anyone's: Claude Code's reading takes all of the usual ones.
func detectEntries(m value) string {
	for _, f := range m.fields {
		has := func(key string) bool { _, ok := f.value.get(key); return ok }
		if has("autoApprove") && has("disabledTools") {
			return Kiro
		}
		if v, _ := f.value.get("tools"); v.kind == kindList {
			return CopilotCLI
		}
		for _, g := range f.value.fields {
			switch g.name {
			case "serverUrl":
				return Windsurf
			case "httpUrl", "includeTools", "excludeTools", "trust":
				return Gemini
			case "autoApprove":
				return Cline
			case "alwaysAllow":
				return Roo
			case "assign_to_agents", "enabled_tools":
				return AgenticX
			case "envFile":
				return Cursor
			}
		}
	}
	if len(m.fields) == 0 {
		return ""
	}
	return ClaudeCode
}
