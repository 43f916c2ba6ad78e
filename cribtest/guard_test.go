package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// breadReview is a call that a careful guard objects to.
func breadReview(n int) toolcrib.Review {
	input := mustJSON(map[string]any{"n": n})
	return toolcrib.Review{
		Call:  toolcrib.Call{ID: "c", Tool: "order", Input: input, Caller: toolcrib.Caller{Subject: "ann"}},
		Spec:  toolcrib.Entry{Spec: toolcrib.Spec{Name: "order", Effects: toolcrib.Writes, Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":0}},"required":["n"]}`)}},
		Input: input,
	}
}

// bakery allows small orders of the tool it knows and denies large ones.
func bakery(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	var in struct {
		N *int `json:"n"`
	}
	if r.Spec.Name != "order" {
		return nil, nil
	}
	if err := json.Unmarshal(r.Input, &in); err != nil || in.N == nil {
		return nil, errors.New("the order cannot be read")
	}
	if *in.N > 10 {
		return &toolcrib.Verdict{Guard: "bakery", Reason: "that is too much bread"}, nil
	}
	return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "bakery", Reason: "a small order"}, nil
}

func TestGuardSuite(t *testing.T) {
	Guard(t, func(testing.TB) toolcrib.Guard { return GuardFunc(bakery) }, breadReview(3), breadReview(30))
	Guard(t, func(testing.TB) toolcrib.Guard { return Deny("closed") }, breadReview(3))
	Guard(t, func(testing.TB) toolcrib.Guard { return Ask("it changes something") }, breadReview(3))
}

// TestGuardSuiteCanFail bends a guard in one way at a time and wants the check
// that is about it to notice.
func TestGuardSuiteCanFail(t *testing.T) {
	// said makes a guard that gives the bakery's verdict changed.
	said := func(change func(r toolcrib.Review, v *toolcrib.Verdict)) func() toolcrib.Guard {
		return func() toolcrib.Guard {
			return GuardFunc(func(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
				v, err := bakery(ctx, r)
				if v != nil {
					change(r, v)
				}
				return v, err
			})
		}
	}
	as := func(f GuardFunc) func() toolcrib.Guard { return func() toolcrib.Guard { return f } }
	counted := func() func() toolcrib.Guard { // every second one is kinder
		n := 0
		return func() toolcrib.Guard {
			if n++; n%2 == 0 {
				return Allow()
			}
			return GuardFunc(bakery)
		}
	}
	for _, c := range []struct {
		name  string
		check string
		open  func() toolcrib.Guard
	}{
		{"says nothing", "it has a word on what it is about", as(func(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) { return nil, nil })},
		{"objects to nothing", "it has a word on what it is about", Allow},
		{"has no name", "its verdicts say who and why", said(func(_ toolcrib.Review, v *toolcrib.Verdict) { v.Guard = "" })},
		{"has no reason", "its verdicts say who and why", said(func(_ toolcrib.Review, v *toolcrib.Verdict) { v.Reason = " " })},
		{"has too long a reason", "its verdicts say who and why", said(func(_ toolcrib.Review, v *toolcrib.Verdict) { v.Reason = string(bytes.Repeat([]byte("x"), 1<<20)) })},
		{"quotes raw bytes", "its verdicts say who and why", said(func(_ toolcrib.Review, v *toolcrib.Verdict) { v.Rule = "\xff" })},
		{"makes up a decision", "its verdicts say who and why", said(func(_ toolcrib.Review, v *toolcrib.Verdict) { v.Decision = 9 })},
		{"says two things", "its verdicts say who and why", as(func(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) {
			return &toolcrib.Verdict{Guard: "two", Reason: "r"}, errors.New("two")
		})},
		{"differs by the moment", "a new one says the same", counted()},
		{"goes by the caller's name", "the caller's name for a tool changes nothing", said(func(r toolcrib.Review, v *toolcrib.Verdict) {
			if r.Call.Tool != "order" {
				v.Decision = toolcrib.Allow
			}
		})},
		{"compares bytes", "how an input is written changes nothing", said(func(r toolcrib.Review, v *toolcrib.Verdict) {
			if !bytes.Equal(r.Input, []byte(`{"n":30}`)) {
				v.Decision = toolcrib.Allow
			}
		})},
		{"writes into the input", "it changes nothing that it is shown", said(func(r toolcrib.Review, _ *toolcrib.Verdict) { copy(r.Input, `{"n":00}`) })},
		{"writes into the contract", "it changes nothing that it is shown", said(func(r toolcrib.Review, _ *toolcrib.Verdict) { r.Spec.Input[0] = ' ' })},
		{"reads a broken input as none", "what it does not understand it does not allow", as(func(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
			if v, err := bakery(ctx, r); err == nil {
				return v, nil
			}
			return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "bakery"}, nil
		})},
		{"breaks down on a broken input", "what it does not understand it does not allow", as(func(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
			v, err := bakery(ctx, r)
			if err != nil {
				panic(err)
			}
			return v, nil
		})},
		{"breaks down without a contract", "tools that declare nothing are judged", as(func(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
			_ = r.Spec.Input[0]
			return bakery(ctx, r)
		})},
		{"gives up when the caller has gone", "an objection stands when the caller has gone", as(func(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
			if ctx.Err() == nil {
				return bakery(ctx, r)
			}
			return nil, nil
		})},
		{"narrows only while somebody waits", "an objection stands when the caller has gone", as(func(ctx context.Context, _ toolcrib.Review) (*toolcrib.Verdict, error) {
			v := &toolcrib.Verdict{Decision: toolcrib.Allow, Note: true, Guard: "narrow"}
			if ctx.Err() == nil {
				v.Grant = &toolcrib.Grant{}
			}
			return v, nil
		})},
		{"lets one of many through", "an objection stands with many calls at once", func() toolcrib.Guard {
			var n atomic.Int32
			return GuardFunc(func(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
				if n.Add(1) == 7 {
					return nil, nil
				}
				return bakery(ctx, r)
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checks := guardChecks()
			i := slices.IndexFunc(checks, func(g guardCheck) bool { return g.name == c.check })
			if i < 0 {
				t.Fatalf("there is no check %q", c.check)
			}
			if faults := checks[i].run(t.Context(), &guardExam{c.open, []toolcrib.Review{breadReview(30)}}); len(faults) == 0 {
				t.Errorf("%q does not notice a guard that %s", c.check, c.name)
			}
		})
	}
}
