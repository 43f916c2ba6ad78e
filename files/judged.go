package files

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Place is where a path of a call leads.
type Place struct {
	// Entry is what the path itself names: links in the directories before it
	// are followed, a link at its end is not.
	Entry string
	// Real is what it leads to after all links.
	Real string
}

// Judged is where the paths of one call lead. A nil one knows of none.
type Judged struct {
	mu    sync.Mutex
	known map[string]way
}

type way struct {
	Place
	err error
}

// Where gives the place that a path leads to; the first who asks has it found.
func (w *Judged) Where(path string, find func() (Place, error)) (Place, error) {
	if w == nil {
		return find()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at, ok := w.known[path]
	if !ok {
		at.Place, at.err = find()
		if w.known == nil {
			w.known = map[string]way{}
		}
		w.known[path] = at
	}
	return at.Place, at.err
}

// List gives the places, in a fixed order.
func (w *Judged) List() []string {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, at := range w.known {
		if at.err == nil {
			out = append(out, at.Entry, at.Real)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// holds reports whether a path still leads where it did when it was judged, or
// was never judged by that.
func (w *Judged) holds(path string, link bool, elems []string) bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	at, ok := w.known[path]
	w.mu.Unlock()
	if !ok {
		return true
	}
	if at.err != nil {
		return false
	}
	want := at.Real
	if link {
		want = at.Entry
	}
	way := pathglob.Elements(want[len(filepath.VolumeName(want)):])
	if pathglob.Here().Fold { // there the case may be given back otherwise
		way, elems = folded(way), folded(elems)
	}
	return slices.Equal(way, elems)
}
