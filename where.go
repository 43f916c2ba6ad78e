package toolcrib

import (
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Place is where a path of a call leads.
type Place struct {
	// Entry is what the path itself names: links in the directories before it
	// are followed, a link at its end is not.
	Entry string
	// Real is what it leads to after all links.
	Real string
}

// Where gives the place that a path of the input leads to. The first guard that
// wants to know has it found; everyone who judges this call later gets the same
// answer, and the call's [Files] open nothing else under this name. So a link
// that is changed meanwhile leads nobody past what was judged. A place that
// could not be found is not opened at all.
func (r Review) Where(path string, find func() (Place, error)) (Place, error) {
	return r.ways.where(path, find)
}

// ways is where the paths of one call lead.
type ways struct {
	mu    sync.Mutex
	known map[string]way
}

type way struct {
	Place
	err error
}

func (w *ways) where(path string, find func() (Place, error)) (Place, error) {
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

// list gives the places, in a fixed order.
func (w *ways) list() []string {
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
func (w *ways) holds(path string, link bool, elems []string) bool {
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
	way := elements(want[len(filepath.VolumeName(want)):])
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" { // there the case may be given back otherwise
		way, elems = folded(way), folded(elems)
	}
	return slices.Equal(way, elems)
}
