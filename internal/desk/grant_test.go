package desk_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestGrantsNeverWiden: a grant covers what it was given for, and no change of
// the call gets more out of it.
func TestGrantsNeverWiden(t *testing.T) {
	rules := []string{"write_file(a.txt)"}
	project, floor := "/srv/project", false
	terms := func(toolcrib.Question) desk.Terms {
		return desk.Terms{Rules: rules, Project: project, Floor: floor}
	}
	exact, byRule := 1, 2
	cases := map[string]struct {
		change func(*toolcrib.Question)
		covers int           // by the exact arguments, by rule
		scopes []desk.Choice // only those; nil: all
	}{
		"nothing":               {func(*toolcrib.Question) {}, exact | byRule, nil},
		"spelling":              {func(q *toolcrib.Question) { q.Input = []byte(`{"text":"x", "path":"a.txt"}`) }, exact | byRule, nil},
		"preview":               {func(q *toolcrib.Question) { q.Preview = "-1\n+2\n" }, exact | byRule, nil},
		"fewer effects":         {func(q *toolcrib.Question) { q.Effects = toolcrib.Pure }, exact | byRule, nil},
		"fewer reasons":         {func(q *toolcrib.Question) { q.Reasons = nil }, exact | byRule, nil},
		"other session":         {func(q *toolcrib.Question) { q.Call.Caller.Session = "s2" }, exact | byRule, []desk.Choice{desk.AllowProject, desk.AllowAlways}},
		"no session":            {func(q *toolcrib.Question) { q.Call.Caller.Session = "" }, exact | byRule, []desk.Choice{desk.AllowProject, desk.AllowAlways}},
		"other project":         {func(*toolcrib.Question) { project = "/srv/project/sub" }, exact | byRule, []desk.Choice{desk.AllowSession, desk.AllowAlways}},
		"arguments, same rule":  {func(q *toolcrib.Question) { q.Input = []byte(`{"path":"a.txt","text":"y"}`) }, byRule, nil},
		"arguments, no rule":    {func(q *toolcrib.Question) { q.Input, rules = []byte(`{"path":"b.txt"}`), nil }, 0, nil},
		"arguments, other rule": {func(q *toolcrib.Question) { q.Input, rules = []byte(`{"path":"b.txt"}`), []string{"write_file(b.txt)"} }, 0, nil},
		"a rule more":           {func(q *toolcrib.Question) { q.Input, rules = []byte(`{"path":"b"}`), append(rules, "write_file(b)") }, 0, nil},
		"no arguments":          {func(q *toolcrib.Question) { q.Input, rules = nil, nil }, 0, nil},
		"definition":            {func(q *toolcrib.Question) { q.Spec.Description += " Please." }, 0, nil},
		"definition hash":       {func(q *toolcrib.Question) { q.Spec.Hash = "h2" }, 0, nil},
		"other tool":            {func(q *toolcrib.Question) { q.Call.Tool = "evil" }, 0, nil},
		"other native":          {func(q *toolcrib.Question) { q.Spec.Native = "evil" }, 0, nil},
		"other box":             {func(q *toolcrib.Question) { q.Spec.Box = "evil" }, 0, nil},
		"subject":               {func(q *toolcrib.Question) { q.Call.Caller.Subject = "eve" }, 0, nil},
		"no subject":            {func(q *toolcrib.Question) { q.Call.Caller.Subject = "" }, 0, nil},
		"agent":                 {func(q *toolcrib.Question) { q.Call.Caller.Agent = "" }, 0, nil},
		"more effects":          {func(q *toolcrib.Question) { q.Effects |= toolcrib.Network }, 0, nil},
		"undeclared effects":    {func(q *toolcrib.Question) { q.Effects = 0 }, 0, nil},
		"a guard more": {func(q *toolcrib.Question) {
			q.Reasons = append(q.Reasons, toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "flow"})
		}, 0, nil},
		"floor":           {func(*toolcrib.Question) { floor = true }, 0, nil},
		"tool's question": {func(q *toolcrib.Question) { q.Text = "may I?" }, 0, nil},
	}
	for name, c := range cases {
		for _, choice := range []desk.Choice{desk.AllowSession, desk.AllowProject, desk.AllowAlways} {
			for _, bound := range []int{exact, byRule} {
				t.Run(name+" "+string(choice)+map[int]string{exact: " exact", byRule: " by rule"}[bound], func(t *testing.T) {
					rules, project, floor = []string{"write_file(a.txt)"}, "/srv/project", false
					cfg := config(&desk.Memory{})
					cfg.Unattended, cfg.Terms = desk.Leave, terms
					d := newDesk(t, cfg)
					if _, err := d.Approve(t.Context(), ask()); err == nil {
						t.Fatal("nobody was asked")
					}
					id := theOne(t, d).ID
					answer(t, d, id, desk.Reply{Choice: choice, By: map[bool]desk.By{true: desk.ByRule}[bound == byRule]})
					unasked(t, d, ask()) // and without the answer itself:
					if err := cfg.Store.Update(t.Context(), func(tx desk.Tx) error { return tx.DropQuestion(id) }); err != nil {
						t.Fatal(err)
					}
					q := ask()
					c.change(&q)
					want := c.covers&bound != 0
					if c.scopes != nil {
						want = want && (choice == c.scopes[0] || choice == c.scopes[1])
					}
					got, err := d.Approve(t.Context(), q)
					if (err == nil && got.Decision == toolcrib.Allow) != want {
						t.Errorf("covered: %v, want %v: %+v, %v", !want, want, got, err)
					}
				})
			}
		}
	}
}

// TestTwoGrantsAreNotOne: what was allowed one by one was not allowed together.
func TestTwoGrantsAreNotOne(t *testing.T) {
	var rules []string
	cfg := config(&desk.Memory{})
	cfg.Unattended = desk.Leave
	cfg.Terms = func(toolcrib.Question) desk.Terms { return desk.Terms{Rules: rules} }
	d := newDesk(t, cfg)
	q := ask()
	for _, rule := range []string{"run_command(cat *)", "run_command(curl *)"} {
		rules, q.Input = []string{rule}, []byte(`{"command":"`+rule+`"}`)
		if _, err := d.Approve(t.Context(), q); err == nil {
			t.Fatal("nobody was asked")
		}
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowAlways, By: desk.ByRule})
		unasked(t, d, q)
	}
	rules, q.Input = []string{"run_command(cat *)", "run_command(curl *)"}, []byte(`{"command":"cat x | curl y"}`)
	if got, err := d.Approve(t.Context(), q); err == nil {
		t.Errorf("allowed: %+v", got)
	}
}

func TestGrantsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		reply desk.Reply
		lasts time.Duration // 0: for ever
	}{
		"session": {desk.Reply{Choice: desk.AllowSession}, 24 * time.Hour},
		"project": {desk.Reply{Choice: desk.AllowProject}, 90 * 24 * time.Hour},
		"always":  {desk.Reply{Choice: desk.AllowAlways}, 0},
		"as told": {desk.Reply{Choice: desk.AllowAlways, For: time.Minute}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := config(&desk.Memory{})
				cfg.Unattended = desk.Leave
				d := newDesk(t, cfg)
				if _, err := d.Approve(t.Context(), ask()); err == nil {
					t.Fatal("nobody was asked")
				}
				answer(t, d, theOne(t, d).ID, c.reply)
				unasked(t, d, ask())
				lasts := c.lasts
				if lasts == 0 {
					lasts = 1000 * 24 * time.Hour
				}
				time.Sleep(lasts - time.Second)
				unasked(t, d, ask())
				time.Sleep(time.Second)
				if _, err := d.Approve(t.Context(), ask()); (err == nil) != (c.lasts == 0) {
					t.Errorf("after its time: %v", err)
				}
				time.Sleep(8 * 24 * time.Hour)
				if err := d.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				if list, err := d.Grants(t.Context(), desk.GrantFilter{}); err != nil || (len(list) == 1) != (c.lasts == 0) {
					t.Errorf("after the cleaning up: %+v, %v", list, err)
				}
			})
		})
	}
}

func TestRevoke(t *testing.T) {
	cfg := config(&desk.Memory{})
	cfg.Unattended = desk.Leave
	d := newDesk(t, cfg)
	if _, err := d.Approve(t.Context(), ask()); err == nil {
		t.Fatal("nobody was asked")
	}
	answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowAlways})
	unasked(t, d, ask())
	unasked(t, d, ask())
	list, err := d.Grants(t.Context(), desk.GrantFilter{Subject: "alice"})
	if err != nil || len(list) != 1 {
		t.Fatalf("grants: %+v, %v", list, err)
	}
	if _, err := d.Revoke(t.Context(), list[0].ID, ""); err == nil {
		t.Error("nobody revoked it")
	}
	for _, by := range []string{"carol", "dave"} {
		g, err := d.Revoke(t.Context(), list[0].ID, by)
		if err != nil || g.RevokedBy != "carol" || g.Revoked.IsZero() {
			t.Errorf("revoking: %+v, %v", g, err)
		}
	}
	if got, err := d.Approve(t.Context(), ask()); err == nil {
		t.Errorf("the grant still counts: %+v", got)
	}
	if _, err := d.Revoke(t.Context(), "g-none", "carol"); err == nil {
		t.Error("a grant that is not there was revoked")
	}
}
