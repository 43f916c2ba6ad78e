package sandbox

import (
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// countHome asks what is protected or obeyed at home for further names. A program
// may have linked a file of the project before its person moved it there: by that
// link later programs would read and write ~/.bashrc.
func (w *shieldWalk) countHome(search *nameSearch) {
	s := w.shield
	for _, place := range s.hidden.Places {
		w.countPlace(search, place, Hide)
	}
	if s.Home == "" || s.Obeyed == nil {
		return
	}
	names := sensitive.ObeyedAtHome()
	for _, p := range sensitive.Obeyed() {
		if !strings.Contains(p.Pattern, "*") {
			names = append(names, p.Pattern)
		}
	}
	for _, name := range names {
		w.countPlace(search, filepath.Join(s.Home, filepath.FromSlash(name)), Fix)
	}
}

// countPlace asks a file, or those that lie in a directory.
func (w *shieldWalk) countPlace(search *nameSearch, place string, kind CoverKind) {
	if w.inside(place) {
		return // it is covered itself
	}
	facts, err := factsOf(place)
	switch {
	case err != nil:
	case facts.dir:
		if seen, err := w.inner(place); err == nil {
			w.count(search, seen, kind)
		}
	default:
		search.add(place, kind, facts, false)
	}
}
