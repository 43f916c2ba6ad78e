package layer

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A file that gets a further name is copied into the upper half, and the name is one of
// that copy. So is what is left of a moved file that has further names: a copy of its
// own. Applied like that, two names that belong together would be two files. So such a
// name of the upper half becomes one of the live file, before anything is applied.

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
		if c.From == "" || !found || from.Before.Links < 2 || changed[from.Before.id] != 1 || !accept(from) || s.madeAround(c) || s.trees[c.tree].Root != s.trees[from.tree].Root {
			continue
		}
		if c.After.Links == 1 && c.After.Mode == from.Before.Mode && c.After.Owner == from.Before.Owner && c.After.mtime.Equal(from.Before.mtime) {
			out = append(out, link{i, from.rel, from.tree, from.Before, true})
		}
	}
	return out
}

func (s *Set) movesNames() bool {
	for _, c := range s.Changes {
		if c.Kind == Deleted && c.Before.Mode.IsRegular() && c.Before.Links > 1 {
			return true
		}
	}
	return false
}

// madeAround tells whether the directory of a change is new as well, and so put into
// place with all that is in it.
func (s *Set) madeAround(c Change) bool {
	around, found := s.Find(filepath.Dir(c.Path))
	return found && around.After.Mode.IsDir() && !around.Before.Mode.IsDir()
}

// Relink gives created files that are further names of live ones that identity, as far
// as that can be had: their content is right in any case. Nothing of the layer may be
// written by a program any more.
func (s *Set) Relink(accept func(Change) bool) error {
	for n, l := range s.links(accept) {
		c := &s.Changes[l.change]
		same, err := sameMount(s.trees[l.tree].Root, s.trees[c.tree].Dir)
		if err != nil {
			return err
		}
		if !same { // it is copied there, or linked instead
			if s.linkable == nil {
				s.linkable = map[string]link{}
			}
			s.linkable[s.File(*c)] = l
			continue
		}
		if err := s.relink(c, l, filepath.Join(s.trees[c.tree].Dir, "link-"+strconv.Itoa(n))); err != nil {
			return fmt.Errorf("linking %s: %w", c.Path, err)
		}
	}
	return nil
}

// relink replaces a file of the upper half by a further name of a live one.
func (s *Set) relink(c *Change, l link, temp string) error {
	now, err := s.linkTo(l, temp)
	if err != nil || !now.Exists() {
		return err
	}
	if err := unix.Rename(temp, s.File(*c)); err != nil {
		return errors.Join(err, unix.Unlink(temp))
	}
	if now, err = (place{unix.AT_FDCWD, s.File(*c)}).entry(); err != nil { // the rename gave it another ctime
		return err
	}
	c.After = now
	s.noteLinked(now)
	if l.moved {
		from, _ := s.index(c.From)
		s.Changes[from].Before.ctime = now.ctime // that was us
	}
	return nil
}

// linkTo makes a further name of a live file, if that is as it was. The zero Entry says
// that none was made.
func (s *Set) linkTo(l link, to string) (Entry, error) {
	dir, err := openParent(s.trees[l.tree].Root, l.source)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, err
	}
	defer unix.Close(dir) //nolint:errcheck // it was only used to name a file
	source := place{dir, filepath.Base(l.source)}
	if at, again := s.linkedAt[l.live.id]; again {
		l.live.ctime = at
	}
	if now, err := source.entry(); err != nil || !l.live.same(now) {
		return Entry{}, err
	}
	if unix.Linkat(source.dir, source.name, unix.AT_FDCWD, to, 0) != nil {
		return Entry{}, nil // who does not own a file may not link it, and a file system has its bound
	}
	made, err := place{unix.AT_FDCWD, to}.entry()
	if err != nil || !l.live.moved(made) {
		return Entry{}, errors.Join(err, unix.Unlink(to))
	}
	s.noteLinked(made)
	return made, nil
}

// noteLinked notes the ctime that a file has from its new name.
func (s *Set) noteLinked(e Entry) {
	if s.linkedAt == nil {
		s.linkedAt = map[identity]time.Time{}
	}
	s.linkedAt[e.id] = e.ctime
}
