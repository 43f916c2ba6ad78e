package notefile

import (
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/toolbox/notes"
)

// copied gives notes that can be changed.
func copied(n notes.Notes) notes.Notes {
	return notes.Notes{Todos: slices.Clone(n.Todos), Pad: maps.Clone(n.Pad)}
}

// difference is what a change did.
func difference(before, after notes.Notes) Change {
	c := Change{
		Todos: !slices.Equal(before.Todos, after.Todos),
		List:  (len(before.Todos) == 0) != (len(after.Todos) == 0),
	}
	for _, key := range after.Keys() {
		was, there := before.Pad[key]
		if !there {
			c.List = true
		}
		if !there || was != after.Pad[key] {
			c.Keys = append(c.Keys, key)
		}
	}
	for _, key := range before.Keys() {
		if _, there := after.Pad[key]; !there {
			c.List = true
			c.Keys = append(c.Keys, key)
		}
	}
	return c
}
