package layer

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A file that gets a further name is copied into the upper half, and the name is one of
// that copy. So is what is left of a moved file that has further names: a copy of its
// own. Applied like that, two names that belong together would be two files. So what is put
// into place is a further name of the live file, made aside right before anything is
// applied. The layer itself stays as it is, since it may have to be kept.

// links finds them. A file is left out if more is to become of it: that would change its
// ctime, by which it is told that nobody else has changed it.
func (s *Set) links(accept func(Change) bool) []link {
	if len(s.unchanged) == 0 && !s.movesNames() {
		return nil
	}
	changed := map[identity]int{} // files that are there, and how many of their names change
	for _, c := range s.Changes {
		if c.Before.Exists() && !c.Before.Mode.IsDir() {
			changed[c.Before.id]++
		}
	}
	var out []link
	for i, c := range s.Changes {
		if c.Kind == Deleted || !c.After.Mode.IsRegular() || c.Before.Exists() || !accept(c) {
			continue
		}
		if l, found := s.unchanged[c.After.id]; found && changed[l.live.id] == 0 {
			l.change = i
			out = append(out, l)
			continue
		}
		from, found := s.Find(c.From)
		if c.From == "" || !found || from.Before.Links < 2 || changed[from.Before.id] != 1 || !accept(from) || s.trees[c.tree].Root != s.trees[from.tree].Root {
			continue
		}
		if c.After.Links == 1 && c.After.Mode == from.Before.Mode && c.After.Owner == from.Before.Owner && c.After.mtime.Equal(from.Before.mtime) {
			out = append(out, link{change: i, source: from.rel, tree: from.tree, live: from.Before})
		}
	}
	return slices.DeleteFunc(out, func(l link) bool { return s.apart[s.source(l)] })
}

// Linked are the live files that get further names if all changes are accepted.
func (s *Set) Linked() []string {
	var out []string
	for _, l := range s.links(func(Change) bool { return true }) {
		out = append(out, s.source(l))
	}
	return out
}

// KeepApart has live files get no further names: what is put into place is a copy, as it
// is in the layer.
func (s *Set) KeepApart(paths []string) {
	s.apart = map[string]bool{}
	for _, path := range paths {
		s.apart[path] = true
	}
}

func (s *Set) source(l link) string { return filepath.Join(s.trees[l.tree].Root, l.source) }

func (s *Set) movesNames() bool {
	for _, c := range s.Changes {
		if c.Kind == Deleted && c.Before.Mode.IsRegular() && c.Before.Links > 1 {
			return true
		}
	}
	return false
}

// linkNames makes the further names that steps put into place, as far as they can be had:
// the content of the layer is right in any case. Nothing has been applied yet.
func (s *Set) linkNames(rec *record) error {
	linkedAt := map[identity]time.Time{} // when live files got such names
	for i := range rec.Steps {
		st := &rec.Steps[i]
		if st.link == nil {
			continue
		}
		live := st.link.live
		if at, again := linkedAt[live.id]; again {
			live.ctime = at
		}
		made, err := s.linkTo(*st.link, live, filepath.Join(rec.Trees[st.Tree].Stage, st.link.aside))
		if err != nil {
			return fmt.Errorf("linking %s: %w", filepath.Join(rec.Trees[st.Tree].Root, st.Live), err)
		}
		if made.Exists() {
			st.Aside, st.New, st.NewTime = st.link.aside, made.id, made.mtime.UnixNano()
			linkedAt[made.id] = made.ctime
		}
	}
	for i := range rec.Steps {
		for n := range rec.Steps[i].before {
			if at, ours := linkedAt[rec.Steps[i].before[n].entry.id]; ours {
				rec.Steps[i].before[n].entry.ctime = at
			}
		}
	}
	return nil
}

// linkTo makes a further name of a live file, if that is as it was. The zero Entry says
// that none was made.
func (s *Set) linkTo(l link, live Entry, to string) (Entry, error) {
	root := s.trees[l.tree].Root
	if same, err := sameMount(root, filepath.Dir(to)); err != nil || !same {
		return Entry{}, err
	}
	dir, err := openParent(root, l.source)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, err
	}
	defer unix.Close(dir) //nolint:errcheck // it was only used to name a file
	source := place{dir, filepath.Base(l.source)}
	if now, err := source.entry(); err != nil || !live.same(now) {
		return Entry{}, err
	}
	if unix.Linkat(source.dir, source.name, unix.AT_FDCWD, to, 0) != nil {
		return Entry{}, nil // who does not own a file may not link it, and a file system has its bound
	}
	made, err := place{unix.AT_FDCWD, to}.entry()
	if err != nil || !live.moved(made) {
		return Entry{}, errors.Join(err, unix.Unlink(to))
	}
	return made, nil
}
