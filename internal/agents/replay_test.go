package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
)

// TestReplay: a session is told again as it was, though by now every call and every
// question to a model would fail.
func TestReplay(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Permissions: policy.Permissions{Deny: []string{"send"}}})
	p.script("", use("1", "look", none{}), use("2", "send", none{}), say("that is all"))
	s := p.session(t, Options{Caller: ann})
	var lived []string
	line := func(e agent.Event) string {
		switch e.Kind {
		case agent.Call:
			return "call " + e.Tool + " " + e.ID
		case agent.CallResult:
			return fmt.Sprintf("result %s %v %v", e.Tool, e.Success(), e.Error != nil)
		case agent.Content:
			return "says " + e.Text
		}
		return ""
	}
	if _, err := s.Turn(t.Context(), model.Text(model.User, "look and send"), func(e agent.Event) {
		if l := line(e); l != "" {
			lived = append(lived, l)
		}
	}); err != nil {
		t.Fatal(err)
	}
	records := p.journal.Records()
	before := len(p.calls())
	p.crib.Guards = append(p.crib.Guards, guardFunc(func() { t.Error("something was called") }))
	p.think[""] = func(context.Context, model.Request) model.Message {
		t.Error("the model was asked")
		return say("")
	}
	was, err := p.store.Load(Owner(ann), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	find := func(_ context.Context, id string) (toolcrib.Record, error) {
		for _, r := range records {
			if r.ID == id {
				return r, nil
			}
		}
		return toolcrib.Record{}, errors.New("none")
	}
	var again []string
	unrecorded := 0
	play := func(find func(context.Context, string) (toolcrib.Record, error)) {
		again, unrecorded = nil, 0
		if err := Replay(t.Context(), was, find, func(s Step) error {
			if s.Unrecorded {
				unrecorded++
			}
			if l := line(s.Event); l != "" {
				again = append(again, l)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	play(find)
	if got, want := strings.Join(again, "\n"), strings.Join(lived, "\n"); got != want || unrecorded != 0 {
		t.Errorf("it was:\n%s\nit is told:\n%s", want, got)
	}
	// What the journal has no more is told as the model was told it.
	play(func(context.Context, string) (toolcrib.Record, error) { return toolcrib.Record{}, errors.New("gone") })
	if unrecorded != 4 || len(again) != len(lived) {
		t.Errorf("%d, %q", unrecorded, again)
	}
	if len(p.journal.Records()) != len(records) || len(p.calls()) != before {
		t.Error("the replay left traces")
	}
}

type guardFunc func()

func (g guardFunc) Judge(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) {
	g()
	return nil, nil
}
