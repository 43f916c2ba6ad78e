package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

// holdGit holds what the settings of the repositories point git at. Of trees
// that are closed what lies in them can only be read already.
func (w *shieldWalk) holdGit(trees []string, closed map[string]bool) error {
	s := w.shield
	if s.Git.Read == nil {
		return nil
	}
	for _, top := range trees {
		if isShut(filepath.Join(top, ".git")) {
			continue // git does not go by it, and what lies there may be anything
		}
		git := filepath.Join(top, ".git")
		if !w.trusts(git) {
			continue
		}
		pointed, err := w.settings().AllPointedAt(top)
		switch {
		case err != nil && w.rank(top) < inner:
			return Unavailable(fmt.Sprintf("programs cannot be started in %s: what git obeys there is not known (%v). Try again, or grant less", top, err), err)
		case err != nil: // a program that still runs may have made it, and must not keep all others out
			closed[top] = true
			w.found = append(w.found, Cover{Path: top, Kind: Fix, Dir: true})
			w.note("%s can only be read by programs that work elsewhere: what git obeys there is not known (%s)", shorten(top), shorten(err.Error()))
		}
		if closed[top] {
			pointed = slices.DeleteFunc(pointed, func(p gitconfig.Pointed) bool { return within(p.Path, top) })
		}
		w.holdPointed(git, pointed)
	}
	// What the person's own settings name counts in all other repositories too.
	pointed, err := w.settings().Personal("")
	if err != nil {
		return Unavailable(fmt.Sprintf("programs cannot be started: what git obeys by your own settings is not known (%v). Try again", err), err)
	}
	w.holdPointed(elsewhere, pointed)
	return nil
}

// elsewhere stands for settings that no program can write.
const elsewhere = string(filepath.Separator)

func (w *shieldWalk) holdPointed(by string, pointed []gitconfig.Pointed) {
	for _, p := range pointed {
		switch {
		case w.shield.granted(p.Path):
		case p.Own:
			w.holdHooks(p.Path)
		case p.Guess: // programs decide whether there is such a file
			w.hold(p.Path, p.Include)
		default:
			w.lead(by, func() { w.hold(p.Path, p.Include) })
		}
	}
}

// nearer sorts tops: those around the working directory first, then the granted
// ones, then those that lie less deep.
func (w *shieldWalk) nearer(a, b string) int {
	if d := w.rank(a) - w.rank(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

const inner = 2 // the least rank of a top that is not around the program's work

func (w *shieldWalk) rank(top string) int {
	switch {
	case within(w.workDir, top):
		return 0
	case slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return within(d.Path, top) }):
		return 1
	}
	return inner + strings.Count(top, string(filepath.Separator))
}
