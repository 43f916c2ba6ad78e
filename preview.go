package toolcrib

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/worker"
)

// preview has the tool tell what it would change. A person is not asked about
// what would fail anyhow, or about what a tool cannot tell.
func (c *Crib) preview(ctx context.Context, f *flight) (string, error) {
	show := f.entry.tool.Preview
	if show == nil {
		return "", nil
	}
	env := &Env{Call: f.call, Emit: dropEvent}
	env.Call.Input = f.input
	if len(f.grant.Dirs) > 0 {
		handle, err := files.New(f.grant.within(Reads).Dirs, c.filesOptions(f, f.grant)) // nothing was approved yet
		if err != nil {
			return "", refuse(CodeUnavailable, f.call.Tool, "the granted directories cannot be handed out", err)
		}
		defer handle.Close() //nolint:errcheck // it was only read
		env.Files = handle
	}
	ctx, cancel := context.WithTimeout(ctx, f.limits.Timeout)
	defer cancel()
	text, err := worker.Within(ctx, func() (string, error) { return show(ctx, env, f.input) })
	switch e, own := AsError(err); {
	case err == nil:
		return text, nil
	case own:
		told := *e
		told.Tool = f.call.Tool
		return "", &told
	case ctx.Err() != nil:
		return "", overdue(f.call.Tool, "finding out what it would change", ctx.Err())
	case errors.Is(err, worker.ErrGone):
		return "", refuse(CodeInternal, f.call.Tool, "the tool broke down before a person could be asked", err)
	}
	return "", foreseen{err}
}

// foreseen is the failure of a tool that was noticed before it ran. The call
// then ends as if it had run.
type foreseen struct{ error }
