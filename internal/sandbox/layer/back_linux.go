package layer

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// back turns the first n steps round, the last one first. Which of them were
// carried out is seen by what is live now. What somebody has changed since stays as
// it is, and is told.
func (p *performer) back(n int, since time.Time) error {
	var errs []error
	for i := n - 1; i >= 0; i-- {
		st := &p.rec.Steps[i]
		if err := p.turn(st, since); err != nil {
			errs = append(errs, fmt.Errorf("putting %s back: %w", p.path(st), err))
		}
	}
	return errors.Join(errs...)
}

// errChanged says that somebody changed what a step had put in place.
var errChanged = errors.New("it was changed since")

// turn turns one step round, if it was carried out.
func (p *performer) turn(st *step, since time.Time) error {
	live, aside, err := p.at(st)
	if errors.Is(err, unix.ENOENT) && !p.holds(st) {
		return nil // its directory was never put there
	}
	if err != nil {
		return err
	}
	defer closeBoth(live, aside)
	now, err := live.entry()
	if err != nil {
		return err
	}
	switch st.Action {
	case put:
		if !now.Exists() || now.id != st.New {
			return nil
		}
		if st.Empty { // what it was filled with is out of it again
			if err := unix.Unlinkat(live.dir, live.name, unix.AT_REMOVEDIR); errors.Is(err, unix.ENOTEMPTY) {
				return errChanged
			} else if err != nil {
				return err
			}
			return nil
		}
		if err := untouched(live, now, st, since); err != nil {
			return err
		}
		return rename(live, aside, unix.RENAME_NOREPLACE)
	case take:
		if was, err := aside.entry(); err != nil || was.id != st.Old {
			return err
		}
		if err := rename(aside, live, unix.RENAME_NOREPLACE); errors.Is(err, unix.EEXIST) {
			return errChanged
		} else if err != nil {
			return err
		}
		return nil
	case swap:
		if was, err := aside.entry(); err != nil || was.id != st.Old {
			return err
		}
		if now.id != st.New {
			return errChanged
		}
		if err := untouched(live, now, st, since); err != nil {
			return err
		}
		return rename(live, aside, unix.RENAME_EXCHANGE)
	case mode:
		if now.id != st.Old || unixMode(now.Mode) != st.NewMode {
			return nil
		}
		return p.chmod(live, st.Old, st.NewMode, st.OldMode, errChanged)
	}
	return fmt.Errorf("a step %q is not known", st.Action)
}

// holds tells whether a step has taken something out of the tree, which lies aside.
func (p *performer) holds(st *step) bool {
	if st.Action != take && st.Action != swap {
		return false
	}
	dir, err := openBelow(p.stages[st.Tree], filepath.Dir(st.Aside))
	if err != nil {
		return false
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	was, err := place{dir, filepath.Base(st.Aside)}.entry()
	return err == nil && was.id == st.Old
}

// untouched tells whether what a step put in place is as it put it there.
func untouched(at place, now Entry, st *step, since time.Time) error {
	if !now.Mode.IsDir() {
		if now.mtime.UnixNano() != st.NewTime {
			return errChanged
		}
		return nil
	}
	if st.Empty {
		return nil
	}
	return olderThan(at, since)
}

// olderThan tells whether nothing in a directory was changed after a moment. That
// goes by the ctime, which nobody can set.
func olderThan(at place, since time.Time) error {
	dir, err := openBelow(at.dir, at.name)
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
			if err := olderThan(in, since); err != nil {
				return err
			}
		}
	}
	return nil
}

// undoable tells whether everything is as it was applied, before anything is taken
// back.
func (p *performer) undoable(since time.Time) error {
	var changed []string
	for i := range p.rec.Steps {
		same, err := p.stillApplied(&p.rec.Steps[i], since)
		if err != nil {
			return err
		}
		if !same {
			changed = append(changed, p.path(&p.rec.Steps[i]))
		}
	}
	if len(changed) > 0 {
		return &ConflictError{changed}
	}
	return nil
}

func (p *performer) stillApplied(st *step, since time.Time) (bool, error) {
	live, aside, err := p.at(st)
	if err != nil {
		return false, nil // its directory is not there any more, or not what it was
	}
	defer closeBoth(live, aside)
	now, err := live.entry()
	if err != nil {
		return false, err
	}
	if st.Action == take {
		return !now.Exists(), nil
	}
	if now.id != st.New || st.Action == mode && unixMode(now.Mode) != st.NewMode {
		return false, nil
	}
	if st.Action == mode {
		return true, nil
	}
	err = untouched(live, now, st, since)
	if errors.Is(err, errChanged) {
		return false, nil
	}
	return err == nil, err
}
