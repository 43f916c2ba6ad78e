package clientfiles

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// server reads one entry.
func (r *reader) server(f field) (Server, *Problem) {
	if err := checkName(f.name); err != nil {
		return Server{}, &Problem{Text: err.Error()}
	}
	if f.value.kind != kindTable {
		return Server{}, &Problem{Text: fmt.Sprintf("it is %s, not a table", f.value.kind)}
	}
	e := &entry{value: f.value, used: map[string]bool{}, made: map[string]bool{}}
	for i, g := range e.fields {
		if e.index(g.name) != i {
			e.note("%s is given twice; the last one counts, as in the client", show(g.name))
		}
	}
	s := Server{Name: f.name, Source: r.client.name}
	if why := r.special(e, &s); why != "" {
		return s, &Problem{Text: why, Skipped: true}
	}
	r.common(e, &s)
	r.connection(e, &s)
	if e.err == nil {
		r.login(e, &s)
	}
	if e.err == nil {
		r.translate(e, &s)
	}
	if e.err == nil {
		r.finish(e, &s)
	}
	if err := s.checkTexts(); err != nil {
		e.fail("%w", err)
	}
	e.rest()
	if e.err != nil {
		return s, &Problem{Text: e.err.Error()}
	}
	s.Notes, s.Dropped = e.notes, e.dropped
	return s, nil
}

// common reads what all clients call by a name of their own.
func (r *reader) common(e *entry, s *Server) {
	c := r.client
	if v, ok := e.get(c.command); ok && v.kind == kindList { // opencode; others by mistake
		e.made["command"] = true // its words are apart already
		if words := e.texts(c.command); len(words) > 0 {
			s.Command, s.Args = words[0], words[1:]
		}
	} else if s.Command == "" {
		s.Command = e.text(c.command)
	}
	s.Args = append(s.Args, e.texts(c.args)...)
	for k, v := range e.table(c.env) {
		put(&s.Env, k, v)
		delete(e.made, "env."+k)
	}
	s.Cwd = e.text(c.cwd)
	for k, v := range e.table(c.headers) {
		if e.made["headers."+k] {
			continue // a named variable counts more, as in Codex
		}
		put(&s.Headers, k, v)
	}
	r.narrowing(e, s)
}

// connection finds out whether the server is a program or an address, and how
// it is spoken to.
func (r *reader) connection(e *entry, s *Server) {
	c := r.client
	said := false
	kind := c.kind
	if (c.name == Cline || c.name == Roo || c.name == Kilo) && !e.has(kind) {
		kind = "transportType" // before it was called type
	}
	if word := e.text(kind); word != "" {
		t, ok := transportOf(word)
		if !ok {
			e.fail("its transport is not one of those that are known (stdio, streamable HTTP, SSE)")
			return
		}
		s.Transport, said = t, word != "remote"
	}
	for _, k := range c.url {
		if !e.has(k.key) {
			continue
		}
		if s.URL != "" {
			e.used[k.key] = true
			e.note("%s was left out: another address is given", k.key)
			continue
		}
		if s.URL = e.text(k.key); s.URL != "" && !said {
			s.Transport = k.transport
		}
		if c.name == Windsurf && k.key == "url" {
			e.note("the address stands under url, where Windsurf does not look for it (serverUrl)")
		}
	}
	r.oneConnection(e, s, said)
}

func (r *reader) oneConnection(e *entry, s *Server, said bool) {
	switch {
	case s.Command == "" && s.URL == "":
		switch {
		case r.client.name == OpenCode && !e.has("type"):
			e.fail("it only switches a server on or off that is defined elsewhere")
		default:
			e.fail("it has neither a command nor an address")
		}
	case s.Command != "" && s.URL != "":
		if !said || r.client.name == AgenticX {
			e.fail("it has both a command and an address, and nothing says which one counts")
			return
		}
		if s.Transport == Stdio {
			e.note("its address was left out: the server is a program")
			s.URL, s.Headers = "", nil
		} else {
			e.note("its command was left out: the server is remote")
			s.Command, s.Args, s.Env, s.Cwd = "", nil, nil, ""
		}
	case s.Command != "":
		if said && s.Transport != Stdio {
			e.fail("its transport says remote, and it has a command and no address")
		}
		s.Transport = Stdio
		if s.Headers != nil {
			e.note("headers were left out: the server is a program")
			s.Headers = nil
		}
	default:
		if said && s.Transport == Stdio {
			e.fail("its transport is stdio, and it has an address and no command")
		}
	}
}

// translate brings every text into our form.
func (r *reader) translate(e *entry, s *Server) {
	t := &translator{codec: r.codec, server: s.Name}
	do := func(where, place string, text *string) {
		t.forms = r.client.formsAt(place)
		out, err := t.text(*text)
		if err != nil {
			e.fail("%s: %w", where, err)
		}
		*text = out
	}
	doAll := func(place, label string, texts map[string]string) {
		for _, k := range sortedKeys(texts) {
			if v := texts[k]; !e.made[place+"."+k] {
				do(label+"."+show(k), place, &v)
				texts[k] = v
			}
		}
	}
	do("command", "command", &s.Command)
	for i := range s.Args {
		do(fmt.Sprintf("args[%d]", i), "args", &s.Args[i])
	}
	doAll("env", r.client.env, s.Env)
	do("cwd", "cwd", &s.Cwd)
	do("url", "url", &s.URL)
	doAll("headers", "headers", s.Headers)
	do("oauth.client_id", "headers", &s.OAuth.ClientID)
	do("oauth.client_secret", "headers", &s.OAuth.ClientSecret)
	for _, n := range t.notes {
		e.note("%s", n)
	}
	if e.err == nil && r.client.name == Goose && s.URL != "" {
		gooseHeaders(s)
	}
	if e.err == nil && s.Command != "" {
		r.split(e, s)
	}
}

func (r *reader) split(e *entry, s *Server) {
	words, err := []string{strings.TrimSpace(s.Command)}, error(nil)
	if !e.made["command"] {
		words, err = splitCommand(s.Command, len(s.Args) > 0, r.codec.Exists)
	}
	if err != nil {
		e.fail("%w", err)
		return
	}
	if words[0] == "" {
		e.fail("its command is empty")
		return
	}
	if len(words) > 1 {
		if r.client.name == AgentPlugins {
			e.fail("its command is more than one word")
			return
		}
		e.note("its command was a line of %d words and was split; no shell reads it", len(words))
	}
	s.Command = words[0]
	s.Args = append(slices.Clone(words[1:]), s.Args...)
	if len(s.Args) == 0 {
		s.Args = nil
	}
}

// finish checks the address and settles what depends on it.
func (r *reader) finish(e *entry, s *Server) {
	if s.URL == "" {
		return
	}
	if s.Env != nil || s.Cwd != "" || len(s.Args) > 0 {
		e.note("args, environment and directory were left out: the server is remote")
		s.Env, s.Cwd, s.Args = nil, "", nil
	}
	scheme, rest, ok := strings.Cut(s.URL, "://")
	switch {
	case strings.HasPrefix(s.URL, "${"): // not known before it is put in
		return
	case !ok:
		e.fail("its address is no URL")
		return
	case scheme == "unix" || scheme == "pipe":
		e.fail("its address is a socket of this machine (%s), which is not supported", scheme)
		return
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		e.fail("its address is neither http nor https")
		return
	case strings.ContainsAny(s.URL, " \t\r\n") || rest == "":
		e.fail("its address is no URL")
		return
	}
	if withoutReferences(s.URL) == s.URL {
		u, err := url.Parse(unescape(s.URL))
		if err != nil || u.Host == "" {
			e.fail("its address is no URL")
			return
		}
		if r.client.name == AgenticX && s.Transport == "" {
			s.Transport = HTTP
			if path.Base(u.Path) == "sse" {
				s.Transport = SSE
			}
		}
		if r.client.name == AgentPlugins {
			pluginURL(e, u)
		}
	}
}
