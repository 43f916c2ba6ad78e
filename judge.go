package toolcrib

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Judgement is what would become of a call.
type Judgement struct {
	Review   Review    // what the guards saw
	Decision Decision  // the strictest of theirs
	Verdicts []Verdict // strictest first, notes last
	Grant    Grant     // what the guards leave of it
}

// Judge says what would become of a call, without making it: nothing is
// recorded, nobody is asked and nothing runs. An *Error says that the call would
// not even come to the guards; the judgement then denies.
func (c *Crib) Judge(ctx context.Context, call Call) (Judgement, error) {
	f := &flight{call: call, limits: c.Limits.filled()}
	c.read(f)
	defer f.doc.Release()
	r, err := c.resolve(begun{f})
	if err != nil {
		return Judgement{}, err
	}
	a, err := c.admit(r)
	if err != nil {
		return Judgement{}, err
	}
	decision, verdicts := c.verdict(ctx, a.flight, f.input)
	return Judgement{Review: f.review(f.input), Decision: decision, Verdicts: verdicts, Grant: f.grant}, nil
}

// judge asks every guard. All are asked even after a denial, so that the
// verdict and its reasons do not depend on their order.
func (c *Crib) judge(ctx context.Context, a admitted) (judged, error) {
	f := a.flight
	f.decision, f.rec.Verdicts = c.verdict(ctx, f, f.input)
	if f.decision == Deny {
		return judged{}, refuse(CodeDenied, f.call.Tool, reasons(f.rec.Verdicts, Deny), nil)
	}
	return judged{f}, nil
}

// verdict asks the guards what they say to this input, strictest first, and
// settles what they leave of the grant and of the effects.
func (c *Crib) verdict(ctx context.Context, f *flight, input json.RawMessage) (Decision, []Verdict) {
	return c.verdictOf(ctx, c.guards(), f, input)
}

// guards are those of one look.
func (c *Crib) guards() []Guard {
	if c.MoreGuards == nil {
		return c.Guards
	}
	return slices.Concat(c.Guards, c.MoreGuards())
}

func (c *Crib) verdictOf(ctx context.Context, guards []Guard, f *flight, input json.RawMessage) (Decision, []Verdict) {
	review := f.review(input)
	f.grant, f.changesUnjudged, f.unasked = c.Grant, false, nil
	understood := allEffects
	verdicts := f.unfitNote()
	for _, g := range guards {
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
		if v.Decision == Allow && v.ChangesUnjudged {
			f.changesUnjudged = true
		}
		if v.Unasked != nil {
			f.unasked = append(f.unasked, *v.Unasked)
		}
		if v.Effects != 0 {
			understood &= v.Effects.All()
		}
	}
	f.effects = f.entry.tool.Effects.All() & understood // nothing left: guards differ, and it counts as all
	decision, verdicts := decide(verdicts)
	for _, grant := range f.unasked {
		if decision == Allow {
			f.grant = f.grant.Meet(grant)
		}
	}
	return decision, verdicts
}

// review is the call as guards and vetters see it.
func (f *flight) review(input json.RawMessage) Review {
	r := Review{Call: f.call, Spec: f.entry.native, Input: input, Unfit: f.unfit, Replay: f.old != nil, ProgramAllowed: f.programAllowed, Change: f.change, ways: &f.ways}
	r.Call.Input = input
	return r
}

// decide puts the verdicts of guards together: the strictest decision wins,
// notes decide nothing, and what no guard has a word on is denied. It gives
// them back strictest first, notes last, whatever order they came in.
func decide(verdicts []Verdict) (Decision, []Verdict) {
	if !slices.ContainsFunc(verdicts, func(v Verdict) bool { return !v.Note }) {
		verdicts = append(verdicts, Verdict{Guard: "default", Reason: "no guard allows it"})
	}
	slices.SortFunc(verdicts, func(a, b Verdict) int {
		return cmp.Or(strings.Compare(strconv.FormatBool(a.Note), strconv.FormatBool(b.Note)), cmp.Compare(a.Decision, b.Decision), strings.Compare(a.Guard, b.Guard),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Reason, b.Reason))
	})
	return verdicts[0].Decision, verdicts
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
		if v.Decision == d && !v.Note {
			reason := strings.ReplaceAll(v.Reason, "\n", "; ")
			parts = append(parts, strings.TrimSuffix(v.Guard+": "+reason, ": "))
		}
	}
	return strings.Join(parts, "; ")
}
