package agents

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
)

// TestApprovalsAreNotHandedOn: what a person allowed an agent for ever, one that works
// for it asks for all the same; and what they allow that one is not the other's.
func TestApprovalsAreNotHandedOn(t *testing.T) {
	p := team2(t, settings.Agent{}, settings.Agent{}, "default")
	d, err := desk.New(desk.Config{Store: &desk.Memory{}, Project: "/p",
		RedactText: func(s string) string { return s }, RedactJSON: func(m json.RawMessage) json.RawMessage { return m }})
	if err != nil {
		t.Fatal(err)
	}
	p.crib.Approver, p.Agents.needs.Questions = d, Questions(d)
	events, stop, err := d.Watch(t.Context(), desk.Screen{Name: "person"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	asked, told := make(chan string, 10), make(chan struct{}, 10)
	go func() {
		for e := range events {
			if e.Question.State == desk.Open {
				asked <- e.Question.Caller.Agent
				select { // an answer that is quicker than the news leaves nothing to tell
				case <-told:
				case <-t.Context().Done():
				}
				if _, err := d.Answer(t.Context(), e.Question.ID, desk.Reply{Choice: desk.AllowAlways}, "ann"); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	p.think["helps"] = func(_ context.Context, r model.Request) model.Message {
		if n := len(results(r)); n < 2 {
			return use("x", "change", none{})
		}
		return say("over")
	}
	p.think["leads"] = func(_ context.Context, r model.Request) model.Message {
		switch got := results(r); len(got) {
		case 0, 1:
			return use("a", "change", none{})
		case 2:
			return use("1", "delegate_to_avatar", map[string]string{"avatar_id": "helper", "task": "do it"})
		case 3:
			return use("2", "query_subagent_status", map[string]any{"agent_id": "helper", "wait_seconds": 60})
		default:
			return say(got[3])
		}
	}
	s := p.session(t, Options{Caller: as("lead")})
	var seen []string
	out, err := s.Turn(t.Context(), model.Text(model.User, "go"), func(e agent.Event) {
		if e.Kind == agent.AskUser {
			seen = append(seen, e.Agent+": "+e.Question.Tool)
			told <- struct{}{}
		}
	})
	if err != nil || !strings.Contains(out.Text, "over") {
		t.Fatalf("%v, %+v", err, out)
	}
	if len(p.calls()) != 4 || len(asked) != 2 {
		t.Fatalf("%d ran, %d were asked", len(p.calls()), len(asked))
	}
	if first, second := <-asked, <-asked; first != "lead" || second != "lead/helper" {
		t.Errorf("asked for %s and %s", first, second)
	}
	if got := strings.Join(seen, ", "); got != "lead: change, lead/helper: change" {
		t.Errorf("watchers saw: %s", got)
	}
}
