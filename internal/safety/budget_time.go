package safety

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// TimeLimit is how long some tools may run.
type TimeLimit struct {
	Tools policy.Selector
	Time  time.Duration
}

// Times gives tools the time they may run by narrowing the grant of a call: a
// tool that names a time of its own may get less of it and never more, one
// that names none gets this in place of the crib's default. It decides nothing.
type Times struct {
	Limits []TimeLimit // of several that fit a tool the shortest counts
	// Most is what any call may get, as the crib has it: all but the time is
	// left as it is.
	Most toolcrib.Grant
}

// Judge notes the time.
func (t *Times) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	var found *TimeLimit
	for i := range t.Limits {
		l := &t.Limits[i]
		if l.Time > 0 && l.Tools.Picks(&r.Spec) && (found == nil || l.Time < found.Time) {
			found = l
		}
	}
	if found == nil {
		return nil, nil
	}
	grant := t.Most
	grant.Time = found.Time
	return &toolcrib.Verdict{
		Decision: toolcrib.Allow, Note: true, Guard: "time", Rule: found.Tools.String(),
		Reason: fmt.Sprintf("it may run for %v", found.Time), Grant: &grant,
	}, nil
}
