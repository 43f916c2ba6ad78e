package agents

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
)

// TestPreset: model, instructions, profile, mode and rules of a preset hold.
func TestPreset(t *testing.T) {
	cfg := settings.Config{Mode: "yolo", Agents: map[string]settings.Agent{
		"reader": {Model: "small", Instructions: "Read.", Profile: "minimal"},
		"strict": {Model: "small", Mode: "plan"},
		"bound":  {Model: "small", Permissions: policy.Permissions{Deny: []string{"change"}}},
	}}
	p := open(t, cfg)
	var asked model.Request
	p.think["small"] = func(_ context.Context, r model.Request) model.Message {
		asked = r
		if len(results(r)) == 0 {
			return use("1", "change", none{})
		}
		return say(results(r)[0])
	}
	for name, want := range map[string]string{"reader": "there is no", "strict": "plan", "bound": "a rule"} {
		s := p.session(t, Options{Caller: as(name)})
		if got := turn(t, s, "do it"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
		if name == "reader" && !strings.HasPrefix(asked.System, "Read.") {
			t.Errorf("%q", asked.System)
		}
	}
	if len(p.calls()) > 0 {
		t.Errorf("%v ran", p.calls())
	}
	if _, err := p.Open(t.Context(), Options{Caller: as("raeder")}); err == nil || !strings.Contains(err.Error(), "did you mean reader") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]string{"bound", "reader", "strict"}, p.Names()); diff != "" {
		t.Error(diff)
	}
}

// TestStored: what is said is kept and gone on with, by the agent and the model it had.
func TestStored(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Agents: map[string]settings.Agent{"one": {Model: "small"}}})
	p.script("small", use("1", "look", none{}), say("seen"), say("again"))
	s := p.session(t, Options{Caller: as("one")})
	if list, err := p.store.List(Owner(ann), sessions.Filter{}); len(list) > 0 || err != nil {
		t.Errorf("nothing was said, and %v is kept; %v", list, err)
	}
	if got := turn(t, s, "look at it"); got != "seen" {
		t.Fatal(got)
	}
	if err := s.Unkept(); err != nil {
		t.Fatal(err)
	}
	was, err := p.store.Load(Owner(ann), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if was.Info.Title != "look at it" || was.Info.Agent != "one" || len(was.Entries) != 4 {
		t.Errorf("%+v", was)
	}
	if call := was.Entries[2].Call; call == "" || call != p.calls()[0].ID {
		t.Errorf("the answer is of call %q, the journal has %q", call, p.calls()[0].ID)
	}
	if diff := cmp.Diff(s.Messages(), was.Messages()); diff != "" {
		t.Error(diff)
	}
	if _, err := p.Open(t.Context(), Options{Caller: ann, Resume: s.ID()}); !errors.Is(err, sessions.ErrInUse) {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := p.session(t, Options{Caller: ann, Resume: "last"})
	if again.ID() != s.ID() || again.Caller().Agent != "one" || again.Caller().Session != s.ID() {
		t.Errorf("%s as %+v", again.ID(), again.Caller())
	}
	if got := turn(t, again, "and now?"); got != "again" {
		t.Error(got)
	}
	if was, err = p.store.Load(Owner(ann), s.ID()); err != nil || was.Turns() != 2 {
		t.Errorf("%v", err)
	}
	bob := ann
	bob.Subject = "bob"
	if _, err := p.Open(t.Context(), Options{Caller: bob, Resume: s.ID()}); !errors.Is(err, sessions.ErrNotFound) {
		t.Errorf("bob goes on with ann's: %v", err)
	}
}

// TestAborted: a turn that is ended leaves a session that can be gone on with.
func TestAborted(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo"})
	ctx, cancel := context.WithCancel(t.Context())
	p.think[""] = func(context.Context, model.Request) model.Message {
		cancel()
		return use("1", "look", none{})
	}
	s := p.session(t, Options{Caller: ann})
	var last agent.Event
	if _, err := s.Turn(ctx, model.Text(model.User, "go"), func(e agent.Event) { last = e }); !errors.Is(err, context.Canceled) || last.Kind != agent.Aborted {
		t.Fatalf("%v, %v", err, last)
	}
	p.script("", say("here"))
	if err := s.SetModel(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got := turn(t, s, "still there?"); got != "here" {
		t.Error(got)
	}
	if was, err := p.store.Load(Owner(ann), s.ID()); err != nil || was.Turns() != 2 {
		t.Errorf("%v", err)
	}
}

// TestChosen: a person chooses mode and profile of a session, within the bounds.
func TestChosen(t *testing.T) {
	p := open(t, settings.Config{Mode: "default"})
	p.think[""] = func(_ context.Context, r model.Request) model.Message {
		if last := r.Messages[len(r.Messages)-1]; last.Role == model.Tool {
			return say(last.Said())
		}
		return use("1", "change", none{})
	}
	s := p.session(t, Options{Caller: ann})
	other := p.session(t, Options{Caller: ann})
	if got := turn(t, s, "do"); !strings.Contains(got, "nobody is there") && !strings.Contains(got, "approve") {
		t.Errorf("%s", got)
	}
	if err := s.SetMode("auto"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetMode("anything"); err == nil {
		t.Error("taken")
	}
	turn(t, s, "do")
	if len(p.calls()) != 1 {
		t.Errorf("%d ran", len(p.calls()))
	}
	turn(t, other, "do") // it holds for the one session
	bob := toolcrib.Caller{Subject: "bob", Session: s.ID()}
	if _, err := p.crib.Call(t.Context(), toolcrib.Call{Tool: "change", Caller: bob}); err == nil {
		t.Error("bob has ann's mode, by her session's name")
	}
	s.SetProfile("minimal")
	if got := turn(t, s, "do"); !strings.Contains(got, "there is no") {
		t.Errorf("%s", got)
	}
	s.SetProfile("unknown")
	if got := turn(t, s, "do"); !strings.Contains(got, "there is no") {
		t.Errorf("%s", got)
	}
	if len(p.calls()) != 1 {
		t.Errorf("%d ran", len(p.calls()))
	}
}

// TestBudget: a run makes no more calls, and asks its model no more, than its preset says.
func TestBudget(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Agents: map[string]settings.Agent{
		"few":   {Budget: settings.AgentBudget{Calls: 3}, MaxIterations: 20},
		"cheap": {Budget: settings.AgentBudget{Tokens: 40}, MaxIterations: 20},
	}})
	n := 0
	p.think[""] = func(_ context.Context, r model.Request) model.Message {
		if n++; n > 6 {
			return say(results(r)[5])
		}
		return use("1", "look", none{})
	}
	s := p.session(t, Options{Caller: as("few")})
	if got := turn(t, s, "look often"); !strings.Contains(got, "has made its 3 calls") || len(p.calls()) != 3 {
		t.Errorf("%d ran: %s", len(p.calls()), got)
	}
	n = 0
	turn(t, s, "once more") // a run of its own
	if len(p.calls()) != 6 {
		t.Errorf("%d ran", len(p.calls()))
	}
	n = 0
	c := p.session(t, Options{Caller: as("cheap")})
	if _, err := c.Turn(t.Context(), model.Text(model.User, "think"), nil); toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "40 tokens") {
		t.Errorf("%v", err)
	}
}

// TestTold: what a model is told, in which order; a project's skills only by name.
func TestTold(t *testing.T) {
	p := open(t, settings.Config{Agents: map[string]settings.Agent{
		"all": {Instructions: "First.", Skills: []string{"*"}, Memory: true}, "one": {Skills: []string{"theirs"}}, "none": {},
	}})
	p.needs.Skills = func(context.Context) []Skill {
		return []Skill{{"mine", "what I do\nand more", true}, {"theirs", "obey the project", false}}
	}
	p.needs.Told = func(toolcrib.Caller) string { return "Place." }
	var got string
	p.think[""] = func(_ context.Context, r model.Request) model.Message {
		got = r.System
		return say("ok")
	}
	for name, want := range map[string][2]string{
		"all":  {"First. Place. mine outlives", "obey"},
		"one":  {"Place. theirs obey", "mine"},
		"none": {"Place.", "skills"},
	} {
		turn(t, p.session(t, Options{Caller: as(name)}), "hello")
		at := 0
		for part := range strings.FieldsSeq(want[0]) {
			i := strings.Index(got[at:], part)
			if i < 0 {
				t.Fatalf("%s: %q is missing in %q", name, part, got)
			}
			at += i
		}
		if strings.Contains(got, want[1]) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
