package layer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// copiedUp tells whether the kernel made a file or a directory of the upper half as
// a copy of a live one. A file that is renamed keeps that mark.
func copiedUp(up place, e Entry) (bool, error) {
	if !e.Mode.IsRegular() && !e.Mode.IsDir() {
		return false, nil // links have no attributes of a user
	}
	return isCopy(fmt.Sprintf("/proc/self/fd/%d/%s", up.dir, up.name))
}

// findMoves pairs what was created with what was deleted, by equal bytes: an overlay
// does not say what was moved, and programs copy what they cannot rename. Empty
// files are no moves, since any two of them are equal.
//
// A file that is a copy of a live one which is not there any more was moved and
// edited, or somebody has removed the original. If the command deleted a file that
// could be the original, nothing is lost by the first answer.
func (s *Set) findMoves() error {
	m := &mover{set: s, bySize: map[int64][]*Change{}, bySum: map[[sha256.Size]byte]*deleted{}, sums: map[identity][sha256.Size]byte{}}
	left := s.renewed
	for i := range s.Changes {
		c := &s.Changes[i]
		if c.Kind == Created || !c.Before.Mode.IsRegular() || c.ModeOnly || c.Kind == Changed && c.copied {
			continue
		}
		if left++; c.Kind == Deleted && c.Before.Size > 0 {
			m.bySize[c.Before.Size] = append(m.bySize[c.Before.Size], c)
		}
	}
	for i := range s.Changes {
		made := &s.Changes[i]
		if made.Kind != Created {
			continue
		}
		old, err := m.source(made)
		if err != nil {
			return err
		}
		if old != nil {
			made.From, made.Conflict = old.Path, false
			left--
		}
	}
	for i := range s.Changes {
		c := &s.Changes[i]
		switch {
		case c.Kind != Created || !c.copied || c.From != "" || !c.After.Mode.IsRegular():
		case s.copies[c.After.id]: // it is a further name of a file whose original is there
			c.Conflict = false
		case left > 0:
			c.Conflict, c.Moved = false, true
			left--
		}
	}
	return nil
}

// mover finds where files were moved from.
type mover struct {
	set    *Set
	bySize map[int64][]*Change            // what was deleted, and not yet hashed
	bySum  map[[sha256.Size]byte]*deleted // the others
	// sums are of files with further names: a command can give one file a great many names,
	// and reading it for each of them would take for ever.
	sums map[identity][sha256.Size]byte
}

// deleted are the deleted files of one content, as far as nothing was made of them.
type deleted struct {
	all    []*Change // in the order of their paths
	byName map[string][]*Change
	taken  map[*Change]bool
}

// source finds what a created file was before; nil if nothing.
func (m *mover) source(made *Change) (*Change, error) {
	size := made.After.Size
	if _, some := m.bySize[size]; !some || !made.After.Mode.IsRegular() {
		return nil, nil
	}
	for _, old := range m.bySize[size] {
		sum, err := m.sum(old.Before, m.set.trees[old.tree].Root, old.rel, openFile)
		if err != nil {
			return nil, err
		}
		m.add(sum, old)
	}
	m.bySize[size] = nil
	root, rel := m.set.at(*made)
	sum, err := m.sum(made.After, root, rel, made.After.openOwn)
	if err != nil || m.bySum[sum] == nil {
		return nil, err
	}
	return m.bySum[sum].take(filepath.Base(made.rel)), nil
}

// sum hashes a file, once for all of its names.
func (m *mover) sum(e Entry, root, rel string, open func(place) (*os.File, error)) ([sha256.Size]byte, error) {
	if sum, known := m.sums[e.id]; known {
		return sum, nil
	}
	sum, err := sumOf(root, rel, open)
	if err == nil && e.Links > 1 && e.id != (identity{}) {
		m.sums[e.id] = sum
	}
	return sum, err
}

func (m *mover) add(sum [sha256.Size]byte, old *Change) {
	d := m.bySum[sum]
	if d == nil {
		d = &deleted{byName: map[string][]*Change{}, taken: map[*Change]bool{}}
		m.bySum[sum] = d
	}
	name := filepath.Base(old.rel)
	d.all, d.byName[name] = append(d.all, old), append(d.byName[name], old)
}

// take gives a file that nothing was made of yet, of that name if there is one. Each is
// looked at once in either list, so that many files of one content cost no more.
func (d *deleted) take(name string) *Change {
	next := func(list []*Change) (*Change, []*Change) {
		for len(list) > 0 && d.taken[list[0]] {
			list = list[1:]
		}
		if len(list) == 0 {
			return nil, nil
		}
		return list[0], list[1:]
	}
	var old *Change
	if old, d.byName[name] = next(d.byName[name]); old == nil {
		old, d.all = next(d.all)
	}
	if old != nil {
		d.taken[old] = true
	}
	return old
}

// openParent opens the directory of a path below a root.
func openParent(root, rel string) (int, error) {
	top, err := openRoot(root)
	if err != nil {
		return -1, err
	}
	defer unix.Close(top) //nolint:errcheck // it was only read
	parent, err := openBelow(top, filepath.Dir(rel))
	if err != nil {
		return -1, fmt.Errorf("opening the directory of %s: %w", filepath.Join(root, rel), err)
	}
	return parent, nil
}

// sumOf hashes a file below a directory. One that cannot be read is like no other.
func sumOf(root, rel string, open func(place) (*os.File, error)) (sum [sha256.Size]byte, err error) {
	parent, err := openParent(root, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return sha256.Sum256([]byte(root + "\x00" + rel)), nil
	}
	if err != nil {
		return sum, err
	}
	defer unix.Close(parent) //nolint:errcheck // it was only read
	f, err := open(place{parent, filepath.Base(rel)})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return sha256.Sum256([]byte(root + "\x00" + rel)), nil
	}
	if err != nil {
		return sum, fmt.Errorf("opening %s: %w", filepath.Join(root, rel), err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, fmt.Errorf("reading %s: %w", filepath.Join(root, rel), err)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
