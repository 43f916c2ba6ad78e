package clientfiles

import "fmt"

// continueFile brings the servers of a file of Continue into the usual form: a
// list whose entries have names becomes a table.
func (r *reader) continueFile() {
	i := r.root.index("mcpServers")
	if i < 0 {
		_, command := r.root.get("command")
		_, address := r.root.get("url")
		if command || address {
			r.problems = append(r.problems, Problem{Text: "the file is one server without a name, which Continue calls as the file: write it as {\"mcpServers\": {\"NAME\": …}}"})
		}
		return
	}
	list := r.root.fields[i].value
	if list.kind != kindList {
		return
	}
	table := value{kind: kindTable, line: list.line, start: list.start, end: list.end}
	for n, entry := range list.list {
		name, _ := entry.get("name")
		_, uses := entry.get("uses")
		switch {
		case n >= maxServers:
			r.problems = append(r.problems, Problem{Text: fmt.Sprintf("the file has more than %d servers; those behind are not read", maxServers)})
			r.root.fields[i].value = table
			return
		case entry.kind == kindNull:
		case uses:
			r.problems = append(r.problems, Problem{Text: fmt.Sprintf("mcpServers[%d] uses a block of Continue's hub, which is fetched from there and not read here", n), Skipped: true})
		case entry.kind != kindTable || name.kind != kindText || name.text == "":
			r.problems = append(r.problems, Problem{Text: fmt.Sprintf("mcpServers[%d] has no name", n)})
		case table.index(name.text) >= 0:
			r.problems = append(r.problems, Problem{Server: show(name.text), Text: "the server is given twice; the first one is taken"})
		default:
			table.put(name.text, entry)
		}
	}
	r.root.fields[i].value = table
}

// continued reads what Continue has under names of its own: headers among other
// options of a request, and a key that becomes one.
func (r *reader) continued(e *entry, s *Server) {
	if r.client.format == formatJSON {
		return
	}
	e.used["name"] = true
	if key := e.text("apiKey"); key != "" {
		put(&s.Headers, "Authorization", "Bearer "+key)
	}
	v, ok := e.take("requestOptions")
	if !ok {
		return
	}
	if v.kind != kindTable {
		e.fail("requestOptions is %s, not a table", v.kind)
		return
	}
	options := &entry{value: v, used: map[string]bool{}, made: map[string]bool{}}
	for name, text := range options.table("headers") {
		put(&s.Headers, name, text)
	}
	options.rest()
	e.notes = append(e.notes, options.notes...)
	for _, d := range options.dropped {
		e.dropped = append(e.dropped, "requestOptions."+d)
	}
	if options.err != nil {
		e.fail("requestOptions: %w", options.err)
	}
}
