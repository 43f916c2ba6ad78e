//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitchange"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// reverse is what taking back an applied layer does, as the crib judges it: like the
// changes of a command, by the bytes that come back and, in repositories, by what it means.
type reverse struct {
	of   *Applied
	set  *layer.Set
	git  *gitMeaning
	led  *layered // has only what others obey by links and settings
	head string

	close func() error // once
}

// Reverse opens what taking it back would do. A person who is asked reads head above it.
func (a *Applied) Reverse(head string) (toolcrib.Changes, error) {
	set, err := a.of.Changes()
	if err != nil {
		return nil, err
	}
	led, err := readLed(a.dir)
	if err != nil {
		return nil, err
	}
	git := readGit(set)
	return &reverse{of: a, set: set, git: git, led: led, head: head, close: sync.OnceValue(git.close)}, nil
}

// ID is empty: an undo cannot be taken back in turn.
func (*reverse) ID() string { return "" }

// List gives the changes, and the files that commits and the index would have. That commits
// of the command are on no branch any more is what is wanted: nobody has moved the branch
// since, and they stay as objects.
func (r *reverse) List() []toolcrib.Change {
	list := append(r.git.judged(r.set.Changes), r.git.carried()...)
	for i := range list {
		if v := list[i].Git; v != nil && v.Decision == toolcrib.Ask && v.Rule == gitchange.History {
			v.Decision = toolcrib.Allow
		}
	}
	return r.led.judgeLed(list)
}

// Read gives a part of what a file held before.
func (r *reverse) Read(path string, from, most int64) ([]byte, error) {
	return r.set.Content(path, from, most)
}

// Floor says what is asked about in every mode.
func (r *reverse) Floor() []string { return r.set.Floor() }

// Overwrite has nothing to do: what somebody changed since is never overwritten.
func (*reverse) Overwrite(string) {}

// Show tells a person what taking it back would do.
func (r *reverse) Show(accept func(path string) bool) string {
	accepted := func(c layer.Change) bool { return accept(c.Path) }
	return r.head + r.git.show(r.set.Shows(accepted)) +
		r.set.ShowUndo(func(c layer.Change) bool { return !accepted(c) || r.git.hides(c.Path) || r.git.idle(c.Path) })
}

// Apply takes it back.
func (r *reverse) Apply(ctx context.Context, accept func(path string) bool) error {
	for i := range r.set.Changes {
		if !accept(r.set.Changes[i].Path) {
			return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "what a command changed is taken back as a whole, and no part of it alone"}
		}
	}
	err := r.of.Undo(ctx)
	if conflict, ok := errors.AsType[*layer.ConflictError](err); ok {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: conflict.Error(), Err: err}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: "it was taken back already", Err: err}
	}
	return errors.Join(err, r.close())
}

// Keep keeps nothing: what was applied waits by itself, and can be taken back again.
func (*reverse) Keep(context.Context) (string, error) {
	return "", errors.New("an undo does not wait for an answer, so run it again when there is one")
}

// Earlier is nothing.
func (*reverse) Earlier() string { return "" }

// Others is false: it has what one command did.
func (*reverse) Others() bool { return false }

// Whole is true: a part alone may be something that there never was.
func (*reverse) Whole() bool { return true }

// Drop leaves everything as it was applied.
func (r *reverse) Drop() error { return r.close() }

// DropAll does the same.
func (r *reverse) DropAll(context.Context) error { return r.close() }

var _ toolcrib.Changes = (*reverse)(nil)
