//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/internal/gitchange"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// emptied is what a program did that took back all that waited for an answer: its files are
// as they are live. For the next command of the session that is a change as any other, and
// it is judged as one: from what waited to what is live. If it is not allowed, what waited
// goes on waiting.
type emptied struct {
	*changeSet

	waited *layer.Set // read from the layer that waits
}

// emptied reads what was taken back.
func (l *layered) emptied(ctx context.Context, c *changeSet) (toolcrib.Changes, error) {
	waited, err := layer.Read(ctx, l.base.trees, l.base.rec.Began)
	if err != nil {
		return nil, err
	}
	if err := waited.Restore(); err != nil {
		return nil, err
	}
	return &emptied{c, waited}, nil
}

// ID is empty: nothing is applied that could be taken back.
func (*emptied) ID() string { return "" }

// List turns what waited round. A repository that commands made is never applied, so that
// nothing is lost with it. Of what waited in another one nobody knows the meaning by now: a
// person is asked whether it may go.
func (e *emptied) List() []toolcrib.Change {
	out := make([]toolcrib.Change, 0, len(e.waited.Changes))
	for _, c := range e.waited.Changes {
		change := toolcrib.Change{Path: c.Path, Before: c.After.Info(), After: c.Before.Info(), Target: c.Before.Target, ModeOnly: c.ModeOnly}
		if repo, _, inGit := gitDirectory(c.Path + "/."); inGit {
			if made, found := e.waited.Find(repo); found && !made.Before.Exists() {
				continue
			}
			change.Git = &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: gitchange.Guard, Reason: difference.Path(c.Path) + ": what waits in a repository is taken back"}
		}
		out = append(out, change)
	}
	return out
}

// Read gives a part of a live file.
func (e *emptied) Read(path string, from, most int64) ([]byte, error) {
	view, err := e.waited.View(filepath.Dir(path), false)
	if err != nil {
		return nil, err
	}
	f, _, err := view.Open(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.NewSectionReader(f, from, most))
	return content, errors.Join(err, f.Close())
}

// Show tells a person what would be dropped.
func (e *emptied) Show(func(string) bool) string {
	return fmt.Sprintf("The command took back all that earlier commands of its session had left as layer %s. Yes drops that layer, no has it wait further on. Your files stay as they are.\n%s",
		e.layer.base.id(), e.waited.Show(func(layer.Change) bool { return true }, func(layer.Change) bool { return false }))
}

// Floor has nothing to ask: the live files stay as they are.
func (*emptied) Floor() []string { return nil }

// errInPart: what waits can be dropped only as it is.
var errInPart = errors.New("what waits can only be dropped as a whole")

// Apply drops what waited.
func (e *emptied) Apply(ctx context.Context, accept func(path string) bool) error {
	for _, c := range e.List() {
		if !accept(c.Path) {
			return errInPart
		}
	}
	return errors.Join(e.waited.Restore(), e.changeSet.DropAll(ctx))
}

// Keep leaves what waits as it was before.
func (*emptied) Keep(context.Context) (string, error) {
	return "", errors.New("what waits is as it was before the command")
}

// Drop forgets that anything was taken back.
func (e *emptied) Drop() error {
	var err error
	if e.waits() { // directories were opened to be looked into
		err = e.waited.Restore()
	}
	return errors.Join(err, e.changeSet.Drop())
}

// waits tells whether nothing has been done yet.
func (e *emptied) waits() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.gone && isKept(e.layer.base.dir)
}

// DropAll is what a person does who says no: they want to keep what waits.
func (e *emptied) DropAll(context.Context) error { return e.Drop() }

var _ toolcrib.Changes = (*emptied)(nil)
