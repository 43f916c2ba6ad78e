package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// sight is what was seen in a directory. It holds as long as the directory has
// not changed, by a time that programs cannot set.
type sight struct {
	state   dirState
	covers  []Cover
	links   []string // to be hidden by name, but links: what they lead to is meant
	keyed   []string // to be hidden if they hold a key; links or files
	below   []string
	settled bool // long enough unchanged that a change would show in its time
}

// shieldWalk is one look at all granted directories.
type shieldWalk struct {
	shield  *Shield
	dirs    []toolcrib.Dir
	visited map[string]bool
	found   []Cover
}

// descend looks at a directory and all below it. Links are not followed.
func (w *shieldWalk) descend(root string) error {
	if w.visited == nil {
		w.visited = map[string]bool{}
	}
	for queue := []string{root}; len(queue) > 0; {
		dir := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if w.visited[dir] {
			continue
		}
		if len(w.visited) >= maxShieldDirs {
			return Unavailable(fmt.Sprintf("there are more than %d directories below %s, too many to look for protected files in: grant less", maxShieldDirs, root), nil)
		}
		seen, err := w.shield.look(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it went away
		case err != nil:
			// We cannot look into it, but its owner could open it up.
			w.found = append(w.found, Cover{Path: dir, Dir: true})
			continue
		}
		w.visited[dir] = true
		covers := seen.covers
		for _, name := range seen.keyed {
			covers = append(slices.Clip(covers), w.keyCovers(name)...)
		}
		w.found = append(w.found, covers...)
		for _, c := range covers { // a name may have been added anywhere
			if c.Kind != Hide || c.Dir {
				continue
			}
			if further, err := hasFurtherNames(c.Path); further || err != nil && !errors.Is(err, fs.ErrNotExist) {
				return furtherName(c.Path)
			}
		}
		for _, link := range seen.links {
			w.hideTarget(link)
		}
		queue = append(queue, seen.below...)
	}
	return nil
}

// hideTarget hides what a link leads to, if a program could reach it.
func (w *shieldWalk) hideTarget(link string) {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return
	}
	info, err := os.Stat(target)
	if err != nil {
		return
	}
	for _, d := range w.dirs {
		if target != d.Path && within(target, d.Path) {
			w.found = append(w.found, Cover{Path: target, Dir: info.IsDir()})
			return
		}
	}
}

// look gives what is in a directory, from memory if it has not changed.
func (s *Shield) look(dir string) (*sight, error) {
	state, err := stateOf(dir)
	if err != nil {
		return nil, err
	}
	if old := s.seen[dir]; old != nil && old.settled && old.state == state {
		return old, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	seen := s.judge(dir, entries)
	seen.state, seen.settled = state, state.settled()
	s.seen[dir] = seen
	return seen, nil
}

// forget drops what lies in no directory of the last look, when there is much
// of it: grants come and go.
func (s *Shield) forget(visited map[string]bool) {
	if len(s.seen) <= maxShieldDirs {
		return
	}
	for dir := range s.seen {
		if !visited[dir] {
			delete(s.seen, dir)
		}
	}
}

// judge decides on each entry of a directory.
func (s *Shield) judge(dir string, entries []fs.DirEntry) *sight {
	seen := &sight{}
	git := isGitDir(dir, entries)
	switch {
	case git && s.WriteGit:
		seen.covers = append(seen.covers, Cover{Path: dir, Kind: Pin, Dir: true})
	case git: // a program could put a commondir or hooks there where none were
		seen.covers = append(seen.covers, Cover{Path: dir, Kind: Fix, Dir: true})
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		link := e.Type()&fs.ModeSymlink != 0
		answer := sensitive.Open
		if s.hidden.May(e.Name()) {
			answer = s.hidden.Judge(elements(name))
		}
		if answer == sensitive.Keyed && !e.IsDir() {
			seen.keyed = append(seen.keyed, name)
		}
		switch {
		case answer == sensitive.Closed:
			if link {
				seen.links = append(seen.links, name)
				continue
			}
			seen.covers = append(seen.covers, s.hide(name, e.IsDir())...)
			continue
		case link:
			continue
		case e.Type()&fs.ModeSocket != 0: // who answers there is outside
			seen.covers = append(seen.covers, Cover{Path: name})
			continue
		case s.fixed.Match(elements(name)), git && runsPrograms(e.Name()), !e.IsDir() && isGitName(e.Name()):
			seen.covers = append(seen.covers, Cover{Path: name, Kind: Fix, Dir: e.IsDir()})
		}
		if e.IsDir() && (!git || strings.EqualFold(e.Name(), "modules") || strings.EqualFold(e.Name(), "worktrees")) {
			seen.below = append(seen.below, name)
		}
	}
	return seen
}

// hide covers a place, and pins the directories that make its path one to be
// hidden: who could rename those would uncover it next time.
func (s *Shield) hide(name string, dir bool) []Cover {
	covers := []Cover{{Path: name, Dir: dir}}
	up := name
	for range s.hidden.Depth(elements(name)) - 1 {
		up = filepath.Dir(up)
		covers = append(covers, Cover{Path: up, Kind: Pin, Dir: true})
	}
	return covers
}

// keyCovers covers a file whose name says that it may hold a key, if it does.
func (w *shieldWalk) keyCovers(name string) []Cover {
	target, err := filepath.EvalSymlinks(name)
	if err != nil || !w.shield.holdsKey(name, target) {
		return nil // or it leads nowhere
	}
	if target != name {
		w.hideTarget(name)
		return nil
	}
	return w.shield.hide(name, false)
}

// keyState is a file and the name it was judged by.
type keyState struct {
	file fileState
	name string
}

// maxKeyStates bounds what is remembered about files that may hold keys.
const maxKeyStates = 1 << 14

// holdsKey judges a file by its text, unless this very file was judged before.
// What cannot be read is judged by its name: its owner could open it up.
func (s *Shield) holdsKey(name, target string) bool {
	state := keyState{name: filepath.Base(name)}
	var regular bool
	var err error
	state.file, regular, err = stateOfFile(target)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !regular:
		return false
	case err != nil:
		return sensitive.HoldsKey(state.name, nil, false)
	}
	if holds, known := s.keys[state]; known {
		return holds
	}
	text, whole, err := readHead(target)
	holds := sensitive.HoldsKey(state.name, text, err == nil && whole)
	if state.file.settled() {
		if len(s.keys) >= maxKeyStates {
			clear(s.keys)
		}
		s.keys[state] = holds
	}
	return holds
}

func readHead(file string) (text []byte, whole bool, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, false, err
	}
	text, err = io.ReadAll(io.LimitReader(f, sensitive.MaxKey+1))
	return text, len(text) <= sensitive.MaxKey, errors.Join(err, f.Close())
}

func isGitName(name string) bool { return strings.EqualFold(name, ".git") }

// isGitDir tells whether git would take a directory for a repository, whatever
// its name: bare ones, submodules, and what belongs to a worktree.
func isGitDir(dir string, entries []fs.DirEntry) bool {
	if isGitName(filepath.Base(dir)) {
		return true
	}
	has := map[string]bool{}
	for _, e := range entries {
		switch name := strings.ToLower(e.Name()); name {
		case "head", "commondir", "objects", "refs":
			has[name] = true
		}
	}
	return has["head"] && (has["commondir"] || has["objects"] && has["refs"])
}

// runsPrograms names the entries of a Git directory that can make git run a
// program, or read its config from elsewhere.
func runsPrograms(name string) bool {
	switch strings.ToLower(name) {
	case "hooks", "config", "config.worktree", "commondir":
		return true
	}
	return false
}
