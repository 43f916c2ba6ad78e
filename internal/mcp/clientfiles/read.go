package clientfiles

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Read gives the servers in the file of a client, in the order in which they
// stand, and what could not be read. A bad server does not take the others
// along. An empty file has no servers and no problem.
func (c Codec) Read(client string, text []byte) ([]Server, []Problem) {
	cl, ok := clientOf(client)
	if !ok {
		return nil, []Problem{{Text: fmt.Sprintf("the client %s is not known; known are %s", show(client), strings.Join(Clients(), ", "))}}
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))) == 0 {
		return nil, nil
	}
	cl = cl.forText(text)
	root, twice, err := c.parse(cl, text)
	if err != nil {
		return nil, []Problem{{Text: fmt.Sprintf("the file is not read: %v", err)}}
	}
	if root.kind != kindTable {
		return nil, []Problem{{Text: fmt.Sprintf("the file holds %s, not a table of settings", root.kind)}}
	}
	r := &reader{codec: c, client: cl, src: text, root: root}
	if cl.name == Continue {
		r.continueFile()
	}
	r.file(twice)
	return r.servers, r.problems
}

// parse reads the text of a client's format.
func (c Codec) parse(cl client, text []byte) (value, []field, error) {
	switch cl.format {
	case formatTOML:
		v, _, err := parseTOML(text)
		return v, nil, err
	case formatYAML:
		v, err := c.parseYAML(text)
		return v, nil, err
	case formatJSON:
	}
	return parseJSONC(text)
}

func (c Codec) parseYAML(text []byte) (value, error) {
	if c.YAML == nil {
		return value{}, fmt.Errorf("it is YAML, and no decoder for it was given")
	}
	if err := checkText(text); err != nil {
		return value{}, err
	}
	var in any
	if err := c.YAML(text, &in); err != nil {
		// The decoder's own words may repeat a value; where it stands does not.
		return value{}, fmt.Errorf("it is not valid YAML%s", lineIn(err))
	}
	nodes := 0
	return fromAny(in, 0, &nodes)
}

var lineWords = regexp.MustCompile(`\bline [0-9]+`)

func lineIn(err error) string {
	if at := lineWords.FindString(err.Error()); at != "" {
		return " (" + at + ")"
	}
	return ""
}

// reader gathers what one file holds.
type reader struct {
	codec    Codec
	client   client
	src      []byte
	root     value
	servers  []Server
	problems []Problem
}

func (r *reader) line(f field) int {
	switch {
	case f.line > 0:
		return f.line
	case r.client.format == formatJSON:
		return lineOf(r.src, f.start)
	}
	return 0
}

func (r *reader) problem(f field, format string, args ...any) {
	r.problems = append(r.problems, Problem{Server: show(f.name), Line: r.line(f), Text: fmt.Sprintf(format, args...)})
}

// file reads the whole: where the servers stand, then each of them.
func (r *reader) file(twice []field) {
	for _, f := range twice {
		if slices.ContainsFunc(r.root.fields, func(g field) bool { return g.start == f.start && r.onPath(g.name) }) {
			r.problems = append(r.problems, Problem{Line: r.line(f), Text: fmt.Sprintf("the key %s is given twice; the last one counts", show(f.name))})
		}
	}
	if r.client.name == AgentPlugins && !r.pluginFile() {
		return
	}
	found := false
	for _, m := range serverMaps(r.client, r.root) {
		found = true
		r.table(m, "")
	}
	if r.client.name == ClaudeCode {
		if projects, ok := r.root.get("projects"); ok && projects.kind == kindTable {
			found = true
			for _, p := range projects.fields {
				if m, ok := p.value.get("mcpServers"); ok {
					r.table(m, p.name)
				}
			}
		}
	}
	if !found {
		for _, path := range r.client.paths {
			if v, ok := r.root.at(path); ok && v.kind != kindTable && v.kind != kindNull {
				r.problems = append(r.problems, Problem{Text: fmt.Sprintf("%s is %s, not a table of servers", strings.Join(path, "."), v.kind)})
			}
		}
	}
	r.fileLists()
}

func (r *reader) onPath(name string) bool {
	return slices.ContainsFunc(r.client.paths, func(p []string) bool { return p[0] == name }) || name == "projects"
}

// serverMaps gives the tables of servers in a file: mostly one. A table at the root
// counts only if there is none at its proper place.
func serverMaps(cl client, root value) []value {
	if cl.name == OpenCode {
		return openCodeMaps(root)
	}
	for _, path := range cl.paths {
		if v, ok := root.at(path); ok && v.kind == kindTable {
			return []value{v}
		}
	}
	if cl.bare && isServerMap(cl, root) {
		return []value{root}
	}
	return nil
}

// isServerMap reports whether a root is itself a map of servers. One that has
// the proper key, even with nonsense under it, is not.
func isServerMap(cl client, root value) bool {
	if _, ok := root.get(cl.paths[0][0]); ok {
		return false
	}
	return slices.ContainsFunc(root.fields, func(f field) bool {
		_, command := f.value.get("command")
		_, url := f.value.get("url")
		return f.value.kind == kindTable && (command || url)
	})
}

// openCodeMaps knows both shapes: mcp.NAME, and mcp.servers.NAME with settings
// beside it. A server may be called servers, but then it has a type.
func openCodeMaps(root value) []value {
	mcp, ok := root.get("mcp")
	if !ok || mcp.kind != kindTable {
		return nil
	}
	inner, ok := openCodeServers(mcp)
	if !ok {
		return []value{mcp}
	}
	list := []value{inner}
	old := value{kind: kindTable}
	for _, f := range mcp.fields {
		if _, typed := f.value.get("type"); typed && f.value.kind == kindTable {
			old.fields = append(old.fields, f)
		}
	}
	if len(old.fields) > 0 {
		list = append(list, old)
	}
	return list
}

func openCodeServers(mcp value) (value, bool) {
	inner, ok := mcp.get("servers")
	if !ok || inner.kind != kindTable {
		return inner, false
	}
	for _, key := range [...]string{"type", "command", "url"} {
		if v, ok := inner.get(key); ok && v.kind != kindTable {
			return inner, false
		}
	}
	return inner, true
}

// table reads a map of servers.
func (r *reader) table(m value, project string) {
	if m.kind != kindTable {
		if m.kind != kindNull {
			r.problems = append(r.problems, Problem{Text: fmt.Sprintf("the servers of a project are %s, not a table", m.kind)})
		}
		return
	}
	for i, f := range m.fields {
		if len(r.servers) >= maxServers {
			r.problem(f, "the file has more than %d servers; this one and those behind it are not read", maxServers)
			return
		}
		if last := m.index(f.name); last != i {
			r.problem(f, "the server is given twice; the last one counts, as in the client")
			continue
		}
		if r.client.bare && r.root.start == m.start && r.root.end == m.end && strings.HasPrefix(f.name, "$") {
			continue // $schema beside the servers
		}
		s, problem := r.server(f)
		if problem != nil {
			problem.Server, problem.Line = show(f.name), r.line(f)
			r.problems = append(r.problems, *problem)
			continue
		}
		s.Project = project
		r.servers = append(r.servers, s)
	}
}
