package desk_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// An answer that is only good for a while is none after it.
func TestAnAnswerWithin(t *testing.T) {
	for wait, want := range map[time.Duration]bool{9 * time.Minute: true, 11 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(&desk.Memory{})
			cfg.Unattended = desk.Leave
			d := newDesk(t, cfg)
			if _, err := d.Approve(t.Context(), ask()); !errors.Is(err, desk.ErrPending) {
				t.Fatal(err)
			}
			list, err := d.Questions(t.Context(), desk.Filter{State: desk.Open})
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			if _, err := d.Answer(t.Context(), list[0].ID, desk.Reply{Choice: desk.AllowOnce, Within: 10 * time.Minute}, "bob"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
			answer, err := d.Approve(context.Background(), ask())
			if got := err == nil && answer.Decision == toolcrib.Allow; got != want {
				t.Errorf("after %v: %+v, %v", wait, answer, err)
			}
		})
	}
}
