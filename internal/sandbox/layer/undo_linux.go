package layer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Applied is a change set that was applied, with what was there before.
type Applied struct {
	rec     *record
	path    string
	written time.Time // of the record: nothing that was applied is younger
}

// ReadApplied gives what a record says was applied; [fs.ErrNotExist] if there is none,
// or it was taken back.
func ReadApplied(path string) (*Applied, error) {
	rec, written, err := readRecord(path)
	if err != nil {
		return nil, err
	}
	if rec == nil || !rec.Done && !rec.Undoing {
		return nil, fs.ErrNotExist
	}
	return &Applied{rec: rec, path: path, written: written}, nil
}

// list is the file of what undo has put back, which is no change by somebody else. All
// layers share it; whoever takes one back holds their lock.
func (a *Applied) list() string { return filepath.Join(filepath.Dir(filepath.Dir(a.path)), "restored") }

// Undo takes back what was applied: all of it, or nothing if a path is no longer as
// Apply left it.
func (a *Applied) Undo(ctx context.Context) error { return a.undo(ctx, func(string) {}) }

// Leave has new files and directories stay when the rest is taken back. Only what lies in a
// directory that was there before can.
func (a *Applied) Leave(stays func(path string) bool) {
	var made []string
	for i := range a.rec.Steps {
		st := &a.rec.Steps[i]
		if st.Action != put && st.Action != swap {
			continue
		}
		path := filepath.Join(a.rec.Trees[st.Tree].Root, st.Live)
		inMade := slices.ContainsFunc(made, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
		if st.Stays = st.Action == put && !inMade && stays(path); !st.Stays {
			made = append(made, path)
		}
	}
}

// NotKept says why some of it cannot be taken back; empty: all of it can.
func (a *Applied) NotKept() string {
	for _, t := range a.rec.Trees {
		if t.NotKept != "" {
			return "what was in " + t.Root + " before was not kept: " + t.NotKept
		}
	}
	return ""
}

// undo is Undo; at is for tests, which end the process there.
func (a *Applied) undo(ctx context.Context, at func(point string)) error {
	if why := a.NotKept(); why != "" {
		return errors.New(why)
	}
	if a.rec.Done {
		if err := a.ready(ctx, at); err != nil {
			return err
		}
	}
	at("ready")
	if err := ctx.Err(); err != nil {
		return errors.Join(err, RemoveStages(a.path))
	}
	a.rec.Done, a.rec.Undoing = false, true // a crash from here on goes on with taking back
	if err := a.rec.write(a.path); err != nil {
		return errors.Join(err, RemoveStages(a.path))
	}
	at("recorded")
	return a.takeBack(at)
}

// ready looks whether everything is as it was applied, and brings what was kept on
// another file system to where it can be renamed from.
func (a *Applied) ready(ctx context.Context, at func(point string)) error {
	dir := filepath.Dir(a.path)
	if err := a.Unchanged(); err != nil {
		return err
	}
	made, err := readStages(a.path)
	if err != nil {
		return err
	}
	made.at = at
	if err := errors.Join(a.rec.openStages(made), ctx.Err()); err != nil {
		return errors.Join(err, RemoveStages(a.path))
	}
	if err := a.rec.fetchOld(ctx, dir); err != nil {
		return errors.Join(err, RemoveStages(a.path))
	}
	return nil
}

// Unchanged tells whether everything is as it was applied: a [ConflictError] names what is
// not.
func (a *Applied) Unchanged() error {
	p, err := openLive(a.rec)
	if err != nil {
		return err
	}
	defer p.close()
	if p.restored, err = readRestored(a.list()); err != nil {
		return err
	}
	return p.undoable(a.written)
}

// takeBack turns all steps round. If somebody has changed meanwhile what one of them put
// in place, those that were turned are carried out again, so that everything is as it was
// applied.
func (a *Applied) takeBack(at func(point string)) error {
	p, err := openPerformer(a.rec)
	if err != nil {
		return err
	}
	defer p.close()
	if p.restored, err = readRestored(a.list()); err != nil {
		return err
	}
	var failed error
	for i := len(a.rec.Steps) - 1; i >= 0 && failed == nil; i-- {
		st := &a.rec.Steps[i]
		if failed = p.turn(st, a.written); failed != nil {
			if errors.Is(failed, errChanged) {
				failed = &ConflictError{Paths: []string{p.path(st)}, Since: true}
			}
			break
		}
		at("step")
	}
	if failed == nil {
		failed = p.sync()
	}
	if failed != nil {
		return errors.Join(failed, a.applyAgain(p))
	}
	if err := p.noteRestored(a.list()); err != nil {
		return errors.Join(err, a.applyAgain(p))
	}
	at("turned")
	if err := os.Remove(a.path); err != nil {
		return err
	}
	at("removed")
	return RemoveStages(a.path)
}

// applyAgain carries out all steps that are turned round.
func (a *Applied) applyAgain(p *performer) error {
	for i := range a.rec.Steps {
		st := &a.rec.Steps[i]
		if err := p.again(st); err != nil {
			return fmt.Errorf("%w: %s: %w. What was applied lies in %s", ErrStuck, p.path(st), err, strings.Join(a.stages(), ", "))
		}
	}
	if err := p.sync(); err != nil {
		return err
	}
	a.rec.Done, a.rec.Undoing = true, false
	if err := a.rec.write(a.path); err != nil {
		return err
	}
	return RemoveStages(a.path)
}

func (a *Applied) stages() (list []string) {
	for _, t := range a.rec.Trees {
		list = append(list, t.Stage)
	}
	return list
}

// again carries out a step that was turned round, and leaves any other as it is: also one
// whose path somebody has changed.
func (p *performer) again(st *step) error {
	if st.Stays {
		return nil
	}
	lies, err := p.liesAside(st)
	if err != nil {
		return err
	}
	switch {
	case st.Action == take && lies.is(st.Old), (st.Action == put || st.Action == swap) && !lies.is(st.New):
		return nil
	}
	live, aside, err := p.at(st)
	if err != nil {
		return err
	}
	defer p.closeBoth(live, aside)
	now, err := live.entry()
	if err != nil {
		return err
	}
	switch {
	case st.Action == put:
		return rename(aside, live, unix.RENAME_NOREPLACE)
	case st.Action == take && now.is(st.Old):
		return rename(live, aside, unix.RENAME_NOREPLACE)
	case st.Action == swap && now.is(st.Old):
		return rename(live, aside, unix.RENAME_EXCHANGE)
	case st.Action == mode && (!now.is(st.Old) || unixMode(now.Mode) != st.OldMode):
		return nil
	case st.Action == mode:
		return p.chmod(live, st.Old, st.OldMode, st.NewMode, errChanged)
	}
	return errChanged
}

// liesAside is what is at the place of a step in the stage.
func (p *performer) liesAside(st *step) (Entry, error) {
	if st.Aside == "" {
		return Entry{}, nil
	}
	dir, err := openBelow(p.stages[st.Tree], filepath.Dir(st.Aside))
	if err != nil {
		return Entry{}, fmt.Errorf("opening what is put to %s: %w", p.path(st), err)
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	return place{dir, filepath.Base(st.Aside)}.entry()
}
