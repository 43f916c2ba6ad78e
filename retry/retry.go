// Package retry tries tools again that could not do their work just now, where a
// second run does no harm and may help.
package retry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/attempts"
)

// Policy says how often a tool is tried again that could not do its work
// just now. The zero value never tries again.
type Policy struct {
	Max   int           // further attempts after the first
	Delay time.Duration // before the second attempt, twice that before each next one; default 200 ms
	// For gives other numbers for a tool; nil, or false: the ones above. Only
	// how often is decided there, never whether repeating it is safe.
	For func(toolcrib.Entry) (limit int, delay time.Duration, ok bool)
	// Jitter gives a number from 0 to 1, so that many callers do not come back
	// at the same moment. Nil: a random one.
	Jitter func() float64
}

const (
	defaultDelay = 200 * time.Millisecond
	maxDelay     = 30 * time.Second
	maxRetries   = 10 // whatever a policy says
)

// Around is a wrapper for [toolcrib.Crib.Around] that tries a tool again. It does so
// only where a second run does no harm and may help:
//
//   - the tool is repeatable (it says Idempotent, or its effects only read) and
//     refused with [toolcrib.CodeUnavailable], or any tool gave an error marked by
//     [Safe];
//   - the time of the call lasts beyond the wait.
//
// A failed Result, a panic and every other code are final. So is a [toolcrib.Error]
// that names a tool: it comes from a call of its own, which had its attempts,
// and trying those again at every level would multiply them. A tool therefore
// leaves [toolcrib.Error.Tool] empty in what it says of itself; the crib fills it in.
func Around(p Policy) func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool {
	return func(e toolcrib.Entry, t toolcrib.Tool) toolcrib.Tool {
		limit, delay := p.of(e)
		if limit <= 0 || t.Run == nil {
			return t
		}
		run, again := t.Run, repeatable(&t.Spec)
		t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			for n := 1; ; n++ {
				result, err := run(ctx, env, input)
				if err == nil || n > limit || !passing(err, again) || !p.pause(ctx, env, n, delay) {
					if err != nil && ctx.Err() != nil {
						return nil, ctx.Err() // nobody waits: that is the reason, whatever came before
					}
					return result, err
				}
				attempts.Again(ctx)
			}
		}
		return t
	}
}

func (p *Policy) of(s toolcrib.Entry) (limit int, delay time.Duration) {
	limit, delay = p.Max, p.Delay
	if p.For != nil {
		if l, d, ok := p.For(s); ok {
			limit, delay = l, d
		}
	}
	if delay <= 0 {
		delay = defaultDelay
	}
	return min(limit, maxRetries), delay
}

// repeatable reports whether a second run changes nothing more. Asking a
// person a second time is not nothing.
func repeatable(s *toolcrib.Spec) bool {
	return s.Idempotent || s.Effects.Within(toolcrib.Reads|toolcrib.UsesSecrets)
}

// passing reports whether an error may be gone at the next attempt, and that
// attempt is safe.
func passing(err error, repeatable bool) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, toolcrib.ErrNobody) {
		return false
	}
	e, ours := toolcrib.AsError(err)
	if ours && (e.Code != toolcrib.CodeUnavailable || e.Tool != "") {
		return false
	}
	if _, nothing := errors.AsType[safe](err); nothing {
		return true
	}
	return ours && repeatable
}

// pause waits before attempt n+1 and tells screens of it; false if there is no
// time for it, or nobody waits any more.
func (p *Policy) pause(ctx context.Context, env *toolcrib.Env, n int, delay time.Duration) bool {
	jitter := rand.Float64
	if p.Jitter != nil {
		jitter = p.Jitter
	}
	full := min(maxDelay, delay<<min(n-1, 16))
	if full <= 0 { // the shift ran over
		full = maxDelay
	}
	wait := full/2 + time.Duration(min(1, max(0, jitter()))*float64(full/2))
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return false
	}
	if env != nil && env.Emit != nil {
		env.Emit(toolcrib.Event{Kind: "retry", Text: fmt.Sprintf("attempt %d begins in %v", n+1, wait.Round(time.Millisecond))})
	}
	clock := time.NewTimer(wait)
	defer clock.Stop()
	select {
	case <-clock.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Safe marks an error that came before the tool did anything: no
// connection was made, no program started. Such a call can be made again
// whatever the tool does. Its text and its chain stay as they are.
func Safe(err error) error {
	if err == nil {
		return nil
	}
	return safe{err}
}

type safe struct{ error }

func (s safe) Unwrap() error { return s.error }
