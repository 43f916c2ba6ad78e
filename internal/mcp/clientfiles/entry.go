package clientfiles

import (
	"fmt"
	"slices"
	"strings"
)

// entry is one server's table while it is read: it remembers which keys were
// asked for, so that the others can be told.
type entry struct {
	value
	used  map[string]bool
	made  map[string]bool // "env.X" and "headers.X" that are in our form already, "command" if it was a list
	notes []string
	// dropped has the keys that are not taken over, each with the reason.
	dropped []string
	err     error // the first thing that makes it unusable
}

func (e *entry) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *entry) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(e.notes, n) {
		e.notes = append(e.notes, n)
	}
}

func (e *entry) take(name string) (value, bool) {
	if name == "" {
		return value{}, false
	}
	e.used[name] = true
	v, ok := e.get(name)
	return v, ok && v.kind != kindNull
}

func (e *entry) has(name string) bool {
	v, ok := e.get(name)
	return name != "" && ok && v.kind != kindNull
}

func (e *entry) text(name string) string {
	v, ok := e.take(name)
	if ok && v.kind != kindText {
		e.fail("%s is %s, not a text", name, v.kind)
		return ""
	}
	return v.text
}

// scalar gives a text, or a number or bool as it is written: people write
// ports without quotes.
func (e *entry) scalar(v value, where string) string {
	switch v.kind {
	case kindText:
	case kindNumber, kindBool:
		e.note("%s was %s and became a text", where, v.kind)
	default:
		e.fail("%s is %s, not a text", where, v.kind)
	}
	return v.text
}

func (e *entry) texts(name string) []string {
	v, ok := e.take(name)
	if !ok {
		return nil
	}
	if v.kind != kindList {
		e.fail("%s is %s, not a list", name, v.kind)
		return nil
	}
	var list []string
	for i, w := range v.list {
		list = append(list, e.scalar(w, fmt.Sprintf("%s[%d]", name, i)))
	}
	return list
}

func (e *entry) table(name string) map[string]string {
	v, ok := e.take(name)
	if !ok {
		return nil
	}
	if v.kind != kindTable {
		e.fail("%s is %s, not a table", name, v.kind)
		return nil
	}
	m := make(map[string]string, len(v.fields))
	for _, f := range v.fields {
		where := name + "." + show(f.name)
		switch {
		case f.name == "" || strings.ContainsAny(f.name, "=\x00\r\n"):
			e.fail("%s has a name that cannot be one", name)
		case f.value.kind == kindNull:
			e.note("%s has no value and was left out", where)
		default:
			if _, twice := m[f.name]; twice {
				e.note("%s is given twice; the last one counts", where)
			}
			m[f.name] = e.scalar(f.value, where)
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// drop names a key that is not taken over.
func (e *entry) drop(key, why string) {
	e.used[key] = true
	e.dropped = append(e.dropped, show(key)+": "+why)
}

// rest names the keys that nobody asked for.
func (e *entry) rest() {
	for _, f := range e.fields {
		if e.used[f.name] || f.value.kind == kindNull {
			continue
		}
		why := dropped(f.name)
		if why == "" {
			why = "the key is not known here; if it narrows what the server may do, say so in the settings of Toolcrib"
		}
		e.drop(f.name, why)
	}
}

// dropped says why a key that clients know is not taken over.
func dropped(key string) string {
	switch key {
	case "envFile", "env_file":
		return "its file is not read here; put its variables under env, or its secrets into the vault"
	case "oauth", "auth", "authProviderType", "targetAudience", "targetServiceAccount", "oauth_resource", "scopes", "mcp_oauth", "oauthScopes", "oauthClientId", "oauthPublicClient":
		return "it is about logging in, which Toolcrib does in another way; see oauth in its settings"
	case "headersHelper", "http_headers_helper":
		return "it is a program that makes headers, and no program is run for that here"
	case "sandbox", "sandboxEnabled":
		return "the sandbox is chosen in Toolcrib's own configuration"
	case "autoApprove", "alwaysAllow", "trust", "trusted", "default_tools_approval_mode", "tools":
		return "approvals are given in Toolcrib, not taken over"
	case "startup_timeout_sec", "startup_timeout_ms", "required", "supports_parallel_tool_calls", "omit_tools_from", "experimental_environment", "connectionTimeout":
		return "it says how the client starts and shows the server"
	case "dev", "gallery", "version", "description", "display_name", "bundled", "watchPaths", "icon", "notes", "name",
		"serverName", "faviconUrl", "sourceFile", "sourceSlug", "isDefaultServer", "displayName":
		return "it is for the client's own use"
	}
	return ""
}
