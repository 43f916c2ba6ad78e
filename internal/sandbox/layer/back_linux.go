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

// errForeign says that something lies where only steps put things: somebody had put it into
// the tree right when it was taken out there, and it may be all that is left of it.
var errForeign = errors.New("what somebody else had put there was taken away")

// turn turns one step round, if it was carried out.
func (p *performer) turn(st *step, since time.Time) error {
	if st.Stays {
		return nil
	}
	live, aside, err := p.at(st)
	if errors.Is(err, unix.ENOENT) && !p.holds(st) {
		return nil // its directory was never put there
	}
	if err != nil {
		return err
	}
	defer p.closeBoth(live, aside)
	now, err := live.entry()
	if err != nil {
		return err
	}
	switch st.Action {
	case put:
		if !now.Exists() || !now.is(st.New) {
			return nil
		}
		if err := p.untouched(live, now, st, since); err != nil {
			return err
		}
		return p.takeOut(st, live, aside, unix.RENAME_NOREPLACE, since)
	case take:
		if was, err := aside.entry(); err != nil || !was.Exists() {
			return err
		} else if !was.is(st.Old) {
			return errForeign
		}
		if err := rename(aside, live, unix.RENAME_NOREPLACE); errors.Is(err, unix.EEXIST) {
			return errChanged
		} else if err != nil {
			return err
		}
		return nil
	case swap:
		if was, err := aside.entry(); err != nil || !was.Exists() || was.is(st.New) {
			return err
		} else if !was.is(st.Old) {
			return errForeign
		}
		if !now.is(st.New) {
			return errChanged
		}
		if err := p.untouched(live, now, st, since); err != nil {
			return err
		}
		return p.takeOut(st, live, aside, unix.RENAME_EXCHANGE, since)
	case mode:
		if !now.is(st.Old) || unixMode(now.Mode) != st.NewMode {
			return nil
		}
		return p.chmod(live, st.Old, st.NewMode, st.OldMode, errChanged)
	}
	return fmt.Errorf("a step %q is not known", st.Action)
}

// takeOut takes out of the tree what a step put there. Only then nobody can change it
// any more by its name: if it is not what the step put there, it goes back.
func (p *performer) takeOut(st *step, live, aside place, flags uint, since time.Time) error {
	if err := rename(live, aside, flags); errors.Is(err, unix.ENOENT) {
		return errChanged
	} else if err != nil {
		return err
	}
	now, err := aside.entry()
	switch {
	case err != nil:
	case !now.is(st.New):
		err = errChanged
	case st.Empty: // what it was filled with is out of it again
		err = emptyNow(aside)
	default:
		err = p.untouched(aside, now, st, since)
	}
	if err != nil {
		return errors.Join(err, rename(aside, live, flags))
	}
	return nil
}

// emptyNow tells whether nobody has put anything into a directory.
func emptyNow(at place) error {
	dir, err := openToLook(at)
	if errors.Is(err, unix.EACCES) {
		return nil // nobody else can put anything there either
	}
	if err != nil {
		return err
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	list, err := names(dir)
	if err == nil && len(list) > 0 {
		err = errChanged
	}
	return err
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
	return err == nil && was.is(st.Old)
}

// untouched tells whether what a step put in place is as it put it there.
func (p *performer) untouched(at place, now Entry, st *step, since time.Time) error {
	if !now.Mode.IsDir() {
		if now.mtime.UnixNano() != st.NewTime {
			return errChanged
		}
		return nil
	}
	if st.Empty {
		return nil
	}
	_, err := p.olderThan(at, since)
	return err
}

// olderThan tells whether no file in a directory was changed after a moment, and how many
// there are, directories too. That goes by the ctime, which nobody can set. A directory
// gets another one with everything that comes and goes in it, also by commands that were
// taken back since, so that only its files count.
func (p *performer) olderThan(at place, since time.Time) (count int, err error) {
	dir, err := openToLook(at)
	if errors.Is(err, unix.EACCES) {
		return 0, nil // the command took the right to read it away, and nobody else can look
	}
	if err != nil {
		return 0, err
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	list, err := names(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range list {
		in := place{dir, name}
		e, err := in.entry()
		switch {
		case err != nil:
			return 0, err
		case e.Mode.IsDir():
			n, err := p.olderThan(in, since)
			if err != nil {
				return 0, err
			}
			count += n
		case p.youngerThan(e, since):
			return 0, errChanged
		}
		count++
	}
	return count, nil
}

// youngerThan tells whether somebody changed a file after a moment. That an undo has put
// it back does not count.
func (p *performer) youngerThan(e Entry, since time.Time) bool {
	return e.ctime.After(since) && !p.restored[restoredOf(e)]
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
		return &ConflictError{Paths: changed, Since: true}
	}
	return nil
}

func (p *performer) stillApplied(st *step, since time.Time) (bool, error) {
	if st.Stays {
		return true, nil
	}
	live, err := p.liveAt(st)
	if err != nil {
		return false, nil // its directory is not there any more, or not what it was
	}
	defer letGo(live)
	now, err := live.entry()
	if err != nil {
		return false, err
	}
	if st.Action == take {
		return !now.Exists(), nil
	}
	if !now.is(st.New) || st.Action == mode && unixMode(now.Mode) != st.NewMode {
		return false, nil
	}
	if st.Action == mode {
		return true, nil
	}
	if !now.Mode.IsDir() { // also of who has set the time of the file, which untouched goes by
		return !p.youngerThan(now, since), nil
	}
	if st.Empty {
		return true, nil // takeOut looks into it
	}
	count, err := p.olderThan(live, since)
	if errors.Is(err, errChanged) || err == nil && count != st.Count {
		return false, nil
	}
	return err == nil, err
}

// count notes how much is in the directories that were put in place, so that it is known
// if something of it goes.
func (p *performer) count() error {
	for i := range p.rec.Steps {
		st := &p.rec.Steps[i]
		if st.Action != put && st.Action != swap || st.Empty {
			continue
		}
		live, err := p.liveAt(st)
		if err == nil {
			var now Entry
			if now, err = live.entry(); err == nil && now.Mode.IsDir() {
				st.Count, err = p.olderThan(live, now.ctime.Add(aLongTime))
			}
		}
		letGo(live)
		if err != nil && !errors.Is(err, unix.EACCES) { // the command took the right to look there away
			return err
		}
	}
	return nil
}

const aLongTime = 100 * 365 * 24 * time.Hour
