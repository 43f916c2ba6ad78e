package layer

import (
	"errors"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// RecoverKept is Recover for a layer that is applied again later: what was taken back
// does not count as changed by somebody else.
func RecoverKept(path string, trees []Tree, since time.Time) (bool, error) {
	rec, _, err := readRecord(path)
	if err != nil {
		return false, err
	}
	undone, err := Recover(path)
	if undone && err == nil {
		rec.tookBack(trees, since)
	}
	return undone, err
}

// tookBack has what steps took out of a tree and put back be as the command saw it: only
// its ctime is another one. What was written since is left as it is, and is a conflict.
func (r *record) tookBack(trees []Tree, since time.Time) {
	for _, st := range r.Steps {
		if st.Old.Inode == 0 {
			continue
		}
		for _, t := range trees {
			if t.Root == r.Trees[st.Tree].Root && t.Later != nil {
				t.tookBack(&st, t.since(st.Live, since))
			}
		}
	}
}

func (t Tree) tookBack(st *step, since time.Time) {
	at := place{unix.AT_FDCWD, filepath.Join(t.Root, st.Live)}
	now, err := at.entry()
	switch {
	case err != nil || !now.is(st.Old) || !now.ctime.After(since) || now.mtime.After(since):
		return
	case now.Mode.IsDir() && (st.Action == mode || unchangedBelow(at, since) != nil):
		return
	}
	t.Later[st.Live] = now.ctime
	if around, err := (place{unix.AT_FDCWD, filepath.Dir(at.name)}).entry(); err == nil && st.Live != "" {
		t.Later[parentOf(st.Live)+"/"] = around.ctime
	}
}

// unchangedBelow tells whether nothing in a directory was changed after a moment. That
// goes by the ctime, which nobody can set.
func unchangedBelow(at place, since time.Time) error {
	dir, err := openToLook(at)
	if errors.Is(err, unix.EACCES) {
		return nil // the command took the right to read it away, and nobody else can look
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
		in := place{dir, name}
		e, err := in.entry()
		switch {
		case err != nil:
			return err
		case e.ctime.After(since):
			return errChanged
		case e.Mode.IsDir():
			if err := unchangedBelow(in, since); err != nil {
				return err
			}
		}
	}
	return nil
}
