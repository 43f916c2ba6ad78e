package toolcrib

import (
	"context"
	"runtime/debug"

	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/settling"
)

// keep has changes wait that nobody has answered for.
func (s *settled) keep(ctx context.Context) string {
	name, err := s.layer.Keep(context.WithoutCancel(ctx))
	if err != nil {
		s.note("the changes could not be kept: " + err.Error())
		return "They are dropped: " + err.Error() + settling.StillWaits(s.layer.Earlier())
	}
	s.note("nobody answered; the changes wait as layer " + name)
	return settling.Waits(name, s.flight.call.Caller.Session != "")
}

// dropAll drops what a person has refused: they were shown all of it.
func (s *settled) dropAll(ctx context.Context) string {
	earlier := s.layer.Earlier()
	if err := s.layer.DropAll(context.WithoutCancel(ctx)); err != nil {
		return ". It could not be removed: " + err.Error()
	}
	return settling.Dropped(earlier, s.layer.Earlier())
}

// received deals with what a program did on a layer: its call settles it, or, if that
// is over by now, it is settled at once. It gives what there is to tell.
func (c *Crib) received(ctx context.Context, f *flight, changes Changes, cut bool) []string {
	if cut {
		c.dropLayer(f, changes)
		return []string{refusal.CutOff + settling.StillWaits(changes.Earlier())}
	}
	if f.addLayer(changes) {
		return nil
	}
	why := c.settleLater(ctx, f, changes)
	c.dropLayer(f, changes)
	if why == "" {
		return nil
	}
	return []string{c.redactedText(why)}
}

// settleLater settles what a program did that outlived its call, under the rights of
// that call as they were settled then, and the guards of now. It is recorded as a call
// that the other one made.
func (c *Crib) settleLater(ctx context.Context, f *flight, changes Changes) (why string) {
	b, err := c.begin(ctx, Call{Tool: f.call.Tool, Input: f.call.Input, Caller: f.call.Caller, Parent: f.call.ID})
	if err != nil {
		return settling.NotApplied + err.Error() + settling.StillWaits(changes.Earlier())
	}
	own := b.flight
	own.entry, own.input, own.grant, own.effects, own.changesUnjudged, own.unasked = f.entry, f.input, f.grant, f.effects, f.changesUnjudged, f.unasked
	own.programAllowed = !f.changesUnjudged || f.rec.ApprovedBy != ""
	own.rec.Box, own.rec.Native, own.rec.Definition = f.rec.Box, f.rec.Native, f.rec.Definition
	own.call.ID = f.call.ID // a person is asked about that one
	defer func() {
		if p := recover(); p != nil {
			c.log().Error("the pipeline broke down", "tool", f.call.Tool, "call", f.call.ID, "err", p, "stack", string(debug.Stack()))
			why = settling.NotApplied + "It broke down; this is a fault of the crib, not of the command" + settling.StillWaits(changes.Earlier())
		}
		_, _ = c.end(ctx, b, &Result{Content: []Content{{Type: "text", Text: why, Notice: true}}}, nil) // it refuses nothing here
	}()
	return c.applyOne(ctx, own, changes)
}
