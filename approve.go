package toolcrib

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/internal/worker"
)

// maxAsked is how often a person is asked about one call because what it would do changed while they thought.
const maxAsked = 3

// approve waits on a person where a guard wants one asked. Refused, timed out
// and nobody-to-ask are three different answers. The answer is to what was
// shown: what has changed meanwhile is asked again.
func (c *Crib) approve(ctx context.Context, j judged) (cleared, error) {
	f := j.flight
	if f.decision == Allow {
		return cleared{f}, nil
	}
	preview, err := c.preview(ctx, f)
	if err != nil && !slices.ContainsFunc(f.rec.Verdicts, func(v Verdict) bool { return v.Unseen }) {
		return cleared{}, err
	} else if err != nil {
		preview = "As things are, this call would fail: " + err.Error()
	}
	if c.Approver == nil {
		return cleared{}, refuse(CodeUnavailable, f.call.Tool, "a person has to approve this, and nobody is there to be asked: "+reasons(f.rec.Verdicts, Ask), ErrNobody)
	}
	for range maxAsked {
		shown := f.effects
		answer, err := c.put(ctx, f, preview)
		if err != nil {
			return cleared{}, err
		}
		f.rec.ApprovedBy = answer.By
		if answer.Input != nil {
			return c.edited(ctx, f, answer)
		}
		if err := c.stands(ctx, f); err != nil {
			return cleared{}, err
		}
		before := preview
		if preview, err = c.preview(ctx, f); err != nil {
			return cleared{}, err
		}
		if preview == before && f.effects.Within(shown.All()) {
			return cleared{f}, nil
		}
	}
	return cleared{}, refuse(CodeDenied, f.call.Tool, "what this call would do changed each time a person was asked about it; look again before you repeat it", nil)
}

// put asks the question and gives an answer that allows.
func (c *Crib) put(ctx context.Context, f *flight, preview string) (Answer, error) {
	ask, cancel := context.WithTimeout(ctx, f.limits.Ask)
	defer cancel()
	answer, err := c.ask(ask, Question{Call: f.call, Spec: f.entry.native, Input: f.input, Effects: f.effects, Preview: preview, Reasons: slices.Clone(f.rec.Verdicts), Places: f.ways.List()})
	if err != nil {
		return Answer{}, c.unanswered(ctx, ask, f, err)
	}
	if answer.Decision != Allow {
		f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: Deny, Guard: "person", Rule: answer.By, Reason: answer.Message})
		message := "a person said no"
		if answer.Message != "" {
			message += ": " + answer.Message
		}
		return Answer{}, refuse(CodeDenied, f.call.Tool, message, nil)
	}
	return answer, nil
}

// unanswered says why there is no answer. An Approver that knows more than that, such as under which name its question waits, says it itself.
func (c *Crib) unanswered(ctx, ask context.Context, f *flight, err error) error {
	if ctx.Err() != nil {
		return overdue(f.call.Tool, "waiting for a person's approval", ctx.Err())
	}
	if e, ok := AsError(err); ok {
		own := *e
		own.Tool = f.call.Tool
		return &own
	}
	if errors.Is(err, context.DeadlineExceeded) || ask.Err() != nil {
		return refuse(CodeTimeout, f.call.Tool, fmt.Sprintf("a person was asked and did not answer within %v", f.limits.Ask), err)
	}
	return refuse(CodeUnavailable, f.call.Tool, "a person has to approve this, and nobody could be asked", err)
}

// stands asks the guards again after a person has thought about a call: a rule that came meanwhile counts.
func (c *Crib) stands(ctx context.Context, f *flight) error {
	decision, verdicts := c.verdict(ctx, f, f.input)
	if decision != Deny {
		return nil
	}
	f.rec.Verdicts = append(f.rec.Verdicts, verdicts...)
	return refuse(CodeDenied, f.call.Tool, reasons(verdicts, Deny), nil)
}

// ask puts a question, and goes on at the end of ctx even if the Approver does not.
func (c *Crib) ask(ctx context.Context, q Question) (Answer, error) {
	approver := c.Approver
	return worker.Within(ctx, func() (Answer, error) { return approver.Approve(ctx, q) })
}

// edited takes what a person put in place of the model's arguments: that is an approval, but a guard may still deny it.
func (c *Crib) edited(ctx context.Context, f *flight, answer Answer) (cleared, error) {
	input, err := f.readmit(answer.Input)
	if err != nil {
		return cleared{}, err
	}
	decision, verdicts := c.verdict(ctx, f, input)
	f.rec.Verdicts = append(f.rec.Verdicts, verdicts...)
	if decision == Deny {
		return cleared{}, refuse(CodeDenied, f.call.Tool, reasons(verdicts, Deny), nil)
	}
	if string(input) != string(f.input) { // both are canonical, and a form is easily sent off as it came
		f.input, f.rec.Edited = input, c.bounded(f, input)
	}
	return cleared{f}, nil
}
