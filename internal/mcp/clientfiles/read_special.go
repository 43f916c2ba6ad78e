package clientfiles

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// special reads what one client alone has, before what all have. It gives a
// reason if the entry is no server that could be taken over.
func (r *reader) special(e *entry, s *Server) (skip string) {
	switch r.client.name {
	case ClaudeCode:
		if s.Name == "workspace" {
			e.fail("the name workspace is reserved by Claude Code, which never starts this server")
		}
	case Codex:
		r.codex(e, s)
	case Zed:
		return r.zed(e, s)
	case Goose:
		return r.goose(e, s)
	case Continue:
		r.continued(e, s)
	case AgentPlugins:
		r.plugin(e)
	}
	return ""
}

// codex reads the keys that name variables instead of holding values.
func (r *reader) codex(e *entry, s *Server) {
	if v, ok := e.take("env_vars"); ok {
		for _, w := range v.list {
			name := w.text
			if n, ok := w.get("name"); ok {
				name = n.text
			}
			if !IsVariable(name) {
				e.note("an entry of env_vars is no name of a variable and was left out")
				continue
			}
			put(&s.Env, name, "${"+name+"}")
			e.made["env."+name] = true
		}
	}
	if m := e.table("env_http_headers"); m != nil {
		for _, h := range sortedKeys(m) {
			if !IsVariable(m[h]) {
				e.note("env_http_headers.%s names no variable and was left out", show(h))
				continue
			}
			put(&s.Headers, h, "${"+m[h]+"}")
			e.made["headers."+h] = true
		}
	}
	if name := e.text("bearer_token_env_var"); name != "" {
		if !IsVariable(name) {
			e.fail("bearer_token_env_var names no variable")
			return
		}
		put(&s.Headers, "Authorization", "Bearer ${"+name+"}")
		e.made["headers.Authorization"] = true
	}
	if token := e.text("bearer_token"); token != "" {
		put(&s.Headers, "Authorization", "Bearer "+token)
		delete(e.made, "headers.Authorization")
		e.note("bearer_token is refused by Codex itself; it became the header Authorization, and belongs into the vault")
	}
}

func put(m *map[string]string, key, v string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = v
}

// zed knows its older form, in which command is a table, and servers that come
// from an extension.
func (r *reader) zed(e *entry, s *Server) (skip string) {
	if source := e.text("source"); source == "extension" {
		return "it comes from an extension of Zed, which alone knows its command"
	} else if source != "" && source != "custom" {
		e.note("its source is not known here")
	}
	if v, ok := e.get("command"); ok && v.kind == kindTable {
		old := &entry{value: v, used: map[string]bool{}}
		flat := e.value
		flat.fields = slices.DeleteFunc(slices.Clone(flat.fields), func(f field) bool { return f.name == "command" })
		s.Command = old.text("path")
		s.Args = old.texts("args")
		s.Env = old.table("env")
		old.rest()
		e.value = flat
		e.notes, e.dropped = append(e.notes, old.notes...), append(e.dropped, old.dropped...)
		if old.err != nil {
			e.fail("command: %w", old.err)
		}
		return ""
	}
	if !e.has("command") && !e.has("url") && e.has("settings") {
		return "it comes from an extension of Zed, which alone knows its command"
	}
	return ""
}

// goose skips what is built in, and makes secrets of the keys in its keyring.
func (r *reader) goose(e *entry, s *Server) (skip string) {
	switch v, _ := e.get("type"); v.text {
	case "builtin", "platform", "frontend":
		return "it is built into Goose"
	case "inline_python":
		return "it is a Python program inside the file, which nothing runs here"
	}
	e.used["name"] = true // a second name, for show
	for _, key := range e.texts("env_keys") {
		if !IsVariable(key) {
			e.note("an entry of env_keys is no name of a variable and was left out")
			continue
		}
		name := secretName(s.Name + "-keyring-" + key) // never the key alone: it could be the name of another's secret
		put(&s.Env, key, "${secret:"+name+"}")
		e.made["env."+key] = true
		e.note("%s is in Goose's keyring; it became the secret %s, to be put into the vault", key, name)
	}
	return ""
}

// gooseHeaders puts the environment that an entry lists into its address and
// headers, for which alone a remote server has one.
func gooseHeaders(s *Server) {
	fill := func(text string) string {
		var out strings.Builder
		for _, p := range references(text) {
			name := strings.TrimSuffix(strings.TrimPrefix(p.text, "${"), "}")
			if v, ok := s.Env[name]; ok && p.ref {
				out.WriteString(v)
			} else {
				out.WriteString(p.text)
			}
		}
		return out.String()
	}
	s.URL = fill(s.URL)
	for _, h := range sortedKeys(s.Headers) {
		s.Headers[h] = fill(s.Headers[h])
	}
	s.Env = nil
}

const pluginSchema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"

// pluginFile checks the top of an Agent Plugins file, whose form is closed.
func (r *reader) pluginFile() bool {
	if v, _ := r.root.get("$schema"); v.text != pluginSchema {
		r.problems = append(r.problems, Problem{Text: "its $schema is not that of Agent Plugins 1.0.0, so no server is read"})
		return false
	}
	if m, ok := r.root.get("mcpServers"); !ok || m.kind != kindTable {
		r.problems = append(r.problems, Problem{Text: "it has no table mcpServers"})
		return false
	}
	for _, f := range r.root.fields {
		if f.name != "$schema" && f.name != "mcpServers" {
			r.problems = append(r.problems, Problem{Line: r.line(f), Text: fmt.Sprintf("the key %s does not belong into the file and is ignored", show(f.name))})
		}
	}
	return true
}

// plugin checks what the closed form asks of one server.
func (r *reader) plugin(e *entry) {
	switch v, _ := e.get("type"); v.text {
	case "stdio", "streamable-http", "sse":
	default:
		e.fail("its type must be stdio, streamable-http or sse")
	}
	for _, f := range e.fields {
		switch f.name {
		case "type", "command", "args", "env", "cwd", "url", "headers":
		default:
			e.fail("the key %s does not belong into the file", show(f.name))
		}
	}
	command, _ := e.get("command")
	switch {
	case strings.Contains(command.text, "${"):
		e.fail("its command may have no placeholder")
	case strings.ContainsAny(command.text, `/\`) && (!strings.HasPrefix(command.text, "./") || leaves(command.text)):
		e.fail("its command is neither a bare name nor a ./path inside the plugin")
	}
	if cwd, ok := e.get("cwd"); ok {
		rest, root := strings.CutPrefix(cwd.text, "${PLUGIN_ROOT}")
		if !root {
			rest, root = strings.CutPrefix(cwd.text, "${PLUGIN_DATA}")
		}
		if !root && !strings.HasPrefix(cwd.text, "./") || root && rest != "" && rest[0] != '/' || leaves(cwd.text) {
			e.fail("its cwd must be inside the plugin or its data")
		}
	}
	env, _ := e.get("env")
	for _, f := range env.fields {
		if f.name == "PLUGIN_ROOT" || f.name == "PLUGIN_DATA" {
			e.fail("its env may not set %s", f.name)
		}
	}
}

func leaves(path string) bool {
	return slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), "..")
}

func pluginURL(e *entry, u *url.URL) {
	local := u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
	switch {
	case u.User != nil || u.Fragment != "":
		e.fail("its address may have no user and no fragment")
	case u.Scheme != "https" && !local:
		e.fail("its address must be https")
	}
}
