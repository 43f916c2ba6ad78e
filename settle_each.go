package toolcrib

import (
	"context"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/partial"
	"github.com/toolcrib/toolcrib/internal/settling"
)

// verdictOnChange is what the guards say to one change.
type verdictOnChange struct {
	decision Decision
	verdicts []Verdict
}

// judgeEach asks the guards about each change, about many by several goroutines: all that
// a command wrote is read and looked through. Each has a row of them that lie beside each
// other, and guards of its own, which remember what they saw. Repositories are read by one.
func (s *settled) judgeEach(ctx context.Context) ([]verdictOnChange, error) {
	handle, err := files.New(s.flight.grant.Dirs, s.crib.filesOptions(s.flight, s.flight.grant))
	if err != nil {
		return nil, refuse(CodeUnavailable, s.flight.call.Tool, "the granted directories cannot be looked at", err)
	}
	defer handle.Close() //nolint:errcheck // it was only read
	out, replaced, carried := make([]verdictOnChange, len(s.changes)), make([]int, len(s.changes)), len(s.changes)
	for i, next := 0, (&partial.Replaced{}); i < len(s.changes); i++ {
		c := &s.changes[i]
		if replaced[i] = next.Count(c.Path, c.Before, c.After); c.Carried != nil {
			carried = min(carried, i) // they come last
		}
	}
	judge := func(from, to int) error {
		own := *s
		own.guards = s.crib.guards()
		reach := handle.Checker()
		defer reach.Close() //nolint:errcheck // it was only read
		for i := from; i < to; i++ {
			if err := ctx.Err(); err != nil { // there may be a million of them
				return refuse(CodeTimeout, s.flight.call.Tool, "the call was ended while the changes of its command were judged", err)
			}
			change := s.changes[i]
			out[i].decision, out[i].verdicts = own.judgeChange(ctx, change, func() error { return reach.Check(change.Path, true, true, replaced[i]) })
		}
		return nil
	}
	if err := settling.Rows(carried, judge); err != nil {
		return nil, err
	}
	return out, judge(carried, len(out))
}
