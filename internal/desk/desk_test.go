package desk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		reply  desk.Reply
		want   toolcrib.Answer
		grants int
	}{
		"once":    {desk.Reply{Choice: desk.AllowOnce}, toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}, 0},
		"session": {desk.Reply{Choice: desk.AllowSession}, toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}, 1},
		"project": {desk.Reply{Choice: desk.AllowProject}, toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}, 1},
		"always":  {desk.Reply{Choice: desk.AllowAlways}, toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}, 1},
		"deny":    {desk.Reply{Choice: desk.Deny}, toolcrib.Answer{Decision: toolcrib.Deny, By: "bob"}, 0},
		"message": {desk.Reply{Choice: desk.Deny, Message: "use the other file"}, toolcrib.Answer{Decision: toolcrib.Deny, By: "bob", Message: "use the other file"}, 0},
		"edit":    {desk.Reply{Choice: desk.Edit, Input: []byte(`{"path":"b.txt"}`)}, toolcrib.Answer{Decision: toolcrib.Allow, By: "bob", Input: []byte(`{"path":"b.txt"}`)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, d *desk.Desk) {
				p := start(t.Context(), t, d, ask())
				synctest.Wait()
				q := theOne(t, d)
				if q.Waiting != 1 || q.Tool != "write_file" || string(q.Input) != string(ask().Input) || q.Preview != ask().Preview || len(q.Reasons) != 2 || q.Asked.IsZero() {
					t.Errorf("the question does not show what it is about: %+v", q)
				}
				answer(t, d, q.ID, c.reply)
				o := p.got()
				grants, err := d.Grants(t.Context(), desk.GrantFilter{Subject: "alice"})
				if err != nil || len(grants) != c.grants {
					t.Fatalf("grants: %+v, %v", grants, err)
				}
				if c.grants == 1 {
					c.want.By = "grant " + grants[0].ID + " by bob"
				}
				if o.err != nil || fmt.Sprint(o.answer) != fmt.Sprint(c.want) {
					t.Errorf("got %+v, want %+v", o, c.want)
				}
				if c.grants == 1 {
					if by := unasked(t, d, ask()).By; by != c.want.By {
						t.Errorf("the answer of a grant is by %q", by)
					}
				} else {
					asked(t, d, ask())
				}
				after, err := d.Question(t.Context(), q.ID)
				if err != nil || after.Reply.Input != nil || c.want.Decision == toolcrib.Allow && after.Reply.Message != "" {
					t.Errorf("what was typed is still kept: %+v, %v", after.Reply, err)
				}
			})
		})
	}
}

// TestFirstAnswerWins: of many answers at once one counts, and only its grant
// is saved.
func TestFirstAnswerWins(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		p := start(t.Context(), t, d, ask())
		synctest.Wait()
		id := theOne(t, d).ID
		choices := []desk.Choice{desk.AllowSession, desk.AllowProject, desk.AllowAlways, desk.Deny}
		var all sync.WaitGroup
		var mu sync.Mutex
		var winner string
		var losers []error
		for i := range 16 {
			all.Go(func() {
				by := fmt.Sprintf("screen%d", i)
				_, err := d.Answer(t.Context(), id, desk.Reply{Choice: choices[i%len(choices)]}, by)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					losers = append(losers, err)
				} else {
					winner += by
				}
			})
		}
		all.Wait()
		if len(losers) != 15 {
			t.Fatalf("%d answers lost, want 15; winner %q", len(losers), winner)
		}
		for _, err := range losers {
			if late, ok := errors.AsType[*desk.AnsweredError](err); !ok || late.By != winner || !errors.Is(err, desk.ErrAnswered) || !strings.Contains(err.Error(), "already answered by "+winner) {
				t.Errorf("a loser is told %v; %s has won", err, winner)
			}
		}
		o := p.got()
		if o.err != nil || !strings.HasSuffix(" "+o.answer.By, " "+winner) {
			t.Errorf("the call got %+v; %s has won", o, winner)
		}
		grants, err := d.Grants(t.Context(), desk.GrantFilter{})
		if err != nil || len(grants) > 1 || len(grants) == 1 && grants[0].By != winner || (len(grants) == 1) != (o.answer.Decision == toolcrib.Allow) {
			t.Errorf("grants: %+v, %v; %s has won", grants, err, winner)
		}
	})
}

// TestOneQuestion: equal calls at the same time are one question, and an
// answer lets as many of them through as it was given for.
func TestOneQuestion(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		var calls []pending
		for range 5 {
			calls = append(calls, start(t.Context(), t, d, ask()))
		}
		synctest.Wait()
		q := theOne(t, d)
		if q.Waiting != 5 {
			t.Errorf("%d wait, want 5", q.Waiting)
		}
		count := func(want int) {
			t.Helper()
			synctest.Wait()
			n := 0
			for _, p := range calls {
				select {
				case o := <-p.done:
					if o.err != nil || o.answer.Decision != toolcrib.Allow {
						t.Errorf("got %+v", o)
					}
					n++
				default:
				}
			}
			if n != want {
				t.Errorf("%d calls went on, want %d", n, want)
			}
		}
		answer(t, d, q.ID, desk.Reply{Choice: desk.AllowOnce, Calls: 2})
		count(2)
		again := theOne(t, d)
		if again.ID == q.ID || again.Waiting != 3 {
			t.Errorf("the others wait for %+v", again)
		}
		answer(t, d, again.ID, desk.Reply{Choice: desk.AllowOnce}) // without a number it is for one
		count(1)
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowOnce, Calls: 1000})
		count(2)
		asked(t, d, ask()) // nothing of the thousand is left
	})
}

func TestDenialReachesAllWhoWait(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		a, b := start(t.Context(), t, d, ask()), start(t.Context(), t, d, ask())
		synctest.Wait()
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.Deny, Message: "no"})
		for _, o := range []outcome{a.got(), b.got()} {
			if o.err != nil || o.answer.Decision != toolcrib.Deny || o.answer.Message != "no" {
				t.Errorf("got %+v", o)
			}
		}
		asked(t, d, ask())
	})
}

// TestThreeOutcomes: refused, timed out and nobody to ask are told apart, by
// code and by text.
func TestThreeOutcomes(t *testing.T) {
	check := func(t *testing.T, err error, code toolcrib.Code, cause error, text string) {
		t.Helper()
		if toolcrib.CodeOf(err) != code || !errors.Is(err, cause) || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v (cause %v), want %s with %q", err, errors.Unwrap(err), code, text)
		}
	}
	t.Run("timeout", func(t *testing.T) {
		bubble(t, func(c *desk.Config) { c.Wait = time.Minute }, func(t *testing.T, d *desk.Desk) {
			p := start(t.Context(), t, d, ask())
			synctest.Wait()
			id := theOne(t, d).ID
			time.Sleep(time.Minute)
			check(t, p.got().err, toolcrib.CodeTimeout, context.DeadlineExceeded, id)
			if q := theOne(t, d); q.Waiting != 0 {
				t.Errorf("%d wait for the question that was left", q.Waiting)
			}
			answer(t, d, id, desk.Reply{Choice: desk.AllowOnce}) // later
			unasked(t, d, ask())
			asked(t, d, ask()) // once is once
		})
	})
	t.Run("expired", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, d *desk.Desk) {
			p := start(t.Context(), t, d, ask())
			synctest.Wait()
			id := theOne(t, d).ID
			time.Sleep(time.Hour)
			check(t, p.got().err, toolcrib.CodeTimeout, desk.ErrExpired, "nobody answered")
			if _, err := d.Answer(t.Context(), id, desk.Reply{Choice: desk.AllowAlways}, "bob"); !errors.Is(err, desk.ErrExpired) {
				t.Errorf("answering it: %v", err)
			}
			asked(t, d, ask())
		})
	})
	t.Run("the caller's time", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, d *desk.Desk) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if o := start(ctx, t, d, ask()).got(); !errors.Is(o.err, context.DeadlineExceeded) {
				t.Errorf("got %+v", o)
			}
		})
	})
	t.Run("nobody", func(t *testing.T) {
		d := newDesk(t, config(&desk.Memory{}))
		_, err := d.Approve(t.Context(), ask())
		check(t, err, toolcrib.CodeUnavailable, toolcrib.ErrNobody, "nobody is there")
		if list := open(t, d); len(list) != 0 || errors.Is(err, desk.ErrPending) {
			t.Errorf("a question was kept: %+v", list)
		}
	})
	t.Run("left", func(t *testing.T) {
		cfg := config(&desk.Memory{})
		cfg.Unattended = desk.Leave
		d := newDesk(t, cfg)
		_, err := d.Approve(t.Context(), ask())
		q := theOne(t, d)
		check(t, err, toolcrib.CodeUnavailable, desk.ErrPending, q.ID)
		check(t, err, toolcrib.CodeUnavailable, toolcrib.ErrNobody, "repeat the call")
		_, err = d.Approve(t.Context(), ask())
		check(t, err, toolcrib.CodeUnavailable, desk.ErrPending, q.ID)
		theOne(t, d)
		d = newDesk(t, cfg) // the process was started again
		answer(t, d, q.ID, desk.Reply{Choice: desk.AllowOnce, Calls: 9})
		unasked(t, d, ask())
		_, err = d.Approve(t.Context(), ask())
		check(t, err, toolcrib.CodeUnavailable, desk.ErrPending, theOne(t, d).ID)
	})
	t.Run("awaited", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(&desk.Memory{})
			cfg.Unattended = desk.Await
			here, elsewhere := newDesk(t, cfg), newDesk(t, cfg)
			p := start(t.Context(), t, here, ask())
			synctest.Wait()
			answer(t, elsewhere, theOne(t, elsewhere).ID, desk.Reply{Choice: desk.AllowOnce})
			if o := p.got(); o.err != nil || o.answer.Decision != toolcrib.Allow {
				t.Errorf("got %+v", o)
			}
		})
	})
}

// TestOwnQuestion: a tool's question is answered by people only.
func TestOwnQuestion(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		q := ask()
		q.Input, q.Preview, q.Reasons, q.Text, q.Options = nil, "", nil, "Which colour?", []string{"red", "blue"}
		for _, colour := range []string{"red", "blue"} {
			p := start(t.Context(), t, d, q)
			synctest.Wait()
			one := theOne(t, d)
			for _, c := range []desk.Choice{desk.AllowSession, desk.AllowProject, desk.AllowAlways} {
				if _, err := d.Answer(t.Context(), one.ID, desk.Reply{Choice: c}, "bob"); !errors.Is(err, desk.ErrBadReply) {
					t.Errorf("%s: %v", c, err)
				}
			}
			answer(t, d, one.ID, desk.Reply{Choice: desk.AllowOnce, Message: colour})
			if o := p.got(); o.answer.Message != colour || o.err != nil {
				t.Errorf("got %+v, want %s", o, colour)
			}
			after, err := d.Question(t.Context(), one.ID)
			if err != nil || after.Reply.Message != "" {
				t.Errorf("the answer is still kept: %+v, %v", after.Reply, err)
			}
		}
	})
}
