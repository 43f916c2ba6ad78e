package sandbox

import (
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/linked"
)

// What others obey is often a link: .git/hooks/pre-commit to a script of the
// project, .claude/settings.json to settings that are shared. The directory
// with the link can only be read; what the link leads to lies elsewhere, and is
// obeyed all the same.

// innerSight is what was seen in a directory that is obeyed or hidden as a
// whole. It holds as long as the directory has not changed.
type innerSight struct {
	linked.Listing
	state   dirState
	settled bool
	inodes  []uint64 // of the files, as the directory has them
	counted bool
	many    []string // files that had further names when they were counted
}

// maxInner bounds how many of these are remembered.
const maxInner = 1 << 14

// inner lists a directory, from memory if it has not changed.
func (w *shieldWalk) inner(dir string) (*innerSight, error) {
	state, err := stateOf(dir)
	if err != nil {
		return nil, err
	}
	memory := w.shield.inner
	if old := memory[dir]; old != nil && old.settled && old.state == state {
		return old, nil
	}
	w.read = true
	entries, err := readDir(dir, state)
	if err != nil {
		return nil, err
	}
	seen := &innerSight{Listing: linked.Listing{Dir: dir}, state: state, settled: state.settled()}
	for _, e := range entries {
		if seen.Add(e.name, e.kind); e.kind.IsRegular() {
			seen.inodes = append(seen.inodes, e.inode)
		}
	}
	if len(memory) >= maxInner {
		clear(memory)
	}
	memory[dir] = seen
	return seen, nil
}

func (w *shieldWalk) listInner(dir string) (linked.Listing, error) {
	seen, err := w.inner(dir)
	if err != nil {
		return linked.Listing{}, err
	}
	return seen.Listing, nil
}

// holdInner holds what the links in an obeyed directory lead to.
func (w *shieldWalk) holdInner(dir string) {
	if w.inners[dir] {
		return
	}
	if w.inners == nil {
		w.inners = map[string]bool{}
	}
	for _, l := range linked.Below(dir, w.listInner) {
		if w.inners[l.Dir] {
			continue
		}
		w.inners[l.Dir] = true
		for _, link := range l.Links {
			if _, ok := linked.Obeyed(link); ok {
				w.hold(link)
			}
		}
	}
}

// holdHooks holds what the hooks of a Git directory lead to, if it has any. The
// directory is covered by itself.
func (w *shieldWalk) holdHooks(hooks string) {
	switch facts, err := factsOf(hooks); {
	case err != nil:
	case facts.dir:
		w.holdInner(hooks)
	case facts.link:
		w.hold(hooks)
	}
}

// around: a link leads to a directory that it lies in itself, which is the
// project and not what is obeyed.
func around(target, link string) bool { return within(filepath.Dir(link), target) }
