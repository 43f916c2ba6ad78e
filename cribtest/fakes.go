package cribtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Reply is one thing a scripted person does when asked.
type Reply struct {
	Answer toolcrib.Answer
	Err    error // answered instead: nobody could be asked
	Silent bool  // answers nothing until the question is withdrawn
}

// Person is an approver who follows a script: each question gets the next
// reply. A question after the last one cannot be asked.
type Person struct {
	Script []Reply // must not change once questions are asked

	mu    sync.Mutex
	asked []toolcrib.Question
}

var _ toolcrib.Approver = (*Person)(nil)

// Approve gives the next reply of the script.
func (p *Person) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	p.mu.Lock()
	n := len(p.asked)
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	if n >= len(p.Script) {
		return toolcrib.Answer{}, errors.New("the script has no further reply")
	}
	reply := p.Script[n]
	if reply.Silent {
		<-ctx.Done()
		return toolcrib.Answer{}, ctx.Err()
	}
	return reply.Answer, reply.Err
}

// Asked gives the questions so far.
func (p *Person) Asked() []toolcrib.Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// Clock is a clock that stands still until it is moved. The zero Clock shows
// the first of January 2026, noon, UTC.
type Clock struct {
	mu    sync.Mutex
	moved time.Duration
}

// Now is the time the clock shows; put it where a Now function is asked for.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC).Add(c.moved)
}

// Advance moves the clock forward, or back by a negative duration.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved += d
}

// GuardFunc is a function as a Guard.
type GuardFunc func(context.Context, toolcrib.Review) (*toolcrib.Verdict, error)

// Judge calls the function.
func (f GuardFunc) Judge(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	return f(ctx, r)
}

// Allow is a guard that allows every call.
func Allow() toolcrib.Guard { return always(toolcrib.Allow, "everything is allowed here") }

// Ask is a guard that wants a person asked about every call.
func Ask(reason string) toolcrib.Guard { return always(toolcrib.Ask, reason) }

// Deny is a guard that denies every call.
func Deny(reason string) toolcrib.Guard { return always(toolcrib.Deny, reason) }

func always(d toolcrib.Decision, reason string) toolcrib.Guard {
	return GuardFunc(func(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) {
		return &toolcrib.Verdict{Decision: d, Guard: "fake", Reason: reason}, nil
	})
}
