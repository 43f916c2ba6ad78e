package layer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// leastFiles is how many files a directory has so that losing most of them is asked
// about.
const leastFiles = 10

// Floor says what of a change set is asked about in every mode: most of a granted
// directory is deleted, or the history of a repository. A moved file is no deletion, and
// one that is emptied is.
func (s *Set) Floor() []string {
	f := &floor{set: s, moved: map[string]bool{}, lost: map[string]bool{}, ignored: newIgnored()}
	for _, c := range s.Changes {
		if c.From != "" {
			f.moved[c.From] = true
		}
	}
	for _, c := range s.Changes {
		if f.loses(c) {
			f.lost[c.Path] = true
		}
	}
	if len(f.lost) == 0 {
		return nil
	}
	return append(f.trees(), f.histories()...)
}

type floor struct {
	set     *Set
	moved   map[string]bool
	lost    map[string]bool // files whose content is gone
	ignored *ignored
}

// loses tells whether what a file held is nowhere any more.
func (f *floor) loses(c Change) bool {
	switch {
	case c.Before.Mode.IsDir() || !c.Before.Exists() || c.ModeOnly || f.moved[c.Path]:
		return false
	case c.Kind == Deleted || c.After.Mode.Type() != c.Before.Mode.Type():
		return true
	}
	return c.Before.Mode.IsRegular() && c.Before.Size > 0 && c.After.Size == 0
}

// counts tells whether a file is one of those that a directory consists of: what Git
// ignores can be made anew, unless all says otherwise, and its history is looked at by
// itself.
func (f *floor) counts(path string, all bool) bool {
	return !inGit(path) && (all || f.ignored.top(path, false) == "")
}

// trees are the directories of which most is deleted. Where Git ignores almost everything,
// that counts too: a command before may have had it ignore what the next one deletes.
func (f *floor) trees() (why []string) {
	for i, t := range f.set.trees {
		lost, there := f.most(i, t.Root, false)
		if there < leastFiles {
			lost, there = f.most(i, t.Root, true)
		}
		if there >= leastFiles && 2*lost > there {
			why = append(why, fmt.Sprintf("it deletes most of %s: %d of %d files", t.Root, lost, there))
		}
	}
	return why
}

// most counts the files of a tree that are lost, and all of them as far as that matters.
func (f *floor) most(tree int, root string, all bool) (lost, there int) {
	for _, c := range f.set.Changes {
		if c.tree == tree && f.lost[c.Path] && f.counts(c.Path, all) {
			lost++
		}
	}
	return lost, f.count(root, max(2*lost, leastFiles), all)
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// count counts the live files of a directory, and stops at most. What cannot be looked
// at does not count.
func (f *floor) count(root string, most int, all bool) (n int) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir():
			if d.Name() == ".git" || !all && path != root && f.ignored.top(path, true) != "" {
				return fs.SkipDir
			}
		case f.counts(path, all):
			if n++; n >= most {
				return errEnough
			}
		}
		return nil
	})
	return n
}

// histories are the repositories whose history is removed: their objects, their
// references, or what says that they are repositories.
func (f *floor) histories() (why []string) {
	known := map[string]bool{} // by part of a repository: whether it is removed
	told := map[string]bool{}
	for _, c := range f.set.Changes {
		if !f.lost[c.Path] {
			continue
		}
		for _, part := range historiesAround(c.Path) {
			dir := filepath.Dir(part)
			removed, looked := known[part]
			if !looked {
				removed = isRepository(dir) && f.removes(part)
				known[part] = removed
			}
			if removed && !told[dir] {
				told[dir] = true
				why = append(why, "it removes the history of the repository "+dir)
			}
		}
	}
	return why
}

// historiesAround are the directories above a path that may be parts of a history, and
// the path itself if it may be one.
func historiesAround(path string) (list []string) {
	for part := path; part != filepath.Dir(part); part = filepath.Dir(part) {
		switch name := filepath.Base(part); {
		case name == "HEAD" && part == path, (name == "objects" || name == "refs") && part != path:
			list = append(list, part)
		}
	}
	return list
}

// isRepository tells whether a live directory has the form of Git's.
func isRepository(dir string) bool {
	for name, isDir := range map[string]bool{"HEAD": false, "objects": true, "refs": true} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.IsDir() != isDir {
			return false
		}
	}
	return true
}

// removes tells whether the loss of something in a part of a history is the loss of all
// of it: of HEAD, of the last object, or of the directory.
func (f *floor) removes(part string) bool {
	name := filepath.Base(part)
	if name == "HEAD" {
		return true
	}
	if c, changed := f.set.Find(part); changed && !c.After.Mode.IsDir() {
		return true
	}
	return name == "objects" && !f.leaves(part)
}

// leaves tells whether a file is left in a directory, or a new one is there.
func (f *floor) leaves(dir string) bool {
	for _, c := range f.set.Changes {
		if c.After.Mode.IsRegular() && c.After.Size > 0 && strings.HasPrefix(c.Path, dir+"/") {
			return true
		}
	}
	return errors.Is(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(dir, "info")+"/") {
			return nil //nolint:nilerr // what cannot be looked at is nothing that is left
		}
		if _, changed := f.set.Find(path); !changed {
			return errEnough
		}
		return nil
	}), errEnough)
}
