package clientfiles

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Entry is a server to be put into a client's file: a program, or an address.
// Its texts are in our form; a secret cannot be among them.
type Entry struct {
	Command string
	Args    []string
	Env     map[string]string
	URL     string // streamable HTTP
	Headers map[string]string
}

// Add puts a server into the text of a client's file, or brings the one of that
// name up to date, and leaves every other byte as it is. An empty text becomes a
// new file. If the server is there already as asked, the text comes back
// unchanged, also where the person has added keys of their own to it. A text
// that cannot be read is not touched.
func (c Codec) Add(client string, text []byte, name string, entry Entry) ([]byte, error) {
	cl, ok := clientOf(client)
	if !ok {
		return nil, unknownClient(client)
	}
	cl = cl.forText(text)
	x := &encoder{client: cl}
	v, ok := x.server(Server{
		Name: name, Command: entry.Command, Args: entry.Args, Env: entry.Env,
		URL: entry.URL, Headers: entry.Headers, Transport: HTTP,
	})
	if !ok || len(x.lost) > 0 || len(x.inputs) > 0 {
		if len(x.inputs) > 0 {
			x.lost = append(x.lost, "a secret cannot be written into the file")
		}
		return nil, fmt.Errorf("adding to %s: %s", cl.title, strings.Join(x.lost, "; "))
	}
	out, err := c.edit(cl, text, name, &v)
	if err != nil {
		return nil, fmt.Errorf("adding %s to %s: %w", show(name), cl.title, err)
	}
	return out, nil
}

// Remove takes a server out of the text of a client's file. If it is not there,
// the text comes back unchanged.
func (c Codec) Remove(client string, text []byte, name string) ([]byte, error) {
	cl, ok := clientOf(client)
	if !ok {
		return nil, unknownClient(client)
	}
	out, err := c.edit(cl.forText(text), text, name, nil)
	if err != nil {
		return nil, fmt.Errorf("removing %s from %s: %w", show(name), cl.title, err)
	}
	return out, nil
}

// edit sets or, with nil, removes a server, and reads the result again: what
// does not come out as meant is not handed out.
func (c Codec) edit(cl client, text []byte, name string, v *value) ([]byte, error) {
	return c.editAt(cl, text, Held{Name: name}, v)
}

// editAt does so for a server that may be kept for a project.
func (c Codec) editAt(cl client, text []byte, held Held, v *value) ([]byte, error) {
	name := held.Name
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	empty := len(bytes.TrimSpace(body)) == 0
	if empty {
		if v == nil {
			return text, nil
		}
		switch cl.format {
		case formatJSON:
			body = []byte(style{unit: "  ", eol: "\n"}.json(newRoot(cl), "") + "\n")
		case formatTOML, formatYAML:
			body = nil
		}
		text = body
	}
	root := value{kind: kindTable}
	if len(bytes.TrimSpace(body)) > 0 {
		var err error
		if root, _, err = c.parse(cl, text); err != nil {
			return nil, fmt.Errorf("the file cannot be read, so it is left alone (%w): correct it, or add the server by hand", err)
		}
	}
	if root.kind == kindNull && cl.format == formatYAML { // nothing but comments
		root.kind = kindTable
	}
	if root.kind != kindTable {
		return nil, fmt.Errorf("the file holds %s, not a table of settings, so it is left alone", root.kind)
	}
	if cl.name == Continue && cl.format == formatYAML {
		return c.editContinue(text, root, name, v)
	}
	path := heldPath(cl, root, held)
	if cl.format == formatYAML {
		if i := root.index(path[0]); i >= 0 && root.fields[i].value.kind == kindNull {
			root.fields[i].value.kind = kindTable // a key with nothing below it yet
		}
	}
	object, missing, err := objectAt(root, path)
	if err != nil {
		return nil, err
	}
	if missing == 0 && count(object, name) > 1 {
		return nil, errTwice
	}
	old, have := object.get(name)
	if missing > 0 {
		have = false
	}
	if v == nil && !have || v != nil && have && asWanted(cl, old, *v) {
		return text, nil
	}
	out, err := c.change(cl, text, root, path, name, v)
	if err != nil {
		return nil, err
	}
	return out, c.check(cl, out, root, path, name, v)
}

// editPath gives where servers go in this file, which may have the older shape
// or the newer.
func editPath(cl client, root value) []string {
	switch {
	case cl.name == OpenCode:
		if mcp, ok := root.get("mcp"); ok {
			if _, newer := openCodeServers(mcp); newer {
				return cl.paths[1]
			}
		}
		return cl.paths[0]
	case cl.bare && isServerMap(cl, root):
		return nil
	}
	for _, path := range cl.paths {
		if v, ok := root.at(path); ok && v.kind == kindTable {
			return path
		}
	}
	return cl.paths[0]
}

// asWanted reports whether an entry has all that is wanted, and nothing that
// says how to connect besides.
func asWanted(cl client, have, want value) bool {
	if have.kind != kindTable {
		return false
	}
	for _, f := range want.fields {
		v, ok := have.get(f.name)
		if ok && f.name == cl.enabledTools {
			continue // which tools there are is the person's to say
		}
		if !ok || count(have, f.name) > 1 || !v.equal(f.value, false) {
			return false
		}
	}
	connects := []string{
		cl.command, cl.args, cl.env, cl.cwd, cl.headers, cl.kind, cl.enabled, cl.disabled, "disabled",
		"env_vars", "env_keys", "bearer_token_env_var", "bearer_token", "env_http_headers",
	}
	for _, k := range cl.url {
		connects = append(connects, k.key)
	}
	return !slices.ContainsFunc(have.fields, func(f field) bool {
		_, wanted := want.get(f.name)
		empty := (f.value.kind == kindTable || f.value.kind == kindList) && len(f.value.fields)+len(f.value.list) == 0
		off := f.name == cl.disabled && f.value.text == "false" || f.name == cl.enabled && f.value.text == "true"
		return !wanted && !empty && !off && f.value.kind != kindNull && slices.Contains(connects, f.name)
	})
}

func (c Codec) change(cl client, text []byte, root value, path []string, name string, v *value) ([]byte, error) {
	switch cl.format {
	case formatTOML:
		return editTOML(text, append(slices.Clone(path), name), v)
	case formatYAML:
		return editYAML(text, path[0], name, v)
	case formatJSON:
	}
	object, missing, err := objectAt(root, path)
	if err != nil {
		return nil, err
	}
	e := jsonEdit{src: text, eol: eolOf(text)}
	if v == nil {
		return e.remove(object, object.index(name)), nil
	}
	if i := object.index(name); missing == 0 && i >= 0 {
		return e.replace(root, object, i, *v), nil
	}
	add, key := *v, name
	for i := range missing {
		outer := value{kind: kindTable}
		outer.put(key, add)
		add, key = outer, path[len(path)-1-i]
	}
	return e.insert(root, object, key, add), nil
}

// check reads the result again and holds it against what it should say.
func (c Codec) check(cl client, out []byte, root value, path []string, name string, v *value) error {
	got := value{kind: kindTable}
	if len(bytes.TrimSpace(out)) > 0 {
		var err error
		if got, _, err = c.parse(cl, out); err != nil {
			return fmt.Errorf("the file is written in a way that cannot be changed here (%w): do it by hand", err)
		}
	}
	if got.kind == kindNull {
		got.kind = kindTable
	}
	want := with(root, path, name, v)
	if v == nil {
		// In TOML and YAML the table of servers goes with the last of them.
		got, want = pruned(got, path), pruned(want, path)
	}
	if !got.equal(want, cl.format == formatJSON) {
		return errors.New("the file is written in a way that cannot be changed here without touching the rest: do it by hand")
	}
	return nil
}

// pruned gives the tree without the table at path if there is nothing in it.
func pruned(root value, path []string) value {
	if len(path) != 1 {
		return root
	}
	if i := root.index(path[0]); i >= 0 && len(root.fields[i].value.fields) == 0 {
		if k := root.fields[i].value.kind; k == kindTable || k == kindNull {
			root.fields = slices.Delete(slices.Clone(root.fields), i, i+1)
		}
	}
	return root
}

// with gives the tree with one server set or removed.
func with(root value, path []string, name string, v *value) value {
	root.fields = slices.Clone(root.fields)
	if len(path) > 0 {
		i := root.index(path[0])
		if i < 0 {
			root.put(path[0], value{kind: kindTable})
			i = len(root.fields) - 1
		}
		root.fields[i].value = with(root.fields[i].value, path[1:], name, v)
		return root
	}
	i := root.index(name)
	switch {
	case v == nil:
		root.fields = slices.Delete(root.fields, i, i+1)
	case i >= 0:
		root.fields[i].value = *v
	default:
		root.put(name, *v)
	}
	return root
}
