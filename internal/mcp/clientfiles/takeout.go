package clientfiles

import (
	"bytes"
	"fmt"
)

// Held is one entry in the file of a client, by its name there, whatever it is
// written like.
type Held struct {
	Project string // the directory it is kept for (Claude Code's local scope)
	Name    string
	// Skipped says that it is no server that could be taken over, such as an
	// extension built into the client.
	Skipped bool
}

// Entries names everything that stands in the tables of servers of a file, also what
// Read refuses.
func (c Codec) Entries(client string, text []byte) ([]Held, error) {
	cl, ok := clientOf(client)
	if !ok {
		return nil, unknownClient(client)
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))) == 0 {
		return nil, nil
	}
	cl = cl.forText(text)
	root, _, err := c.parse(cl, text)
	if err != nil {
		return nil, fmt.Errorf("the file is not read: %w", err)
	}
	r := &reader{codec: c, client: cl, src: text, root: root}
	if cl.name == Continue {
		r.continueFile()
		root = r.root
	}
	var list []Held
	table := func(m value, project string) {
		for i, f := range m.fields {
			if m.index(f.name) != i || f.value.kind != kindTable {
				continue
			}
			_, problem := r.server(f)
			list = append(list, Held{Project: project, Name: f.name, Skipped: problem != nil && problem.Skipped})
		}
	}
	for _, m := range serverMaps(cl, root) {
		table(m, "")
	}
	if projects, ok := root.get("projects"); ok && cl.name == ClaudeCode && projects.kind == kindTable {
		for _, p := range projects.fields {
			if m, ok := p.value.get("mcpServers"); ok && m.kind == kindTable {
				table(m, p.name)
			}
		}
	}
	return list, nil
}

// TakeOut takes an entry out of the text of a client's file, as Remove does, also
// one that is kept for a project. If it is not there, the text comes back unchanged.
func (c Codec) TakeOut(client string, text []byte, held Held) ([]byte, error) {
	return c.move(client, text, held, nil)
}

// PutBack puts an entry into the text as it stands in another one, the file as it
// was before. One of that name that is there stays as it is.
func (c Codec) PutBack(client string, text, from []byte, held Held) ([]byte, error) {
	cl, ok := clientOf(client)
	if !ok {
		return nil, unknownClient(client)
	}
	cl = cl.forText(from)
	root, _, err := c.parse(cl, from)
	if err != nil {
		return nil, fmt.Errorf("the file as it was cannot be read: %w", err)
	}
	if cl.name == Continue {
		r := &reader{codec: c, client: cl, src: from, root: root}
		r.continueFile()
		root = r.root
	}
	v, ok := root.at(append(heldPath(cl, root, held), held.Name))
	if !ok {
		return text, nil // it never stood there
	}
	have, err := c.Entries(client, text)
	if err != nil {
		return nil, err
	}
	for _, h := range have {
		if h.Project == held.Project && h.Name == held.Name {
			return text, nil
		}
	}
	return c.move(client, text, held, &v)
}

func heldPath(cl client, root value, held Held) []string {
	if held.Project != "" {
		return []string{"projects", held.Project, "mcpServers"}
	}
	return editPath(cl, root)
}

// move sets or, with nil, removes an entry.
func (c Codec) move(client string, text []byte, held Held, v *value) ([]byte, error) {
	cl, ok := clientOf(client)
	if !ok {
		return nil, unknownClient(client)
	}
	out, err := c.editAt(cl.forText(text), text, held, v)
	if err != nil {
		return nil, fmt.Errorf("changing %s in the file of %s: %w", show(held.Name), cl.title, err)
	}
	return out, nil
}
