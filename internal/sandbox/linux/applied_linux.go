//go:build amd64 || arm64

package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/gitchange"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// Beside its record an applied layer has a list of what was changed, with the
// differences. While it is taken back it has a file that says so, which the sweep looks
// for.
const (
	listName = "changes.txt"
	undoName = "undoing"
)

// describe writes down what is about to be applied, for people who look at it later.
func (l *layered) describe(c *changeSet, accept func(layer.Change) bool) (err error) {
	f, err := os.OpenFile(filepath.Join(l.dir, listName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("describing what is applied: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteString(c.git.show(c.set.Shows(accept))); err != nil {
		return fmt.Errorf("describing what is applied: %w", err)
	}
	return errors.Join(c.set.Describe(f, accept, c.said), l.writeLed())
}

// Applied is what a command changed, as it was applied.
type Applied struct {
	dir string
	of  *layer.Applied
}

// OpenApplied finds an applied layer by its ID; [fs.ErrNotExist] if it was taken back or
// is too old to be kept.
func OpenApplied(layers, id string) (*Applied, error) {
	if id == "" || strings.ContainsAny(id, "/.\x00") {
		return nil, fs.ErrNotExist
	}
	for _, name := range []string{appliedPrefix + id, id} { // the second: it was applied, and Toolcrib was killed right then
		dir := filepath.Join(layers, name)
		of, err := readApplied(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &Applied{dir, of}, nil
	}
	return nil, fs.ErrNotExist
}

// List gives the beginning of what was changed, with the differences, and where all of
// it can be read.
func (a *Applied) List(most int) (text []byte, path string, err error) {
	path = filepath.Join(a.dir, listName)
	text, err = plainfile.Begin(path, int64(most))
	if at := bytes.LastIndexByte(text, '\n'); at >= 0 && len(text) == most {
		text = text[:at+1]
	}
	return text, path, err
}

// NotKept says why it cannot be taken back; empty: it can.
func (a *Applied) NotKept() string { return a.of.NotKept() }

// Unchanged tells whether everything is as it was applied, and names what is not.
func (a *Applied) Unchanged() error { return a.of.Unchanged() }

// readApplied reads what was applied. New Git objects stay when it is taken back: nothing
// leads to them any more, and what somebody has made since may need them.
func readApplied(dir string) (*layer.Applied, error) {
	of, err := layer.ReadApplied(filepath.Join(dir, recordName))
	if err != nil {
		return nil, err
	}
	of.Leave(func(path string) bool {
		_, name, ok := gitDirectory(path)
		return ok && gitchange.Adds(name)
	})
	return of, nil
}

// Undo takes it back: all of it, or nothing if a path is no longer as it was applied.
func (a *Applied) Undo(ctx context.Context) error {
	lock, err := durable.TryLock(filepath.Join(a.dir, lockName), true)
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("taking changes back: %w", err)
	}
	if lock == nil {
		return errors.New("another process works on these changes: try again")
	}
	defer lock.Close() //nolint:errcheck // it gives the lock back, and nothing was written to it
	applying, err := (&layered{dir: a.dir}).lockApplying(ctx)
	if err != nil {
		return err
	}
	defer applying.Close() //nolint:errcheck // it gives the lock back, and nothing was written to it
	// Somebody may have taken them back before the locks were ours.
	if a.of, err = readApplied(a.dir); err != nil {
		return err
	}
	marker := filepath.Join(a.dir, undoName)
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return fmt.Errorf("taking changes back: %w", err)
	}
	if err := a.of.Undo(ctx); err != nil {
		if errors.Is(err, layer.ErrStuck) {
			return err // the next sweep tries again
		}
		return errors.Join(err, os.Remove(marker))
	}
	return layer.Remove(a.dir)
}
