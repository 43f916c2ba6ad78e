package toolcrib

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/schema"
)

// judge asks every guard. All are asked even after a denial, so that the
// verdict and its reasons do not depend on their order.
func (c *Crib) judge(ctx context.Context, a admitted) (judged, error) {
	f := a.flight
	f.decision = c.verdict(ctx, f, f.input)
	if f.decision == Deny {
		return judged{}, refuse(Denied, f.call.Tool, reasons(f.rec.Verdicts, Deny), nil)
	}
	return judged{f}, nil
}

// verdict asks the guards what they say to this input, and notes what they
// leave of the grant and of the effects.
func (c *Crib) verdict(ctx context.Context, f *flight, input json.RawMessage) Decision {
	review := Review{Call: f.call, Spec: f.entry.tool.Spec, Input: input}
	review.Call.Input = input
	f.grant = c.Grant
	understood := allEffects
	var verdicts []Verdict
	for _, g := range c.Guards {
		v, err := judgeOne(ctx, g, review)
		if err != nil {
			// Its cause is for the log: it may name files the model must not know of.
			c.log().Error("guard cannot judge", "guard", fmt.Sprintf("%T", g), "tool", f.call.Tool, "call", f.call.ID, "err", err)
			verdicts = append(verdicts, Verdict{Guard: fmt.Sprintf("%T", g), Reason: "it could not judge the call"})
			continue
		}
		if v == nil {
			continue
		}
		verdicts = append(verdicts, *v)
		if v.Grant != nil {
			f.grant = f.grant.Meet(*v.Grant)
		}
		if v.Effects != 0 {
			understood &= v.Effects.All()
		}
	}
	f.effects = f.entry.tool.Effects.All() & understood // nothing left: guards differ, and it counts as all
	if len(verdicts) == 0 {
		verdicts = []Verdict{{Guard: "default", Reason: "no guard allows it"}}
	}
	slices.SortFunc(verdicts, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(a.Decision, b.Decision), strings.Compare(a.Guard, b.Guard),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Reason, b.Reason))
	})
	if f.rec.Verdicts == nil {
		f.rec.Verdicts = verdicts
	} else { // of arguments that a person put in place of others
		f.rec.Verdicts = append(f.rec.Verdicts, verdicts...)
	}
	return verdicts[0].Decision
}

// judgeOne asks a guard; one that breaks down denies.
func judgeOne(ctx context.Context, g Guard, r Review) (v *Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return g.Judge(ctx, r)
}

// reasons is what the model is told: every guard that decided, and why.
func reasons(verdicts []Verdict, d Decision) string {
	var parts []string
	for _, v := range verdicts {
		if v.Decision == d {
			reason := strings.ReplaceAll(v.Reason, "\n", "; ")
			parts = append(parts, strings.TrimSuffix(v.Guard+": "+reason, ": "))
		}
	}
	return strings.Join(parts, "; ")
}

// approve waits on a person where a guard wants one asked. Refused, timed out
// and nobody-to-ask are three different answers.
func (c *Crib) approve(ctx context.Context, j judged) (cleared, error) {
	f := j.flight
	if f.decision == Allow {
		return cleared{f}, nil
	}
	preview, err := c.preview(ctx, f)
	if err != nil {
		return cleared{}, err
	}
	if c.Approver == nil {
		return cleared{}, refuse(Unavailable, f.call.Tool, "a person has to approve this, and nobody is there to be asked: "+reasons(f.rec.Verdicts, Ask), ErrNobody)
	}
	ask, cancel := context.WithTimeout(ctx, f.limits.Ask)
	defer cancel()
	answer, err := c.ask(ask, Question{Call: f.call, Spec: f.entry.tool.Spec, Input: f.input, Effects: f.effects, Preview: preview, Reasons: f.rec.Verdicts})
	if err != nil {
		if ctx.Err() != nil {
			return cleared{}, overdue(f.call.Tool, "waiting for a person's approval", ctx.Err())
		}
		if errors.Is(err, context.DeadlineExceeded) || ask.Err() != nil {
			return cleared{}, refuse(Timeout, f.call.Tool, fmt.Sprintf("a person was asked and did not answer within %v", f.limits.Ask), err)
		}
		return cleared{}, refuse(Unavailable, f.call.Tool, "a person has to approve this, and nobody could be asked", err)
	}
	if answer.Decision != Allow {
		f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: Deny, Guard: "person", Rule: answer.By, Reason: answer.Message})
		message := "a person said no"
		if answer.Message != "" {
			message += ": " + answer.Message
		}
		return cleared{}, refuse(Denied, f.call.Tool, message, nil)
	}
	f.rec.ApprovedBy = answer.By
	if answer.Input != nil {
		if err := c.edited(ctx, f, answer); err != nil {
			return cleared{}, err
		}
	}
	return cleared{f}, nil
}

// ask puts a question, and goes on at the end of ctx even if the Approver
// does not.
func (c *Crib) ask(ctx context.Context, q Question) (Answer, error) {
	approver := c.Approver
	return within(ctx, func() (Answer, error) { return approver.Approve(ctx, q) })
}

// within has a part that is not ours do something, in a goroutine of its own,
// and goes on at the end of ctx even if the part does not.
func within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		r := reply{err: errGone}
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("%w: panic: %v", errGone, p)
			}
			replies <- r
		}()
		value, err := do()
		r = reply{value, err}
	}()
	select {
	case r := <-replies:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// edited takes the arguments a person put in place of the model's. Having
// typed them is an approval, but a guard that denies them still does.
func (c *Crib) edited(ctx context.Context, f *flight, answer Answer) error {
	input, err := f.readmit(answer.Input)
	if err != nil {
		return err
	}
	before := len(f.rec.Verdicts)
	if c.verdict(ctx, f, input) == Deny {
		return refuse(Denied, f.call.Tool, reasons(f.rec.Verdicts[before:], Deny), nil)
	}
	f.input = input
	f.rec.Edited = c.bounded(f, input)
	return nil
}

// invalid lists every bad field, because a model mends them all at once.
func invalid(tool string, bad []schema.Problem) *Error {
	e := &Error{Code: Invalid, Tool: tool}
	lines := make([]string, 0, len(bad))
	for _, p := range bad {
		e.Bad = append(e.Bad, Problem(p))
		lines = append(lines, p.String())
	}
	e.Message = strings.Join(lines, "; ")
	return e
}
