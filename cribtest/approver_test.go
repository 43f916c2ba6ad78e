package cribtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// counter is an approver: each question waits for the answer to its call.
type counter struct {
	mu      sync.Mutex
	waiting map[string]chan toolcrib.Answer
	opened  chan struct{} // closed and made anew when a question is put
}

func newCounter() *counter {
	return &counter{waiting: map[string]chan toolcrib.Answer{}, opened: make(chan struct{})}
}

func (c *counter) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	if err := ctx.Err(); err != nil {
		return toolcrib.Answer{}, err
	}
	got := make(chan toolcrib.Answer, 1)
	c.mu.Lock()
	c.waiting[q.Call.ID] = got
	close(c.opened)
	c.opened = make(chan struct{})
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, q.Call.ID)
		c.mu.Unlock()
	}()
	select {
	case a := <-got:
		return a, nil
	case <-ctx.Done():
		return toolcrib.Answer{}, ctx.Err()
	}
}

func (c *counter) answer(ctx context.Context, q toolcrib.Question, a toolcrib.Answer) error {
	for {
		c.mu.Lock()
		got, opened := c.waiting[q.Call.ID], c.opened
		c.mu.Unlock()
		if got != nil {
			got <- a
			return nil
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return fmt.Errorf("nothing is asked about %s: %w", q.Call.ID, ctx.Err())
		}
	}
}

func TestApproverSuite(t *testing.T) {
	Approver(t, func(testing.TB) (toolcrib.Approver, Answering) {
		c := newCounter()
		return c, c.answer
	})
}

// approverFunc is a function as an Approver.
type approverFunc func(context.Context, toolcrib.Question) (toolcrib.Answer, error)

func (f approverFunc) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	return f(ctx, q)
}

// TestApproverSuiteCanFail bends an approver in one way at a time and wants the
// check that is about it to notice.
func TestApproverSuiteCanFail(t *testing.T) {
	yes := toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}
	// got makes an approver whose answers are changed before the call gets them.
	got := func(change func(q toolcrib.Question, a *toolcrib.Answer, err *error)) func() (toolcrib.Approver, Answering) {
		return func() (toolcrib.Approver, Answering) {
			c := newCounter()
			return approverFunc(func(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
				a, err := c.Approve(ctx, q)
				change(q, &a, &err)
				return a, err
			}), c.answer
		}
	}
	// remembering makes an approver that takes a yes for all questions alike.
	remembering := func(key func(toolcrib.Question) string) func() (toolcrib.Approver, Answering) {
		return func() (toolcrib.Approver, Answering) {
			var known sync.Map
			c := newCounter()
			return approverFunc(func(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
				if _, ok := known.Load(key(q)); ok {
					return yes, nil
				}
				a, err := c.Approve(ctx, q)
				if err == nil {
					known.Store(key(q), true)
				}
				return a, err
			}), c.answer
		}
	}
	for _, c := range []struct {
		name  string
		check string
		open  func() (toolcrib.Approver, Answering)
	}{
		{"hears no yes", "a yes reaches the call", got(func(_ toolcrib.Question, a *toolcrib.Answer, _ *error) { a.Decision = toolcrib.Deny })},
		{"does not say who", "a yes reaches the call", got(func(_ toolcrib.Question, a *toolcrib.Answer, _ *error) { a.By = "" })},
		{"makes up arguments", "a yes reaches the call", got(func(q toolcrib.Question, a *toolcrib.Answer, _ *error) { a.Input = q.Input })},
		{"hears no no", "a no reaches the call, with its words", got(func(_ toolcrib.Question, a *toolcrib.Answer, _ *error) { a.Decision = toolcrib.Allow })},
		{"keeps the words", "a no reaches the call, with its words", got(func(_ toolcrib.Question, a *toolcrib.Answer, _ *error) { a.Message = "" })},
		{"takes a no for nobody", "a no reaches the call, with its words", got(func(_ toolcrib.Question, _ *toolcrib.Answer, err *error) { *err = toolcrib.ErrNobody })},
		{"takes anything but no for a yes", "what is neither is no yes", got(func(_ toolcrib.Question, a *toolcrib.Answer, _ *error) {
			if a.Decision != toolcrib.Deny {
				a.Decision = toolcrib.Allow
			}
		})},
		{"runs what was asked for", "an edited input comes as it was given", got(func(_ toolcrib.Question, a *toolcrib.Answer, _ *error) { a.Input = nil })},
		{"takes silence for a yes", "silence is no yes", got(func(_ toolcrib.Question, a *toolcrib.Answer, err *error) {
			if errors.Is(*err, context.DeadlineExceeded) {
				*a, *err = yes, nil
			}
		})},
		{"does not look whether the caller has gone", "one who has gone gets no yes", got(func(_ toolcrib.Question, a *toolcrib.Answer, err *error) {
			if errors.Is(*err, context.Canceled) {
				*a, *err = yes, nil
			}
		})},
		{"remembers unasked", "a yes is for one call", remembering(func(q toolcrib.Question) string { return q.Call.Caller.Subject + q.Call.Tool + string(q.Input) })},
		{"remembers the tool", "a yes is for what was asked", remembering(func(q toolcrib.Question) string { return q.Call.Caller.Subject + q.Call.Tool })},
		{"remembers the arguments", "a yes is for what was asked", remembering(func(q toolcrib.Question) string { return q.Call.Caller.Subject + string(q.Input) })},
		{"forgets whose call it is", "a yes is for what was asked", remembering(func(q toolcrib.Question) string { return q.Call.Tool + string(q.Input) })},
		{"mixes up who asked", "each of many calls gets its own answer", got(func(_ toolcrib.Question, a *toolcrib.Answer, _ *error) { a.Message = "about 1" })},
		{"asks one at a time", "each of many calls gets its own answer", func() (toolcrib.Approver, Answering) {
			c := newCounter()
			return c, func(ctx context.Context, q toolcrib.Question, a toolcrib.Answer) error {
				if q.Call.ID == "call-5" {
					return errors.New("the question is not there")
				}
				return c.answer(ctx, q, a)
			}
		}},
		{"writes into the question", "what it is asked stays as it is", got(func(q toolcrib.Question, _ *toolcrib.Answer, _ *error) { q.Reasons[0].Reason = "" })},
		{"breaks down", "strange questions are answered", got(func(q toolcrib.Question, _ *toolcrib.Answer, _ *error) { _ = q.Input[0] })},
		{"lets through what it cannot show", "strange questions are answered", func() (toolcrib.Approver, Answering) {
			c := newCounter()
			return approverFunc(func(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
				if len(q.Preview) > 1<<20 {
					return yes, nil
				}
				return c.Approve(ctx, q)
			}), c.answer
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checks := approverChecks()
			i := slices.IndexFunc(checks, func(a approverCheck) bool { return a.name == c.check })
			if i < 0 {
				t.Fatalf("there is no check %q", c.check)
			}
			a, answer := c.open()
			if err := checks[i].run(t.Context(), &approverExam{a, answer}); err == nil {
				t.Errorf("%q does not notice an approver that %s", c.check, c.name)
			}
		})
	}
}
