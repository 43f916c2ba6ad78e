//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// changeSet is what a program left in its layer, as the crib judges it.
type changeSet struct {
	layer *layered
	set   *layer.Set

	mu   sync.Mutex
	gone bool // applied or dropped
}

// List gives the changes.
func (c *changeSet) List() []toolcrib.Change {
	out := make([]toolcrib.Change, 0, len(c.set.Changes))
	for _, change := range c.set.Changes {
		out = append(out, toolcrib.Change{
			Path: change.Path, Before: change.Before.Info(), After: change.After.Info(), Target: change.After.Target, From: change.From,
			ModeOnly: change.ModeOnly, Linked: change.Before.Mode.IsRegular() && change.Before.Links > 1, Conflict: change.Conflict,
		})
	}
	return out
}

// Read gives the beginning of what the program wrote to a file.
func (c *changeSet) Read(path string, most int64) ([]byte, error) { return c.set.Content(path, most) }

// Show tells a person what would be applied.
func (c *changeSet) Show(accept func(path string) bool) string {
	return c.set.Show(func(change layer.Change) bool { return accept(change.Path) })
}

// Apply carries out what was accepted, and drops the rest.
func (c *changeSet) Apply(ctx context.Context, accept func(path string) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	lock, err := c.layer.lockApplying(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // it gives the lock back, and nothing was written to it
	err = c.set.Apply(ctx, layer.Options{
		Record: filepath.Join(c.layer.dir, recordName),
		Accept: func(change layer.Change) bool { return accept(change.Path) },
	})
	if errors.Is(err, layer.ErrStuck) { // what was taken out of the tree lies in there
		c.gone = true
		return errors.Join(err, c.layer.lock.Close())
	}
	if err != nil {
		return err
	}
	c.gone = true
	c.layer.keep()
	return nil
}

// Drop forgets the changes.
func (c *changeSet) Drop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	c.gone = true
	return c.layer.remove()
}

var _ toolcrib.Changes = (*changeSet)(nil)
