package cli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/store"
)

// mostMade is among how many calls those are looked for that a call made.
const mostMade = 2000

// stepsOf puts together what happened during a call and when. The record has its begin and
// its end; the desk knows when a person was asked and answered, and calls that the call made
// have records of their own. What cannot be read is left out.
func (c *command) stepsOf(ctx context.Context, r *store.Reader, rec toolcrib.Record) []account.Step {
	filter := store.Filter{Since: rec.Start, Limit: mostMade}
	if rec.Outcome != "" {
		filter.Until = rec.Start.Add(rec.Duration + time.Millisecond)
	}
	var made []toolcrib.Record
	if near, err := r.List(ctx, filter); err == nil {
		for _, one := range near {
			if one.Parent == rec.ID {
				made = append(made, one)
			}
		}
	}
	return account.Steps(rec, c.askedFor(ctx, rec), made)
}

// askedFor is when a person was asked about a call, and when they answered.
func (c *command) askedFor(ctx context.Context, rec toolcrib.Record) (steps []account.Step) {
	paths, _, err := c.paths()
	if err != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(paths.State, "desk")); err != nil {
		return nil // nobody was ever asked
	}
	end := rec.Start.Add(rec.Duration)
	_ = c.withDesk(ctx, func(d *desk.Desk) error {
		list, err := d.Questions(ctx, desk.Filter{Subject: rec.Caller.Subject})
		for _, q := range list {
			if q.Call != rec.ID {
				continue
			}
			steps = append(steps, account.Step{At: q.Asked, What: "a person was asked (" + q.ID + ")"})
			if q.Reply != nil && (rec.Outcome == "" || !q.Reply.At.After(end)) {
				steps = append(steps, account.Step{At: q.Reply.At, What: "answered by " + q.Reply.By + ": " + string(q.Reply.Choice) + ", after " + account.Duration(q.Reply.At.Sub(q.Asked))})
			}
		}
		return err
	})
	return steps
}
