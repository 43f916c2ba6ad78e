// Package guard is the recipe for a guard: outside of its hours, a person is
// asked before anything is changed.
//
// Nothing imports it. A real one would be a part under internal, put into the
// crib by internal/app. Its invariant is that of every guard: it judges by the
// tool's contract and input and by nothing that the caller says of itself, and
// what it does not understand it does not allow.
package guard

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Hours says from when to when changes need no question, in whole hours. From
// 8 to 18 is the day. The zero Hours asks about every change.
type Hours struct {
	From, To int
	Now      func() time.Time // nil: time.Now
}

var _ toolcrib.Guard = Hours{}

// Judge implements [toolcrib.Guard].
func (h Hours) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if r.Spec.Effects.Within(toolcrib.Pure | toolcrib.Reads) {
		return nil, nil // no opinion: others decide
	}
	now := time.Now
	if h.Now != nil {
		now = h.Now
	}
	if hour := now().Hour(); h.From <= hour && hour < h.To {
		return nil, nil
	}
	return &toolcrib.Verdict{
		Decision: toolcrib.Ask, Guard: "hours", Rule: fmt.Sprintf("%d-%d", h.From, h.To),
		Reason: fmt.Sprintf("it changes something (%s) outside of the hours from %d to %d", r.Spec.Effects, h.From, h.To),
	}, nil
}
