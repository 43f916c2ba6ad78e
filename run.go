package toolcrib

import (
	"context"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib/internal/attempts"
	"github.com/toolcrib/toolcrib/internal/meet"
	"github.com/toolcrib/toolcrib/internal/worker"
)

// run does the work, within the deadline, in a goroutine of its own: a tool
// that hangs, panics or ends its goroutine takes nothing else with it.
func (c *Crib) run(ctx context.Context, e equipped) (ran, error) {
	f := e.flight
	if err := ctx.Err(); err != nil { // who asked has gone, and nothing has been done yet
		return ran{}, overdue(f.call.Tool, "waiting to run", err)
	}
	do := f.entry.tool.Run
	if len(c.Around) > 0 {
		counted := &attempts.Counter{Context: ctx}
		ctx = counted
		defer func() { f.rec.Attempts = counted.Attempts() }()
		tool := f.entry.tool
		for _, wrap := range c.Around {
			tool = wrap(f.entry.native, tool)
		}
		do = tool.Run
	}
	limit := meet.Times(f.grant.Time, f.entry.tool.Timeout)
	if limit == 0 {
		limit = f.limits.Timeout
	}
	limit = meet.Times(limit, f.limits.MaxTimeout)
	run := &worker.Deadline{Context: ctx, At: time.Now().Add(limit)}
	defer run.End(context.Canceled)
	input := f.input
	if f.sent != nil {
		input = f.sent
	}
	w := c.workers.Start(func() (*Result, error) { return do(run, e.env, input) }, limit)
	var got worker.Outcome[*Result]
	select {
	case got = <-w.Done:
	case <-ctx.Done():
		run.End(ctx.Err())
	case <-w.Clock.C:
		run.End(context.DeadlineExceeded)
	}
	if run.Err() != nil {
		// A good tool notices and says what it got done so far.
		w.Clock.Reset(f.limits.Grace)
		select {
		case got = <-w.Done:
		case <-w.Clock.C:
			if w.Leave() { // its clock has run out, and nobody will start it again
				c.log().Warn("tool does not stop at its deadline", "tool", f.call.Tool, "call", f.call.ID)
				return ran{}, overdue(f.call.Tool, "the tool was running; it did not stop and may still be at work", run.Err())
			}
			got = <-w.Done
		}
	}
	if w.Clock.Stop(); !got.Gone {
		c.workers.Park(w)
	}
	if got.Err != nil {
		return c.ranBadly(run, f, got)
	}
	if got.Result == nil {
		return ran{}, refuse(CodeInternal, f.call.Tool, "the tool gave no result", nil)
	}
	f.ended = got.Result.ended // before anybody makes a result of their own of it
	return ran{f, got.Result}, nil
}

// ranBadly sorts what a tool's error means: a fault of ours, the deadline, a
// refusal with a code of its own, or a plain failure that the model can read.
func (c *Crib) ranBadly(ctx context.Context, f *flight, got worker.Outcome[*Result]) (ran, error) {
	name := f.call.Tool
	if got.Stack != nil || got.Gone {
		c.log().Error("tool panicked", "tool", name, "call", f.call.ID, "err", got.Err, "stack", string(got.Stack))
		return ran{}, refuse(CodeInternal, name, "the tool broke down; this is a fault in the tool, not in the call", got.Err)
	}
	if cause := ctx.Err(); cause != nil && (errors.Is(got.Err, cause) || errors.Is(got.Err, context.DeadlineExceeded) || errors.Is(got.Err, context.Canceled)) {
		return ran{}, overdue(name, "the tool was running", cause)
	}
	if e, ok := AsError(got.Err); ok {
		own := *e
		own.Tool = name
		if hint := f.hint(own.Code == CodeInvalid); hint != "" {
			own.Message, own.Fields = own.Message+". "+hint, f.unfit
		}
		return ran{}, &own
	}
	return ran{f, Failed(got.Err.Error())}, nil
}
