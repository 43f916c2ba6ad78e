//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// changeSet is what a program left in its layer, as the crib judges it. It has what
// earlier programs of the session left as well.
type changeSet struct {
	layer *layered
	set   *layer.Set
	git   *gitMeaning

	person bool // who settles what waits has opened it: no command ran

	mu   sync.Mutex
	kept *kept // it waits for an answer; nil: it goes with the call
	gone bool  // applied or dropped
}

// untouched tells whether the upper halves are empty.
func (l *layered) untouched() (bool, error) {
	for _, t := range l.trees {
		entries, err := os.ReadDir(t.Upper())
		if err != nil || len(entries) > 0 {
			return false, err
		}
	}
	return true, nil
}

// merge makes what the program did part of what earlier ones left.
func (l *layered) merge() error {
	var merged []layer.Tree
	for _, t := range l.trees {
		if t.Cache { // a new one for each command
			merged = append(merged, t)
			continue
		}
		earlier, found := l.base.tree(t.Root)
		if !found {
			t.Later = map[string]time.Time{"": l.began}
			merged = append(merged, t)
			continue
		}
		m, err := layer.Merge(earlier, t, l.began, filepath.Join(l.dir, "with-"+filepath.Base(t.Dir)))
		if err != nil {
			return err
		}
		if err := layer.Remove(t.Dir); err != nil { // it is used up
			return err
		}
		merged = append(merged, m)
	}
	for _, earlier := range l.base.trees {
		if _, found := (&kept{trees: merged}).tree(earlier.Root); !found {
			return fmt.Errorf("what earlier commands of this session changed in %s is not part of this one", earlier.Root)
		}
	}
	l.trees = merged
	return nil
}

// ID is the name of the layer, under which what was applied can be taken back.
func (c *changeSet) ID() string { return filepath.Base(c.layer.dir) }

// List gives the changes, and the files that commits among them hold.
func (c *changeSet) List() []toolcrib.Change {
	return c.layer.judgeLed(append(c.git.judged(c.set.Changes), c.git.carried()...))
}

func changesOf(list []layer.Change) []toolcrib.Change {
	out := make([]toolcrib.Change, 0, len(list))
	for _, change := range list {
		out = append(out, toolcrib.Change{
			Path: change.Path, Before: change.Before.Info(), After: change.After.Info(), Target: change.After.Target, From: change.From, Moved: change.Moved,
			ModeOnly: change.ModeOnly, Linked: change.Before.Mode.IsRegular() && change.Before.Links > 1, Conflict: change.Conflict,
		})
	}
	return out
}

// Read gives a part of what the program wrote to a file.
func (c *changeSet) Read(path string, from, most int64) ([]byte, error) {
	return c.set.Content(path, from, most)
}

// Floor says what is asked about in every mode.
func (c *changeSet) Floor() []string { return c.set.Floor() }

// Overwrite has a change count although somebody else changed its path.
func (c *changeSet) Overwrite(path string) { c.set.Overwrite(path) }

// Show tells a person what would be applied.
func (c *changeSet) Show(accept func(path string) bool) string {
	accepted := func(change layer.Change) bool { return accept(change.Path) }
	return c.git.show(c.set.Shows(accepted)) + c.set.Show(accepted, c.said)
}

// said tells whether a change is shown by what it means to a repository.
func (c *changeSet) said(change layer.Change) bool { return c.git.hides(change.Path) }

// Apply carries out what was accepted, and drops the rest. What waited for an answer
// goes on waiting if it cannot be applied.
func (c *changeSet) Apply(ctx context.Context, accept func(path string) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	if c.layer.base != nil { // so that a failure or a crash leaves all of it
		if err := c.keep(ctx); err != nil {
			return err
		}
	}
	err := c.layer.apply(ctx, c, accept)
	if errors.Is(err, layer.ErrStuck) { // what was taken out of the tree lies in there
		c.gone = true
		return errors.Join(err, c.git.close(), c.layer.lock.Close())
	}
	if err != nil {
		if c.kept != nil {
			err = errors.Join(err, layer.RestoreMarks(filepath.Join(c.layer.dir, marksName)), c.set.Restore(), c.kept.write())
		}
		return err
	}
	c.gone = true
	_ = c.git.close() // it was only read, and what was applied counts
	c.layer.keep()
	return nil
}

// Keep has the changes wait for an answer.
func (c *changeSet) Keep(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return "", errors.New("they were applied or dropped")
	}
	if err := c.set.Restore(); err != nil {
		return "", err
	}
	err := c.keep(ctx)
	return c.kept.id(), err
}

func (c *changeSet) keep(ctx context.Context) (err error) {
	if c.kept == nil {
		c.kept, err = c.layer.keepAs(ctx, c.set)
	}
	return err
}

// others tells whether other commands than this one have left something in a layer.
func (l *layered) others() bool {
	return l.base != nil && (l.base.rec.Mixed || l.base.rec.Line != l.command.digest())
}

// Others tells whether other commands have made a part of the changes.
func (c *changeSet) Others() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.layer.others()
}

// Whole is false: a person may take a part.
func (c *changeSet) Whole() bool { return false }

// Earlier names what waits for an answer whatever becomes of this.
func (c *changeSet) Earlier() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept != nil && (c.person || !c.gone) {
		return c.kept.id()
	}
	return c.layer.base.id()
}

// Drop forgets what the program changed. What waits for an answer does so further on.
func (c *changeSet) Drop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	c.gone = true
	if c.kept != nil { // directories were opened to be looked into
		return errors.Join(c.set.Restore(), c.git.close(), c.layer.release())
	}
	return errors.Join(c.git.close(), c.layer.remove())
}

// DropAll forgets also what waits for an answer.
func (c *changeSet) DropAll(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	if c.person { // there is a command for that
		return nil
	}
	if err := c.git.close(); err != nil {
		return err
	}
	if c.kept == nil && c.layer.base == nil {
		c.gone = true
		return c.layer.remove()
	}
	lock, err := c.layer.lockApplying(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // it gives the lock back, and nothing was written to it
	c.gone = true
	if c.kept != nil {
		return c.kept.retire()
	}
	base := c.layer.base
	c.layer.base = nil
	if isKept(base.dir) {
		err = base.retire()
	} else {
		err = base.close()
	}
	return errors.Join(err, c.layer.remove())
}

var _ toolcrib.Changes = (*changeSet)(nil)

// OpenKept opens a kept layer, for a person who settles it. With dir it must be the
// very one that the person has seen; without, it can only be looked at.
func OpenKept(ctx context.Context, layers, id, dir string) (toolcrib.Changes, Kept, error) {
	lock := lockAlone
	if dir == "" { // it is only looked at
		lock = lockShared
	}
	k, err := takeKept(ctx, layers, id, lock)
	if err != nil {
		return nil, Kept{}, err
	}
	if dir != "" && filepath.Base(k.dir) != dir {
		return nil, Kept{}, errors.Join(errOther, k.close())
	}
	set, err := layer.Read(ctx, k.trees, k.rec.Began)
	if err != nil {
		err = fmt.Errorf("%w. If that cannot be mended, 'toolcrib layers drop %s' forgets the layer", err, id)
		return nil, Kept{}, errors.Join(err, k.close())
	}
	k.rec.Dir = filepath.Base(k.dir)
	l := &layered{dir: k.dir, began: k.rec.Began, trees: k.trees, lock: k.lock}
	l.takeLed(k.rec.ledRecord)
	set.KeepApart(l.apart)
	c := l.changeSet(set)
	c.person, c.kept = true, k
	return c, k.rec.Kept, nil
}

// errOther: what a person was shown is not what waits now.
var errOther = errors.New("another command has changed the layer since it was shown: look at it again")

func lockAlone(path string) (*os.File, error) {
	f, err := durable.TryLock(path, false)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it was settled meanwhile
	}
	return f, err
}

// takeKept finds a kept layer and keeps those out of it who would be in the way.
func takeKept(ctx context.Context, layers, id string, take func(string) (*os.File, error)) (*kept, error) {
	for range 2 {
		k := namedKept(layers, id)
		if k == nil {
			return nil, ErrSettled
		}
		lock, err := take(filepath.Join(k.dir, lockName))
		if err != nil {
			return nil, err
		}
		if lock == nil && !isKept(k.dir) {
			continue
		}
		if lock == nil {
			return nil, fmt.Errorf("a command of its session works on the layer %s now: try again when that has ended", id)
		}
		if !cutOff(k.dir) && isKept(k.dir) {
			k.lock = lock
			return k, nil
		}
		if err := lock.Close(); err != nil {
			return nil, err
		}
		if err := recoverOne(ctx, layers, k.dir); err != nil {
			return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
		}
	}
	return nil, ErrSettled
}

func namedKept(layers, id string) *kept {
	for _, k := range readAllKept(layers) {
		if k.rec.ID == id {
			return k
		}
	}
	return nil
}
