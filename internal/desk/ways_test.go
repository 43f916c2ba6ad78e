package desk_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestWideGrantsNeverWiden: what was allowed for a directory, a tool or a server covers
// that and nothing else.
func TestWideGrantsNeverWiden(t *testing.T) {
	all := []desk.By{desk.ByDirectory, desk.ByTool, desk.ByServer}
	src := filepath.FromSlash("/srv/project/src")
	wide, dir, setUp, floor := all, src, "npx server", false
	terms := func(toolcrib.Question) desk.Terms {
		return desk.Terms{Wide: wide, Dir: dir, SetUp: setUp, Floor: floor}
	}
	otherTool := func(q *toolcrib.Question) {
		q.Call.Tool, q.Spec.Native, q.Spec.Name, q.Spec.Description = "edit_file", "edit_file", "edit_file", "Edit a file."
	}
	cases := map[string]struct {
		change func(*toolcrib.Question)
		covers []desk.By
	}{
		"nothing":         {func(*toolcrib.Question) {}, all},
		"other arguments": {func(q *toolcrib.Question) { q.Input = []byte(`{"path":"b.txt"}`) }, all},
		"below":           {func(*toolcrib.Question) { dir = filepath.Join(src, "a", "b") }, all},
		"beside":          {func(*toolcrib.Question) { dir = src + "2" }, []desk.By{desk.ByTool, desk.ByServer}},
		"above":           {func(*toolcrib.Question) { dir = filepath.Dir(src) }, []desk.By{desk.ByTool, desk.ByServer}},
		"climbing":        {func(*toolcrib.Question) { dir = src + filepath.FromSlash("/../../etc") }, []desk.By{desk.ByTool, desk.ByServer}},
		"no directory":    {func(*toolcrib.Question) { dir = "" }, []desk.By{desk.ByTool, desk.ByServer}},
		"other tool":      {otherTool, []desk.By{desk.ByDirectory, desk.ByServer}},
		"definition":      {func(q *toolcrib.Question) { q.Spec.Hash = "h2" }, []desk.By{desk.ByDirectory, desk.ByServer}},
		"nothing is wide": {func(q *toolcrib.Question) { wide, q.Input = nil, []byte(`{}`) }, nil},            // as a command
		"other server":    {func(*toolcrib.Question) { setUp = "npx impostor" }, []desk.By{desk.ByDirectory}}, // of the same name
		"no set-up":       {func(*toolcrib.Question) { setUp = "" }, []desk.By{desk.ByDirectory}},
		"other box":       {func(q *toolcrib.Question) { q.Spec.Box = "evil" }, nil},
		"subject":         {func(q *toolcrib.Question) { q.Call.Caller.Subject = "eve" }, nil},
		"organisation":    {func(q *toolcrib.Question) { q.Call.Caller.Organisation = "acme" }, nil},
		"agent":           {func(q *toolcrib.Question) { q.Call.Caller.Agent = "" }, nil},
		"session":         {func(q *toolcrib.Question) { q.Call.Caller.Session = "s2" }, nil},
		"more effects":    {func(q *toolcrib.Question) { q.Effects |= toolcrib.Destroys }, nil},
		"undeclared":      {func(q *toolcrib.Question) { q.Effects = 0 }, nil},
		"a guard more": {func(q *toolcrib.Question) {
			q.Reasons = append(q.Reasons, toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "obeyed"})
		}, nil},
		"floor":           {func(*toolcrib.Question) { floor = true }, nil},
		"tool's question": {func(q *toolcrib.Question) { q.Text = "may I?" }, nil},
	}
	for name, c := range cases {
		for _, by := range all {
			t.Run(name+" by "+string(by), func(t *testing.T) {
				wide, dir, setUp, floor = all, src, "npx server", false
				cfg := config(&desk.Memory{})
				cfg.Unattended, cfg.Terms = desk.Leave, terms
				d := newDesk(t, cfg)
				if _, err := d.Approve(t.Context(), ask()); err == nil {
					t.Fatal("nobody was asked")
				}
				id := theOne(t, d).ID
				answer(t, d, id, desk.Reply{Choice: desk.AllowSession, By: by})
				if err := cfg.Store.Update(t.Context(), func(tx desk.Tx) error { return tx.DropQuestion(id) }); err != nil {
					t.Fatal(err)
				}
				q := ask()
				c.change(&q)
				got, err := d.Approve(t.Context(), q)
				if want := slices.Contains(c.covers, by); (err == nil && got.Decision == toolcrib.Allow) != want {
					t.Errorf("covered: %v, want %v: %+v, %v", !want, want, got, err)
				}
			})
		}
	}
}

// TestWaysAreOffered: what is offered can be answered, and nothing else.
func TestWaysAreOffered(t *testing.T) {
	var given desk.Terms
	cfg := config(&desk.Memory{})
	cfg.Unattended, cfg.Terms = desk.Leave, func(toolcrib.Question) desk.Terms { return given }
	for name, c := range map[string]struct {
		terms desk.Terms
		want  []desk.By
	}{
		"none":               {desk.Terms{}, nil},
		"a rule":             {desk.Terms{Rules: []string{"run_command(git *)"}}, []desk.By{desk.ByRule}},
		"a directory":        {desk.Terms{Wide: []desk.By{desk.ByDirectory, desk.ByTool}, Dir: "/srv/x"}, []desk.By{desk.ByDirectory, desk.ByTool}},
		"no directory":       {desk.Terms{Wide: []desk.By{desk.ByDirectory, desk.ByTool}}, []desk.By{desk.ByTool}},
		"a secret directory": {desk.Terms{Wide: []desk.By{desk.ByDirectory}, Dir: "/srv/" + secret}, nil},
		"floor":              {desk.Terms{Wide: []desk.By{desk.ByTool}, Floor: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			given = c.terms
			cfg.Store = &desk.Memory{}
			d := newDesk(t, cfg)
			if _, err := d.Approve(t.Context(), ask()); err == nil {
				t.Fatal("nobody was asked")
			}
			q := theOne(t, d)
			for _, o := range d.Offers(&q) {
				var ways []desk.By
				for _, w := range o.Wider {
					ways = append(ways, w.By)
					if !strings.Contains(w.Text, q.Means(w.By)) {
						t.Errorf("%s does not say what it is about: %s", w.By, w.Text)
					}
				}
				lasts := o.Choice == desk.AllowSession || o.Choice == desk.AllowProject || o.Choice == desk.AllowAlways
				if lasts && !slices.Equal(ways, c.want) || !lasts && ways != nil {
					t.Errorf("%s is offered by %q, want %q", o.Choice, ways, c.want)
				}
			}
			for _, by := range []desk.By{desk.ByRule, desk.ByDirectory, desk.ByTool, desk.ByServer, "everything"} {
				if slices.Contains(c.want, by) {
					continue
				}
				if _, err := d.Answer(t.Context(), q.ID, desk.Reply{Choice: desk.AllowSession, By: by}, "bob"); !errors.Is(err, desk.ErrBadReply) {
					t.Errorf("by %s: %v", by, err)
				}
			}
		})
	}
}

// TestAWideAnswerSettlesTheOthers: nobody is asked what they have just said, and what
// was not said stays open.
func TestAWideAnswerSettlesTheOthers(t *testing.T) {
	src := filepath.FromSlash("/srv/project/src")
	cfg := config(&desk.Memory{})
	cfg.Unattended, cfg.Poll = desk.Await, time.Millisecond
	cfg.Terms = func(q toolcrib.Question) desk.Terms {
		return desk.Terms{Wide: []desk.By{desk.ByDirectory}, Dir: filepath.Join(src, q.Call.ID)}
	}
	d := newDesk(t, cfg)
	var calls []pending
	for _, id := range []string{".", "a", "b", "../other"} {
		q := ask()
		q.Call.ID, q.Input = id, json.RawMessage(`{"path":"`+id+`"}`)
		calls = append(calls, start(t.Context(), t, d, q))
		for len(open(t, d)) < len(calls) {
			time.Sleep(time.Millisecond)
		}
	}
	for _, q := range open(t, d) {
		if q.Call == "." {
			answer(t, d, q.ID, desk.Reply{Choice: desk.AllowSession, By: desk.ByDirectory, Calls: 1})
		}
	}
	for i, call := range calls[:3] {
		if got := call.got(); got.err != nil || got.answer.Decision != toolcrib.Allow || !strings.HasPrefix(got.answer.By, "grant ") {
			t.Errorf("call %d: %+v", i, got)
		}
	}
	if left := theOne(t, d); left.Call != "../other" || left.Waiting != 1 {
		t.Errorf("what was not said is %+v", left)
	}
	answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.Deny})
	calls[3].got()
}
