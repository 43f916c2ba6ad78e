package desk_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestApprover holds the desk to what the core wants of one who asks people.
func TestApprover(t *testing.T) {
	for name, way := range map[string]desk.Unattended{"a screen": desk.Refuse, "another process": desk.Await} {
		t.Run(name, func(t *testing.T) {
			cribtest.Approver(t, func(t testing.TB) (toolcrib.Approver, cribtest.Answering) {
				cfg := config(&desk.Memory{})
				cfg.Unattended = way
				d := newDesk(t, cfg)
				events, stop, err := d.Watch(context.Background(), desk.Screen{Name: "test", Buffer: 10000})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(stop)
				return d, atTheScreen(d, events)
			})
		})
	}
}

// atTheScreen answers as a person does who is shown what is asked.
func atTheScreen(d *desk.Desk, events <-chan desk.Event) cribtest.Answering {
	return func(ctx context.Context, q toolcrib.Question, a toolcrib.Answer) error {
		r := desk.Reply{Choice: desk.Deny, Message: a.Message, Input: a.Input}
		switch {
		case a.Decision == toolcrib.Allow && a.Input != nil:
			r.Choice = desk.Edit
		case a.Decision == toolcrib.Allow:
			r.Choice = desk.AllowOnce
		case a.Decision != toolcrib.Deny:
			return errors.New("the desk has no such answer")
		}
		for {
			list, err := d.Questions(ctx, desk.Filter{State: desk.Open})
			if err != nil {
				return err
			}
			for _, open := range list {
				if open.Call == q.Call.ID {
					_, err := d.Answer(ctx, open.ID, r, a.By)
					return err
				}
			}
			select {
			case <-events:
			case <-ctx.Done():
				return fmt.Errorf("nothing is asked about %s: %w", q.Call.ID, ctx.Err())
			}
		}
	}
}
