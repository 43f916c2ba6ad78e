package sandbox

import (
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

// holdGit covers what the settings of the repositories point git at.
func (w *shieldWalk) holdGit(trees []string) error {
	s := w.shield
	if s.Git.Read == nil {
		return nil
	}
	for _, top := range trees {
		pointed, err := s.Git.AllPointedAt(top)
		switch {
		case err != nil && slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return within(d.Path, top) }):
			return Unavailable(fmt.Sprintf("programs cannot be started in %s: what git obeys there is not known (%v). Try again, or grant less", top, err), err)
		case err != nil: // a program may have made it, and must not keep all others out
			w.found = append(w.found, Cover{Path: top, Kind: Fix, Dir: true})
			w.note("%s can only be read by programs that work elsewhere: what git obeys there is not known (%s)", shorten(top), shorten(err.Error()))
		}
		w.holdPointed(pointed)
	}
	// What the person's own settings name counts in all other repositories too.
	pointed, err := s.Git.Personal("")
	if err != nil {
		return Unavailable(fmt.Sprintf("programs cannot be started: what git obeys by your own settings is not known (%v). Try again", err), err)
	}
	w.holdPointed(pointed)
	return nil
}

func (w *shieldWalk) holdPointed(pointed []gitconfig.Pointed) {
	for _, p := range pointed {
		switch {
		case w.shield.granted(p.Path):
		case p.Own:
			w.holdHooks(p.Path)
		default:
			w.hold(p.Path)
		}
	}
}
