package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// RetryPolicy says how often a tool is tried again that could not do its work
// just now. The zero value never tries again.
type RetryPolicy struct {
	Max   int           // further attempts after the first
	Delay time.Duration // before the second attempt, twice that before each next one; default 200 ms
	// For gives other numbers for a tool; nil, or false: the ones above. Only
	// how often is decided there, never whether repeating it is safe.
	For func(Spec) (limit int, delay time.Duration, ok bool)
	// Jitter gives a number from 0 to 1, so that many callers do not come back
	// at the same moment. Nil: a random one.
	Jitter func() float64
}

const (
	defaultDelay = 200 * time.Millisecond
	maxDelay     = 30 * time.Second
	maxRetries   = 10 // whatever a policy says
)

// Retry is a wrapper for [Crib.Around] that tries a tool again. It does so
// only where a second run does no harm and may help:
//
//   - the tool is repeatable (it says Idempotent, or its effects only read) and
//     refused with [Unavailable], or any tool gave an error marked by
//     [Unstarted];
//   - the time of the call lasts beyond the wait.
//
// A failed Result, a panic and every other code are final. So is an [Error]
// that names a tool: it comes from a call of its own, which had its attempts,
// and trying those again at every level would multiply them. A tool therefore
// leaves [Error.Tool] empty in what it says of itself; the crib fills it in.
func Retry(p RetryPolicy) func(Tool) Tool {
	return func(t Tool) Tool {
		limit, delay := p.of(t.Spec)
		if limit <= 0 || t.Run == nil {
			return t
		}
		run, safe := t.Run, repeatable(&t.Spec)
		t.Run = func(ctx context.Context, env *Env, input json.RawMessage) (*Result, error) {
			for n := 1; ; n++ {
				result, err := run(ctx, env, input)
				if err == nil || n > limit || !passing(err, safe) || !p.pause(ctx, env, n, delay) {
					if err != nil && ctx.Err() != nil {
						return nil, ctx.Err() // nobody waits: that is the reason, whatever came before
					}
					return result, err
				}
				countAttempt(ctx)
			}
		}
		return t
	}
}

func (p *RetryPolicy) of(s Spec) (limit int, delay time.Duration) {
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
func repeatable(s *Spec) bool {
	return s.Idempotent || s.Effects.Within(Reads|Secrets)
}

// passing reports whether an error may be gone at the next attempt, and that
// attempt is safe.
func passing(err error, repeatable bool) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNobody) {
		return false
	}
	e, ours := errors.AsType[*Error](err)
	if ours && (e.Code != Unavailable || e.Tool != "") {
		return false
	}
	if _, nothing := errors.AsType[unstarted](err); nothing {
		return true
	}
	return ours && repeatable
}

// pause waits before attempt n+1 and tells screens of it; false if there is no
// time for it, or nobody waits any more.
func (p *RetryPolicy) pause(ctx context.Context, env *Env, n int, delay time.Duration) bool {
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
		env.Emit(Event{Kind: "retry", Text: fmt.Sprintf("attempt %d begins in %v", n+1, wait.Round(time.Millisecond))})
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

// Unstarted marks an error that came before the tool did anything: no
// connection was made, no program started. Such a call can be made again
// whatever the tool does. Its text and its chain stay as they are.
func Unstarted(err error) error {
	if err == nil {
		return nil
	}
	return unstarted{err}
}

type unstarted struct{ error }

func (u unstarted) Unwrap() error { return u.error }

// tally counts the attempts of one run. It goes with the context, since that
// is all a wrapper has in common with the step that runs it.
type tally struct {
	context.Context
	again atomic.Int32
}

type tallyKey struct{}

// Value gives the tally itself for its key.
func (t *tally) Value(key any) any {
	if key == (tallyKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// attempts is for the record: zero unless there was more than one.
func (t *tally) attempts() int {
	if n := int(t.again.Load()); n > 0 {
		return n + 1
	}
	return 0
}

func countAttempt(ctx context.Context) {
	if t, ok := ctx.Value(tallyKey{}).(*tally); ok {
		t.again.Add(1)
	}
}
