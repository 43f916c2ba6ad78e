package desk_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestBoundToWhatWasShown: an answer that was given in the absence of its call
// counts for exactly what was shown, and nothing else.
func TestBoundToWhatWasShown(t *testing.T) {
	bind := "program 1"
	terms := func(toolcrib.Question) desk.Terms { return desk.Terms{Bind: bind} }
	cases := map[string]struct {
		change func(*toolcrib.Question)
		same   bool // it is the same question
		void   bool // it stands for the older one
	}{
		"nothing":                  {func(*toolcrib.Question) {}, true, false},
		"order of arguments":       {func(q *toolcrib.Question) { q.Input = []byte("{ \"text\": \"\\u0078\",\n\"path\":\"a.txt\" }") }, true, false},
		"session, after a restart": {func(q *toolcrib.Question) { q.Call.Caller.Session, q.Call.ID = "s2", "call-2" }, true, false},
		"time limit":               {func(q *toolcrib.Question) { q.Spec.Timeout = time.Hour }, true, false},
		"file":                     {func(q *toolcrib.Question) { q.Preview = "-other\n+x\n" }, false, true},
		"no preview":               {func(q *toolcrib.Question) { q.Preview = "" }, false, true},
		"definition hash":          {func(q *toolcrib.Question) { q.Spec.Hash = "h2" }, false, true},
		"description":              {func(q *toolcrib.Question) { q.Spec.Description = "Write a file, and mail it." }, false, true},
		"schema":                   {func(q *toolcrib.Question) { q.Spec.Input = []byte(`{"type":"object"}`) }, false, true},
		"declared effects":         {func(q *toolcrib.Question) { q.Spec.Effects |= toolcrib.Network }, false, true},
		"effects":                  {func(q *toolcrib.Question) { q.Effects |= toolcrib.Runs }, false, true},
		"a further reason": {func(q *toolcrib.Question) {
			q.Reasons = append(q.Reasons, toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "flow"})
		}, false, true},
		"another reason":      {func(q *toolcrib.Question) { q.Reasons[0].Reason = "it writes, and what it writes is private" }, false, true},
		"binary":              {func(*toolcrib.Question) { bind = "program 2" }, false, true},
		"arguments":           {func(q *toolcrib.Question) { q.Input = []byte(`{"path":"b.txt","text":"x"}`) }, false, false},
		"a number's spelling": {func(q *toolcrib.Question) { q.Input = []byte(`{"path":"a.txt","text":"x","n":1.0}`) }, false, false},
		"key twice":           {func(q *toolcrib.Question) { q.Input = []byte(`{"path":"b.txt","path":"a.txt","text":"x"}`) }, false, false},
		"subject":             {func(q *toolcrib.Question) { q.Call.Caller.Subject = "eve" }, false, false},
		"agent":               {func(q *toolcrib.Question) { q.Call.Caller.Agent = "other" }, false, false},
		"box":                 {func(q *toolcrib.Question) { q.Spec.Box = "evil" }, false, false},
		"native":              {func(q *toolcrib.Question) { q.Spec.Native = "evil" }, false, false},
		"tool's own question": {func(q *toolcrib.Question) { q.Text = "may I?" }, false, false},
	}
	for name, c := range cases {
		for _, choice := range []desk.Choice{"", desk.AllowOnce, desk.Deny} {
			t.Run(name+" "+string(choice), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					bind = "program 1"
					cfg := config(&desk.Memory{})
					cfg.Unattended, cfg.Terms = desk.Leave, terms
					d := newDesk(t, cfg)
					if _, err := d.Approve(t.Context(), ask()); err == nil {
						t.Fatal("nobody was asked")
					}
					old := theOne(t, d)
					if choice != "" {
						answer(t, d, old.ID, desk.Reply{Choice: choice})
					}
					d = newDesk(t, cfg) // started again
					q := ask()
					c.change(&q)
					got, err := d.Approve(t.Context(), q)
					after, e := d.Question(t.Context(), old.ID)
					if e != nil {
						t.Fatal(e)
					}
					switch {
					case c.same && choice == "":
						if err == nil || theOne(t, d).ID != old.ID {
							t.Errorf("it was asked a second time: %+v, %v", got, err)
						}
					case c.same:
						if err != nil || (got.Decision == toolcrib.Allow) != (choice == desk.AllowOnce) || got.By != "bob" {
							t.Errorf("the answer was not found: %+v, %v", got, err)
						}
					case err == nil:
						t.Errorf("it was answered with what was said about another: %+v", got)
					}
					if (after.State == desk.Replaced) != c.void {
						t.Errorf("the older question is %s", after.State)
					}
					if c.void {
						if now := theOne(t, d); now.Replaces != old.ID {
							t.Errorf("the new question does not say which it stands for: %+v", now)
						}
						if again, err := d.Approve(t.Context(), ask()); c.change != nil && name != "binary" && err == nil {
							t.Errorf("the void answer came back: %+v", again)
						}
					}
				})
			})
		}
	}
}

// TestOtherProject: the same call in another directory is another call.
func TestOtherProject(t *testing.T) {
	s := &desk.Memory{}
	cfg := config(s)
	cfg.Unattended = desk.Leave
	d := newDesk(t, cfg)
	if _, err := d.Approve(t.Context(), ask()); err == nil {
		t.Fatal("nobody was asked")
	}
	answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowOnce})
	cfg.Project = "/srv/other"
	if got, err := newDesk(t, cfg).Approve(t.Context(), ask()); err == nil {
		t.Errorf("answered: %+v", got)
	}
	unasked(t, d, ask())
}

// TestChangedWhileAsked: a call that waits is not answered with the answer to
// what the file has become since, and two conversations do not void each
// other's questions.
func TestChangedWhileAsked(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		first := start(t.Context(), t, d, ask())
		synctest.Wait()
		changed := ask()
		changed.Preview = "-changed\n+x\n"
		second := start(t.Context(), t, d, changed)
		synctest.Wait()
		if o := first.got(); toolcrib.CodeOf(o.err) != toolcrib.CodeUnavailable {
			t.Errorf("the first got %+v", o)
		}
		other := ask()
		other.Call.Caller.Session, other.Reasons[0].Reason = "s2", "it has read what is private"
		third := start(t.Context(), t, d, other)
		synctest.Wait()
		list := open(t, d)
		if len(list) != 2 {
			t.Fatalf("%d are open", len(list))
		}
		for _, q := range list {
			choice := desk.Deny
			if q.Caller.Session == "s2" {
				choice = desk.AllowOnce
			}
			answer(t, d, q.ID, desk.Reply{Choice: choice})
		}
		if o := second.got(); o.err != nil || o.answer.Decision != toolcrib.Deny {
			t.Errorf("the second got %+v", o)
		}
		if o := third.got(); o.err != nil || o.answer.Decision != toolcrib.Allow {
			t.Errorf("the third got %+v", o)
		}
	})
}
