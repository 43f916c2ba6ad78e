package layer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say how a change set is applied.
type Options struct {
	// Record is the file that says what is being applied. It lies outside of every
	// granted directory, and Recover reads it.
	Record string
	// Accept tells which changes are applied. Nil: all of them.
	Accept func(Change) bool

	at    func(point string) // for tests, which end the process there
	taken func()             // for tests, which do something there
}

// ConflictError lists the paths that somebody else changed while a command ran, or
// while its changes were judged.
type ConflictError struct {
	Paths []string
	Since bool // after the changes of the command were applied
}

func (e *ConflictError) Error() string {
	const most = 5
	list := e.Paths
	more := ""
	if len(list) > most {
		more = fmt.Sprintf(" and %d more", len(list)-most)
		list = list[:most]
	}
	if e.Since {
		return "changed since, so that everything stays as it is: " + strings.Join(list, ", ") + more
	}
	return "changed by somebody else while the command ran: " + strings.Join(list, ", ") + more
}

// Apply carries out the accepted changes. If one of them cannot be carried out, or
// somebody else has changed what it is about, none of them is. Caches are kept if all
// changes are accepted, also where there are none.
func (s *Set) Apply(ctx context.Context, opt Options) error {
	if opt.Accept == nil {
		opt.Accept = func(Change) bool { return true }
	}
	if opt.at == nil {
		opt.at = func(string) {}
	}
	var conflicts []string
	whole := true
	for _, c := range s.Changes {
		accepted := opt.Accept(c)
		if whole = whole && accepted; c.Conflict && accepted {
			conflicts = append(conflicts, c.Path)
		}
	}
	if s.Empty() {
		s.keepCaches()
		return nil
	}
	if len(conflicts) > 0 {
		return &ConflictError{Paths: conflicts}
	}
	if err := s.clean(opt.Accept); err != nil {
		return fmt.Errorf("preparing what is applied: %w", err)
	}
	made, err := readStages(opt.Record)
	if err != nil {
		return err
	}
	made.at = opt.at
	rec, err := s.plan(opt.Accept, made)
	giveUp := func(err error) error { // nothing was applied
		err = errors.Join(err, rec.removeAside(), RemoveStages(opt.Record))
		rec.tookBack(s.trees, s.since)
		return err
	}
	if err != nil || len(rec.Steps) == 0 {
		return giveUp(err)
	}
	p, err := s.ready(ctx, rec)
	if err != nil {
		return giveUp(err)
	}
	defer p.close()
	p.taken = opt.taken
	opt.at("prepared")
	if err := rec.write(opt.Record); err != nil {
		return giveUp(err)
	}
	info, err := os.Lstat(opt.Record)
	if err != nil {
		return giveUp(err)
	}
	opt.at("recorded")
	undo := func(err error, steps int) error {
		err = p.undo(err, steps, info.ModTime(), opt.Record)
		rec.tookBack(s.trees, s.since)
		return err
	}
	for i := range rec.Steps {
		if err := p.do(&rec.Steps[i]); err != nil {
			return undo(err, i+1)
		}
		opt.at("step")
	}
	if err := p.sync(); err != nil {
		return undo(err, len(rec.Steps))
	}
	opt.at("applied")
	rec.keepOld(ctx, filepath.Dir(opt.Record))
	if err := p.count(); err != nil {
		return undo(err, len(rec.Steps))
	}
	rec.Done = true
	if err := rec.write(opt.Record); err != nil {
		return undo(err, len(rec.Steps))
	}
	opt.at("done")
	_ = RemoveStages(opt.Record) // they hold nothing that counts, and the changes are applied
	if whole {
		s.keepCaches()
	}
	s.dropCaches()
	return nil
}

// ErrStuck says that changes were applied in part and could not all be taken back.
// What was taken out of the tree lies in the layer, which must not be removed.
var ErrStuck = errors.New("not everything could be put back")

// undo turns round what was carried out before an error.
func (p *performer) undo(cause error, steps int, since time.Time, record string) error {
	if err := p.back(steps, since); err != nil || errors.Is(cause, ErrStuck) {
		var stages []string
		for _, t := range p.rec.Trees {
			stages = append(stages, t.Stage)
		}
		return fmt.Errorf("%w. What was there before lies in %s", errors.Join(cause, ErrStuck, err), strings.Join(stages, ", "))
	}
	return errors.Join(cause, os.Remove(record), p.rec.removeAside(), RemoveStages(record))
}

// removeAside removes what was made beside the upper halves for steps that were not carried
// out, or were taken back: the layer may be applied again.
func (r *record) removeAside() error {
	var err error
	for _, t := range r.Trees {
		if !t.Temporary { // that is a stage, which goes as a whole
			err = errors.Join(err, removeAll(filepath.Join(t.Stage, oldName)))
		}
	}
	return err
}

// ready looks once more whether everything is as it was, and then brings what is applied to
// where it can be renamed from.
func (s *Set) ready(ctx context.Context, rec *record) (_ *performer, err error) {
	for _, t := range rec.Trees {
		if err := os.MkdirAll(filepath.Join(t.Stage, oldName), 0o700); err != nil {
			return nil, err
		}
	}
	p, err := openPerformer(rec)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil { // nothing has to be on the disk before the last step: until then it is taken back
			p.close()
		}
	}()
	var conflicts []string
	for i := range rec.Steps {
		st := &rec.Steps[i]
		same, err := p.asExpected(st)
		if err != nil {
			return nil, err
		}
		if !same {
			conflicts = append(conflicts, filepath.Join(rec.Trees[st.Tree].Root, st.Live))
		}
	}
	if err = ctx.Err(); err == nil && len(conflicts) > 0 {
		err = &ConflictError{Paths: conflicts}
	}
	if err == nil {
		err = s.linkNames(rec)
	}
	for i := 0; err == nil && i < len(rec.Trees); i++ {
		if !rec.Trees[i].Temporary {
			continue
		}
		if err = s.copyStage(ctx, rec, i); err != nil {
			err = fmt.Errorf("copying what is applied: %w", err)
		}
	}
	return p, err
}

// Recover puts back what was begun and not finished, because the process or the
// machine stopped meanwhile. It tells whether there was anything. What was being taken
// back is taken back, or left as it was applied if somebody has changed it since.
func Recover(path string) (bool, error) {
	rec, written, err := readRecord(path)
	if err != nil {
		return false, err
	}
	if rec == nil || rec.Done { // what was made beside the trees holds nothing that counts
		return false, RemoveStages(path)
	}
	if rec.Undoing {
		a := &Applied{rec: rec, path: path, written: written}
		return true, a.takeBack(func(string) {})
	}
	p, err := openPerformer(rec)
	if err != nil {
		return true, err
	}
	defer p.close()
	if err := errors.Join(p.back(len(rec.Steps), written), p.sync()); err != nil {
		return true, err
	}
	return true, errors.Join(os.Remove(path), rec.removeAside(), RemoveStages(path))
}

// Remove removes a layer with all that is in it.
func Remove(dir string) error { return removeAll(dir) }
