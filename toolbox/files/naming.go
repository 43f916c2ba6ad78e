package files

import (
	"cmp"
	"path"
	"strings"

	"github.com/toolcrib/toolcrib/files"
)

// A name may be a value that callers are not shown. Patterns, ignore rules and
// the order of an answer go by names as they are shown: by the real ones a
// caller could find out such a name letter by letter.

// naming is the names of a folder as callers are shown them. The nil naming
// shows all of them as they are.
type naming struct {
	dir   string            // the folder from the start of the walk; "" for that itself
	shown map[string]string // those that differ
}

// naming finds what is hidden in the names of a folder, given those of the
// folder above.
func (b *Box) naming(d *files.Folder, up *naming) (*naming, error) {
	if b.cfg.Hide == nil {
		return nil, nil
	}
	n := &naming{}
	if d.Parent != nil {
		n.dir = up.rel(d.Parent, path.Base(d.Path))
	}
	var all strings.Builder
	for _, e := range d.Entries {
		all.WriteString(e.Name)
		all.WriteByte('\n')
	}
	hidden, err := b.cfg.Hide(all.String())
	if err != nil || len(hidden) == 0 {
		return n, err
	}
	at, next := 0, 0
	for i := range d.Entries {
		e := &d.Entries[i]
		from := at
		at += len(e.Name) + 1
		for next < len(hidden) && hidden[next].To <= from {
			next++
		}
		if next == len(hidden) || hidden[next].From >= at {
			continue
		}
		own, err := b.cfg.Hide(e.Name) // a name is not hidden because of the one before it
		if err != nil {
			return n, err
		}
		if len(own) > 0 {
			if n.shown == nil {
				n.shown = map[string]string{}
			}
			n.shown[e.Name] = string(b.marked([]byte(e.Name), own))
			e.As = n.shown[e.Name]
		}
	}
	return n, nil
}

// name is a name as it is shown.
func (n *naming) name(name string) string {
	if n != nil {
		if as, ok := n.shown[name]; ok {
			return as
		}
	}
	return name
}

// compare orders names as they are shown.
func (n *naming) compare(a, b string) int {
	return cmp.Or(strings.Compare(n.name(a), n.name(b)), strings.Compare(a, b))
}

// rel is the path of an entry from the start of the walk, as it is shown.
func (n *naming) rel(d *files.Folder, name string) string {
	switch {
	case n == nil:
		return relative(d, name)
	case n.dir == "":
		return n.name(name)
	}
	return n.dir + "/" + n.name(name)
}
