package layer

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Changes is what Undo would do, as a change set that can be looked at, and not applied:
// Before is what is there now, and After what was there before the command.
func (a *Applied) Changes() (*Set, error) {
	list, from, err := a.reversed()
	if err != nil {
		return nil, err
	}
	s := &Set{Changes: list, since: a.written, lies: func(c Change) (string, string) { return a.old(c.tree), from[c.Path] }}
	for _, t := range a.rec.Trees {
		s.trees = append(s.trees, Tree{Root: t.Root})
	}
	_ = s.findMoves() // where one of the files cannot be read, it counts as deleted
	return s, nil
}

// ShowUndo tells a person what a set of Changes would do. What is said elsewhere by what it
// means has no line of its own.
func (s *Set) ShowUndo(said func(Change) bool) string {
	list := s.chosen(func(c Change) bool { return !said(c) })
	return list.lines(func(*shownList) string { return "" }) + list.differences()
}

// old is the directory in which what was there before lies under the names of steps.
func (a *Applied) old(tree int) string {
	if t := a.rec.Trees[tree]; !t.Temporary {
		return t.Stage
	}
	return a.rec.keptAt(filepath.Dir(a.path), tree)
}

// reversed turns the steps into changes; from says where what comes back lies.
func (a *Applied) reversed() (list []Change, from map[string]string, err error) {
	from = map[string]string{}
	for i := range a.rec.Steps {
		st := &a.rec.Steps[i]
		if st.Stays {
			continue
		}
		root := a.rec.Trees[st.Tree].Root
		if st.Action == mode {
			now, err := place{unix.AT_FDCWD, filepath.Join(root, st.Live)}.entry()
			if err != nil {
				return nil, nil, err
			}
			was := now
			was.Mode = now.Mode&^(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) | goMode(st.OldMode)
			list = append(list, Change{Path: filepath.Join(root, st.Live), Kind: Changed, Before: now, After: was, ModeOnly: true, tree: st.Tree, rel: st.Live})
			continue
		}
		now, was := map[string]Entry{}, map[string]Entry{}
		if st.Action != take {
			err = entriesBelow(root, st.Live, now)
		}
		if st.Action != put && err == nil {
			err = entriesBelow(a.old(st.Tree), st.Aside, was)
		}
		if err != nil {
			return nil, nil, err
		}
		if st.Empty { // what is in it has steps of its own
			now = map[string]Entry{"": now[""]}
		}
		for rel := range merged(now, was) {
			c := Change{Before: now[rel], After: was[rel], Kind: Changed, tree: st.Tree, rel: filepath.Join(st.Live, rel)}
			c.Path = filepath.Join(root, c.rel)
			switch {
			case !c.After.Exists():
				c.Kind = Deleted
			case !c.Before.Exists():
				c.Kind = Created
			case c.Before.Mode == c.After.Mode && c.After.Mode.IsDir():
				continue
			}
			from[c.Path] = filepath.Join(st.Aside, rel)
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int { return comparePaths(a.Path, b.Path) })
	return list, from, nil
}

// merged are the names that are in one of two lists.
func merged(a, b map[string]Entry) map[string]bool {
	out := make(map[string]bool, len(a)+len(b))
	for _, m := range []map[string]Entry{a, b} {
		for rel := range m {
			out[rel] = true
		}
	}
	return out
}

// entriesBelow looks at a path below a directory and at all that is in it. Nothing there
// is no error.
func entriesBelow(root, rel string, into map[string]Entry) error {
	parent, err := openParent(root, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(parent) //nolint:errcheck // it was only read
	return entriesAt(place{parent, filepath.Base(rel)}, "", into)
}

func entriesAt(at place, rel string, into map[string]Entry) error {
	e, err := at.entry()
	if err != nil || !e.Exists() {
		return err
	}
	if into[rel] = e; !e.Mode.IsDir() {
		return nil
	}
	if len(into) > mostChanges {
		return ErrTooMany
	}
	dir, err := openToLook(at)
	if errors.Is(err, unix.EACCES) {
		return nil // the command took the right to look into it away
	}
	if err != nil {
		return err
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	list, err := names(dir)
	if err != nil {
		return err
	}
	for _, name := range list {
		if err := entriesAt(place{dir, name}, strings.TrimPrefix(rel+"/"+name, "/"), into); err != nil {
			return err
		}
	}
	return nil
}

// goMode is unixMode the other way round.
func goMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	for bit, flag := range map[fs.FileMode]uint32{fs.ModeSetuid: unix.S_ISUID, fs.ModeSetgid: unix.S_ISGID, fs.ModeSticky: unix.S_ISVTX} {
		if m&flag != 0 {
			mode |= bit
		}
	}
	return mode
}
