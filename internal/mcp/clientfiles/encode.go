package clientfiles

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// encoder writes servers the way of one client, and remembers what that client
// cannot hold.
type encoder struct {
	client client
	name   string
	lost   []string
	inputs []string // VS Code: what has to be asked for
	keys   []string // Codex and Goose: variables that are named, not written
}

func (x *encoder) lose(format string, args ...any) {
	x.lost = append(x.lost, "server "+show(x.name)+": "+fmt.Sprintf(format, args...))
}

// server gives the entry of a server, or false if the client cannot have it.
func (x *encoder) server(s Server) (value, bool) {
	x.name, x.keys = s.Name, nil
	v := value{kind: kindTable}
	if !x.possible(s) {
		return v, false
	}
	write := x.remote
	if s.Command != "" {
		write = x.program
	}
	if !write(s, &v) {
		return v, false
	}
	x.settings(s, &v)
	// The client's own rules are those of reading: what would not be read again
	// is not written.
	r := &reader{client: x.client, codec: Codec{Exists: looksLikePath}}
	back, problem := r.server(field{name: s.Name, value: v})
	switch {
	case problem != nil:
		x.lose("it was left out: %s", problem.Text)
		return v, false
	case len(back.Args) != len(s.Args):
		x.lose("it was left out: its command has blanks and is no path, so that it could be taken for several words")
		return v, false
	}
	return v, true
}

func (x *encoder) possible(s Server) bool {
	c := x.client
	err := checkName(s.Name)
	switch {
	case err != nil:
		x.lose("it was left out: %v", err)
	case s.Command == "" && s.URL == "" || s.Command != "" && s.URL != "":
		x.lose("it was left out: it needs either a command or an address")
	case s.URL != "" && c.local:
		x.lose("it was left out: %s's file holds only programs, no addresses", c.title)
	case s.URL != "" && s.Transport == SSE && c.name == Codex:
		x.lose("it was left out: %s does not speak SSE", c.title)
	case s.Disabled && c.enabled == "" && c.disabled == "":
		x.lose("it was left out: it is switched off, and %s's file cannot say so", c.title)
	default:
		return true
	}
	return false
}

func (x *encoder) word(t string) string {
	switch t {
	case Stdio:
		return x.client.stdio
	case SSE:
		return x.client.sse
	}
	return x.client.http
}

func (x *encoder) start(v *value, transport string) {
	switch x.client.name {
	case Zed:
		if transport == Stdio {
			v.put("source", textValue("custom"))
		}
	case Goose:
		v.put("name", textValue(x.name))
	}
	if w := x.word(transport); w != "" {
		v.put(x.client.kind, textValue(w))
	}
}

func (x *encoder) program(s Server, v *value) bool {
	c := x.client
	x.start(v, Stdio)
	command, ok := x.text(s.Command, "command")
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		var fits bool
		args[i], fits = x.text(a, fmt.Sprintf("args[%d]", i))
		ok = ok && fits
	}
	if !ok {
		x.lose("it was left out")
		return false
	}
	if c.name == OpenCode {
		v.put(c.command, textList(append([]string{command}, args...)))
	} else {
		v.put(c.command, textValue(command))
		if len(args) > 0 || c.name == Goose || c.name == CopilotCLI {
			v.put(c.args, textList(args))
		}
	}
	env := x.variables(s.Env)
	if len(env) > 0 {
		v.put(c.env, textTable(env))
	}
	x.namedKeys(v)
	if s.Cwd != "" {
		if cwd, ok := x.text(s.Cwd, "cwd"); c.cwd != "" && ok {
			v.put(c.cwd, textValue(cwd))
		} else {
			x.lose("its directory cannot be said")
		}
	}
	return true
}

// variables writes an environment; what only has a name goes into keys.
func (x *encoder) variables(in map[string]string) map[string]string {
	return x.table("env", in, func(name, text string) bool {
		list := references(text)
		if x.client.name != Codex && x.client.name != Goose || len(list) != 1 || !list[0].ref {
			return false
		}
		x.namedVariable(name, list[0].text)
		return true
	})
}

// table writes texts by name, but for those that are written elsewhere.
func (x *encoder) table(what string, in map[string]string, elsewhere func(name, text string) bool) map[string]string {
	out := map[string]string{}
	for _, name := range sortedKeys(in) {
		if elsewhere(name, in[name]) {
			continue
		}
		if text, ok := x.text(in[name], what+"."+show(name)); ok {
			out[name] = text
		} else {
			x.lose("%s.%s was left out", what, show(name))
		}
	}
	return out
}

func (x *encoder) namedVariable(key, ref string) {
	inner := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
	secret, isSecret := strings.CutPrefix(inner, "secret:")
	name, _, _ := strings.Cut(inner, ":-")
	switch {
	case !IsVariable(key) || !isSecret && name != key:
		x.lose("env.%s was left out: %s passes variables on only under their own name", show(key), x.client.title)
		return
	case isSecret:
		x.lose("the secret %s is not written: give it to %s as the variable %s", show(secret), x.client.title, key)
	case name != inner:
		x.lose("the default of ${%s} was left out", name)
	}
	x.keys = append(x.keys, key)
}

func (x *encoder) namedKeys(v *value) {
	if len(x.keys) == 0 {
		return
	}
	slices.Sort(x.keys)
	key := "env_keys"
	if x.client.name == Codex {
		key = "env_vars"
	}
	v.put(key, textList(slices.Compact(x.keys)))
}

func (x *encoder) remote(s Server, v *value) bool {
	c := x.client
	x.start(v, s.Transport)
	address, ok := x.text(s.URL, "url")
	if !ok {
		x.lose("it was left out")
		return false
	}
	key := c.url[0].key
	if c.name == Gemini && s.Transport == SSE {
		key = "url"
	}
	v.put(key, textValue(address))
	if s.Transport == SSE && (c.sse == "" || c.sse == c.http) && c.name != Gemini {
		x.lose("%s's file cannot say that it speaks SSE", c.title)
	}
	headers := x.table("headers", s.Headers, func(name, text string) bool { return c.name == Codex && x.codexHeader(name, text, v) })
	if len(headers) > 0 {
		v.put(c.headers, textTable(headers))
	}
	if c.name == Goose {
		x.namedKeys(v)
	}
	return true
}

// codexHeader writes a header whose value is a variable, for which Codex has
// keys of their own.
func (x *encoder) codexHeader(name, text string, v *value) bool {
	bearer, isBearer := strings.CutPrefix(text, "Bearer ")
	if !isBearer || name != "Authorization" {
		bearer, isBearer = text, false
	}
	list := references(bearer)
	if len(list) != 1 || !list[0].ref {
		return false
	}
	variable := x.variable(list[0].text)
	if !IsVariable(variable) {
		return false // Codex would look for one of that name
	}
	if isBearer {
		v.put("bearer_token_env_var", textValue(variable))
		return true
	}
	i := v.index("env_http_headers")
	if i < 0 {
		v.put("env_http_headers", value{kind: kindTable})
		i = len(v.fields) - 1
	}
	v.fields[i].value.put(name, textValue(variable))
	return true
}

func (x *encoder) settings(s Server, v *value) {
	c := x.client
	if s.Timeout > 0 {
		if c.timeout == "" {
			x.lose("its timeout cannot be said")
		} else {
			v.put(c.timeout, intValue(int64(max(1, (s.Timeout+c.unit-1)/c.unit))))
			if s.Timeout%c.unit != 0 && c.unit == time.Second {
				x.lose("its timeout was rounded to seconds")
			}
		}
	}
	lists := [...]struct {
		key, what string
		list      []string
	}{{c.enabledTools, "enabled_tools", s.EnabledTools}, {c.disabledTools, "disabled_tools", s.DisabledTools}}
	for _, l := range lists {
		switch {
		case len(l.list) == 0 && c.name == CopilotCLI && l.key != "":
			v.put(l.key, textList([]string{"*"})) // Copilot CLI wants the list
		case len(l.list) == 0:
		case l.key == "":
			x.lose("%s cannot be said: %s shows tools that are hidden here", l.what, c.title)
		default:
			v.put(l.key, textList(l.list))
		}
	}
	switch {
	case len(s.Agents) == 0:
	case c.name == AgenticX:
		v.put("assign_to_agents", textList(s.Agents))
	default:
		x.lose("assign_to_agents cannot be said: every agent of %s gets it", c.title)
	}
	switch {
	case s.Disabled && c.disabled != "":
		v.put(c.disabled, boolValue(true))
	case s.Disabled:
		v.put(c.enabled, boolValue(false))
	case c.name == OpenCode || c.name == Goose:
		v.put(c.enabled, boolValue(true))
	}
}
