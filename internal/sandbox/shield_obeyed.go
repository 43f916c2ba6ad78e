package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
)

// What other programs obey is fixed where it is, wherever that is. Where it is
// missing nothing can be covered: what a program made there is told when it has ended
// (see [Covering.Made]), and a program on a layer cannot make it (see internal/policy).

// fixObeyed judges an entry that other programs obey.
func (s *Shield) fixObeyed(seen *sight, name string, dir, link bool) {
	if s.Obeyed == nil {
		return
	}
	if !s.Obeyed.May(filepath.Base(name)) {
		return
	}
	if _, ok := s.Obeyed.Is(elements(name)); !ok {
		return
	}
	if link {
		seen.obeyed = append(seen.obeyed, name)
		return
	}
	seen.covers = append(seen.covers, Cover{Path: name, Kind: Fix, Dir: dir})
	if dir {
		seen.inside = append(seen.inside, name)
	}
}

// holdObeyed covers what is obeyed at the top of granted directories and
// repositories.
func (w *shieldWalk) holdObeyed() error {
	s := w.shield
	if s.Obeyed == nil {
		return nil
	}
	w.holdLinks()
	for _, led := range w.outer {
		w.hold(led.Link)
	}
	if s.Own != nil {
		for _, file := range s.Own() {
			if !s.granted(file) {
				w.hold(file)
			}
		}
	}
	trees := w.tops()
	tops := slices.Clone(trees)
	for _, d := range w.dirs {
		if !w.rooms[d.Path] {
			tops = append(tops, d.Path)
		}
	}
	if w.inside(s.Start) {
		tops = append(tops, s.Start)
	}
	tops = slices.DeleteFunc(tops, func(top string) bool { return !writable(top, w.dirs) || s.Scratches(top) })
	slices.Sort(tops)
	for _, top := range slices.Compact(tops) {
		for _, p := range s.Obeyed.Held() {
			w.hold(filepath.Join(top, filepath.FromSlash(p.Pattern)))
		}
	}
	return w.holdGit(trees)
}

// granted: a person gave it to tools by its name.
func (s *Shield) granted(path string) bool { return s.Obeyed.Granted(elements(path)) }

// tops are those of the repositories in and around granted directories.
func (w *shieldWalk) tops() []string {
	list := make([]string, 0, len(w.trees))
	for _, tree := range w.trees {
		list = append(list, tree.top)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hold covers a place that is obeyed. What its links lead to is obeyed as well, and
// they must not be led elsewhere.
func (w *shieldWalk) hold(path string) {
	at, rest, links, err := linked.Trace(path)
	if err != nil {
		return // nobody can make it
	}
	for _, link := range links {
		if w.reaches(link) {
			w.found = append(w.found, Cover{Path: link, Kind: Pin, Link: true})
		}
	}
	full := filepath.Join(at, filepath.Join(rest...))
	if around(full, path) || w.shield.granted(full) {
		return
	}
	if len(rest) > 0 {
		return // it is missing
	}
	info, err := os.Lstat(at)
	if err == nil && info.IsDir() {
		w.holdInner(at) // also where it lies elsewhere itself
	}
	switch {
	case !w.reaches(full):
	case err != nil:
		w.moved = at // it was there a moment ago
	default:
		w.found = append(w.found, Cover{Path: at, Kind: Fix, Dir: info.IsDir()})
	}
}

// reaches: a program could make or change it there.
func (w *shieldWalk) reaches(path string) bool {
	return w.inside(path) && writable(path, w.dirs)
}

func (w *shieldWalk) isTop(path string) bool {
	return slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return d.Path == path })
}
