package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/model"
)

// TestEventsAreOWLsChunks: each has the key of OWL, and what OWL reads there.
func TestEventsAreOWLsChunks(t *testing.T) {
	tc := &model.ToolCall{ID: "1", Name: "shown", Arguments: json.RawMessage(`{"a":1}`)}
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Kind: Content, Text: "hi"}, `{"content":"hi"}`},
		{Event{Kind: Call, Call: tc, Tool: "real", Args: tc.Arguments}, `{"tool_call":{"name":"real","args":{"a":1}}}`},
		{Event{Kind: Call, Call: tc, Args: json.RawMessage(`{"a`)}, `{"tool_call":{"name":"shown","args":{}}}`},
		{Event{Kind: CallResult, Call: tc, Tool: "real", ID: "j", Result: toolcrib.Text("ok")}, `{"tool_result":{"name":"real","success":true,"id":"j","text":"ok"}}`},
		{Event{Kind: CallResult, Tool: "real", Result: toolcrib.Failed("no")}, `{"tool_result":{"name":"real","success":false,"text":"no"}}`},
		{Event{Kind: CallResult, Tool: "real", Error: &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no"}}, `{"tool_result":{"name":"real","success":false,"error":"denied","text":"no"}}`},
		{Event{Kind: Stage, Text: InModel}, `{"stage":"model"}`},
		{Event{Kind: AskUser, Question: &Question{ID: "q", Text: "Red?", Options: []string{"yes", "no"}}}, `{"ask_user":{"id":"q","question":"Red?","options":["yes","no"]}}`},
		{Event{Kind: Done, Stopped: StoppedAnswer, Usage: &model.Usage{Input: 1, Output: 2}}, `{"done":true,"stopped":"answer","usage":{"input_tokens":1,"output_tokens":2}}`},
		{Event{Kind: Failed, Text: "broken"}, `{"error":"broken"}`},
		{Event{Kind: Aborted}, `{"aborted":true}`},
		{Event{Kind: Content, Text: "hi", Agent: "clerk", Depth: 1}, `{"content":"hi","agent":"clerk","depth":1}`},
	} {
		if got, err := json.Marshal(c.event); err != nil || string(got) != c.want {
			t.Errorf("%s, %v; want %s", got, err, c.want)
		}
	}
}

// TestToolsChangeMeanwhile: the next turn has what is on the shelves then.
func TestToolsChangeMeanwhile(t *testing.T) {
	w := newWorkshop(t)
	late := toolcrib.NewBox("late", raw("arrived", toolcrib.Reads, nothing, func(context.Context, *toolcrib.Env, map[string]any) (*toolcrib.Result, error) {
		return toolcrib.Text("here"), nil
	}))
	load := func(ctx context.Context, _ model.Request, _ func(model.Delta)) (*model.Answer, error) {
		if _, faults := w.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{late}}); len(faults) > 0 {
			return nil, faults[0]
		}
		return calls("arrived", `{}`)(ctx, model.Request{}, nil)
	}
	m := script(load, calls("arrived", `{}`), says("There."))
	var c Conversation
	if _, err := (&Agent{Crib: w.Crib, Model: m}).Run(t.Context(), &c, model.Text(model.User, "x"), nil); err != nil {
		t.Fatal(err)
	}
	if c.Messages[2].Said() != "here" || c.Messages[4].Said() != "here" || len(m.request(0).Tools) < 10 || len(m.request(1).Tools) != 1 {
		t.Errorf("%q, %q, %d tools", c.Messages[2].Said(), c.Messages[4].Said(), len(m.request(1).Tools))
	}
}

// TestQuestionsOfADesk: what whoever keeps the questions tells becomes events.
func TestQuestionsOfADesk(t *testing.T) {
	w := newWorkshop(t)
	stopped := false
	a := &Agent{Crib: w.Crib, Model: script(says("Done.")), Questions: func(_ context.Context, asked func(Question)) func() {
		asked(Question{ID: "q1", Text: "May it?"})
		return func() { stopped = true; asked(Question{ID: "q2"}) }
	}}
	var ev events
	if _, err := a.Run(t.Context(), &Conversation{}, model.Text(model.User, "x"), ev.add); err != nil || ev.kinds() != "ask_user content done" || !stopped {
		t.Errorf("%v: %s, %v", err, ev.kinds(), stopped)
	}
}

// TestDefinitionsAreShared: lists that are the same are written once, and old ones go.
func TestDefinitionsAreShared(t *testing.T) {
	d := &Definitions{}
	var first *toolSet
	for i := range 3 * maxSets {
		set, err := d.of("openai", []toolcrib.Entry{{Spec: toolcrib.Spec{Name: fmt.Sprintf("t%d", i), Description: "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = set
		}
		if again, err := d.of("openai", []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "t0", Description: "x"}}}); err != nil || again != first {
			t.Fatalf("%d: written again, %v", i, err)
		}
	}
	if len(d.sets) > maxSets {
		t.Errorf("%d sets", len(d.sets))
	}
	if other, err := d.of("openai", []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "t0", Description: "y"}}}); err != nil || other == first {
		t.Errorf("another description is the same set, %v", err)
	}
}
