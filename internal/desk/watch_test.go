package desk_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestScreens: every screen is told of what is open, new, answered and
// expired, in its own process and in others, and of nothing it does not see.
func TestScreens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &desk.Memory{}
		cfg := config(store)
		here, elsewhere := newDesk(t, cfg), newDesk(t, cfg)
		type view struct {
			events <-chan desk.Event
			stop   func()
		}
		look := func(d *desk.Desk, s desk.Screen) view {
			events, stop, err := d.Watch(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			return view{events, stop}
		}
		expect := func(v view, states ...desk.State) {
			t.Helper()
			synctest.Wait()
			for _, want := range states {
				select {
				case e := <-v.events:
					if e.Question.State != want || e.Missed != 0 {
						t.Errorf("told of %s (%d missed), want %s", e.Question.State, e.Missed, want)
					}
				default:
					t.Errorf("not told of %s", want)
				}
			}
			select {
			case e := <-v.events:
				t.Errorf("told of %+v as well", e)
			default:
			}
		}
		a := look(here, desk.Screen{Name: "a"})
		b := look(elsewhere, desk.Screen{Name: "b"})
		blind := look(here, desk.Screen{Name: "blind", Sees: func(q desk.Question) bool { return q.Caller.Session == "other" }})
		p := start(t.Context(), t, here, ask())
		expect(a, desk.Open)
		time.Sleep(time.Second)
		expect(b, desk.Open)
		late := look(elsewhere, desk.Screen{Name: "late"})
		expect(late, desk.Open)
		answer(t, elsewhere, theOne(t, here).ID, desk.Reply{Choice: desk.AllowOnce})
		if o := p.got(); o.err != nil {
			t.Error(o.err)
		}
		time.Sleep(time.Second)
		// Answered, and then the answer was used; a may have come late for the first.
		expect(b, desk.Allowed, desk.Allowed)
		expect(late, desk.Allowed, desk.Allowed)
		expect(a, desk.Allowed, desk.Allowed)
		expect(blind)
		ctx, cancel := context.WithCancel(t.Context())
		p = start(ctx, t, here, ask())
		expect(a, desk.Open)
		cancel()
		_ = p.got()
		expect(a, desk.Open) // nobody waits any more
		time.Sleep(2 * time.Hour)
		expect(a, desk.Expired)
		for _, v := range []view{a, b, blind, late} {
			v.stop()
			v.stop()
			for range v.events {
				continue
			}
		}
		if _, err := here.Approve(t.Context(), ask()); err == nil {
			t.Error("it was asked without a screen")
		}
	})
}

// TestBlindScreen: a screen that does not see a question is nobody to ask.
func TestBlindScreen(t *testing.T) {
	d := newDesk(t, config(&desk.Memory{}))
	_, stop, err := d.Watch(t.Context(), desk.Screen{Sees: func(q desk.Question) bool { return q.Caller.Subject == "eve" }})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := d.Approve(t.Context(), ask()); err == nil {
		t.Error("eve's screen was asked about alice's call")
	}
}

// TestSlowScreen: a screen that does not look holds nobody up, and learns that
// it missed something.
func TestSlowScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&desk.Memory{})
		d := newDesk(t, cfg)
		events, stop, err := d.Watch(t.Context(), desk.Screen{Buffer: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			p := start(t.Context(), t, d, ask())
			synctest.Wait()
			answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.Deny})
			if o := p.got(); o.err != nil {
				t.Errorf("call %d: %v", i, o.err)
			}
			synctest.Wait()
		}
		<-events
		<-events
		p := start(t.Context(), t, d, ask())
		synctest.Wait()
		if e := <-events; e.Missed == 0 {
			t.Errorf("it does not know that it missed something: %+v", e)
		}
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.Deny})
		_ = p.got()
		stop()
	})
}
