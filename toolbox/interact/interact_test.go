package interact

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		box, err := Open(t.Context(), Config{})
		if err != nil {
			t.Fatal(err)
		}
		return box
	})
}

// person is an Approver that says one thing, and keeps what it was asked.
type person struct {
	answer toolcrib.Answer
	err    error
	waits  bool
	asked  []toolcrib.Question
}

func (p *person) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	p.asked = append(p.asked, q)
	if p.waits {
		<-ctx.Done()
		return toolcrib.Answer{}, ctx.Err()
	}
	return p.answer, p.err
}

// crib has the box and a person.
func crib(t *testing.T, p toolcrib.Approver) *toolcrib.Crib {
	t.Helper()
	patience := time.Minute // on a busy machine an answer takes its time
	if p, ok := p.(*person); ok && p.waits {
		patience = 50 * time.Millisecond
	}
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Approver: p,
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure | toolcrib.Reads | toolcrib.AsksPerson)},
		Limits: toolcrib.Limits{Ask: patience},
	}
	box, err := Open(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); faults != nil {
		t.Fatal(faults)
	}
	return c
}

func ask(t *testing.T, c *toolcrib.Crib, input string) (askUserOut, error) {
	t.Helper()
	var out askUserOut
	result, err := c.Call(t.Context(), toolcrib.Call{Tool: "ask_user", Input: json.RawMessage(input), Caller: toolcrib.Caller{Subject: "ann"}})
	if err != nil {
		return out, err
	}
	if result.Failed {
		t.Fatalf("failed: %s", result)
	}
	if err := json.Unmarshal(result.Value, &out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

func TestAnswers(t *testing.T) {
	allow := toolcrib.Answer{Decision: toolcrib.Allow, By: "ann", Message: "blue"}
	p := &person{answer: allow}
	out, err := ask(t, crib(t, p), `{"question":" Which colour? ","options":["red","blue"]}`)
	if err != nil || out != (askUserOut{"blue", true}) {
		t.Errorf("%+v, %v", out, err)
	}
	if len(p.asked) != 1 || p.asked[0].Text != "Which colour?" || len(p.asked[0].Options) != 2 || p.asked[0].Spec.Name != "ask_user" {
		t.Errorf("asked %+v", p.asked)
	}
	if out, err := ask(t, crib(t, &person{answer: allow}), `{"question":"Which?","options":["red"]}`); err != nil || out != (askUserOut{"blue", false}) {
		t.Errorf("%+v, %v", out, err)
	}
}

// Refused, timed out and nobody there are three different answers.
func TestNoAnswer(t *testing.T) {
	pending := &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "question q-1 stays open"}
	for name, c := range map[string]struct {
		person toolcrib.Approver
		code   toolcrib.Code
		text   string
	}{
		"refused":          {&person{answer: toolcrib.Answer{Decision: toolcrib.Deny}}, toolcrib.CodeDenied, "does not want to answer"},
		"refused in words": {&person{answer: toolcrib.Answer{Decision: toolcrib.Deny, Message: "guess"}}, toolcrib.CodeDenied, "does not want to answer: guess"},
		"zero":             {&person{}, toolcrib.CodeDenied, "does not want to answer"},
		"timed out":        {&person{waits: true}, toolcrib.CodeTimeout, "not answered in time"},
		"nobody":           {nil, toolcrib.CodeUnavailable, "nobody is there"},
		"cannot be asked":  {&person{err: errors.New("screen on fire")}, toolcrib.CodeUnavailable, "nobody is there"},
		"kept":             {&person{err: pending}, toolcrib.CodeUnavailable, "question q-1 stays open"},
	} {
		_, err := ask(t, crib(t, c.person), `{"question":"Which colour?"}`)
		if toolcrib.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "fire") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadQuestions(t *testing.T) {
	c := crib(t, &person{answer: toolcrib.Answer{Decision: toolcrib.Allow, Message: "yes"}})
	for _, input := range []string{`{}`, `{"question":""}`, `{"question":"x","options":"red"}`, `{"question":"` + strings.Repeat("x", 4001) + `"}`} {
		if _, err := ask(t, c, input); toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
			t.Errorf("%.40s: %v", input, err)
		}
	}
	result, err := c.Call(t.Context(), toolcrib.Call{Tool: "ask_user", Input: json.RawMessage(`{"question":" \n "}`)})
	if err != nil || !result.Failed || !strings.Contains(result.String(), "empty") {
		t.Errorf("%v, %v", result, err)
	}
}
