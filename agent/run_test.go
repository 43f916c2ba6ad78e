package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/model"
)

func TestRunNeeds(t *testing.T) {
	w := newWorkshop(t)
	for _, a := range []*Agent{{}, {Crib: w.Crib}, {Model: script()}, {Crib: w.Crib, Model: script(), Loop: "circle"}} {
		out, err := a.Run(t.Context(), &Conversation{}, model.Text(model.User, "x"), nil)
		if err == nil || out == nil || out.Stopped != StoppedError {
			t.Errorf("%+v: %+v, %v", a, out, err)
		}
	}
	bad := script()
	bad.traits.Format = "smoke signals"
	if _, err := (&Agent{Crib: w.Crib, Model: bad}).Run(t.Context(), &Conversation{}, model.Text(model.User, "x"), nil); err == nil || !strings.Contains(err.Error(), "unknown format") {
		t.Error(err)
	}
}

// TestWhateverAModelAnswers: calls of any kind, in any number, leave a conversation that
// can be continued, and each call that stands in it has one result.
func TestWhateverAModelAnswers(t *testing.T) {
	w := newWorkshop(t)
	word := rapid.SampledFrom([]string{"", "x", "same", "evaluate_expression", "read_file", "a b", "\x00", strings.Repeat("n", 300), "delete_file", "ask_user"})
	args := rapid.SampledFrom([]string{"", "{}", "null", "5", "[", `{"expression":"1+1"}`, `{"path":"x"}`, "\xff", `"{}"`, `{"a":`, "{} {}"})
	stop := rapid.SampledFrom([]string{"", model.StopEnd, model.StopCalls, model.StopLength, "strange"})
	rapid.Check(t, func(rt *rapid.T) {
		var turns []turnFunc
		for range rapid.IntRange(1, 3).Draw(rt, "turns") {
			var list []model.ToolCall
			for range rapid.IntRange(0, 5).Draw(rt, "calls") {
				list = append(list, model.ToolCall{ID: word.Draw(rt, "id"), Name: word.Draw(rt, "name"), Arguments: json.RawMessage(args.Draw(rt, "args"))})
			}
			a := &model.Answer{Message: model.Message{Role: word.Draw(rt, "role"), Calls: list, Own: json.RawMessage(`{}`), By: "x"}, Stop: stop.Draw(rt, "stop")}
			turns = append(turns, func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error) { return a, nil })
		}
		m := script(turns...)
		var c Conversation
		out, err := (&Agent{Crib: w.Crib, Model: m, MaxIterations: 5}).Run(t.Context(), &c, model.Text(model.User, "x"), nil)
		if out == nil || !c.whole() {
			rt.Fatalf("%+v, %v", out, err)
		}
		for i := range c.Messages {
			seen := map[string]bool{}
			for _, tc := range c.Messages[i].Calls {
				if tc.ID == "" || seen[tc.ID] || !validName(tc.Name) || !json.Valid(tc.Arguments) || tc.Arguments[0] != '{' {
					rt.Fatalf("%+v", tc)
				}
				seen[tc.ID] = true
			}
		}
		if _, err := json.Marshal(c); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestThousandsOfCalls(t *testing.T) {
	w := newWorkshop(t)
	list := make([]model.ToolCall, 5000)
	for i := range list {
		list[i] = model.ToolCall{ID: "x", Name: "evaluate_expression", Arguments: json.RawMessage(`{"expression":"1+1"}`)}
	}
	var c Conversation
	out, err := (&Agent{Crib: w.Crib, Model: script(callsAs(list...), says("Done."))}).Run(t.Context(), &c, model.Text(model.User, "x"), nil)
	if err != nil || out.Calls != defaultCalls || !strings.Contains(lastResult(&c).Said(), "4936 more calls") {
		t.Errorf("%+v, %v", out, err)
	}
	checkWhole(t, &c)
}

// TestDelegate: a tool that runs another agent is one deeper, its usage counts with the
// run above, and its events can be told there.
func TestDelegate(t *testing.T) {
	var below *Agent
	depth := -1
	delegate := raw("free_delegate", toolcrib.Writes, oneText, func(ctx context.Context, _ *toolcrib.Env, in map[string]any) (*toolcrib.Result, error) {
		above, ok := AboveOf(ctx)
		if !ok || above.Agent != "chief" {
			return nil, errors.New("nobody above")
		}
		depth = above.Depth
		out, err := below.Run(ctx, &Conversation{}, model.Text(model.User, in["text"].(string)), above.Emit)
		if err != nil {
			return nil, err
		}
		return toolcrib.Text(out.Text), nil
	})
	w := newWorkshop(t, toolcrib.NewBox("delegates", delegate))
	price := func(a model.Answer) float64 { return float64(a.Usage.Input) / 10 }
	below = &Agent{Crib: w.Crib, Model: script(calls("evaluate_expression", sum), says("It is 42.")), Caller: toolcrib.Caller{Agent: "clerk"}, Cost: price}
	chief := &Agent{Crib: w.Crib, Model: script(calls("free_delegate", `{"text":"6*7?"}`), says("The clerk says 42.")), Caller: toolcrib.Caller{Agent: "chief"}, Cost: price}
	var ev events
	var c Conversation
	out, err := chief.Run(t.Context(), &c, model.Text(model.User, "6*7?"), ev.add)
	if err != nil || out.Usage.Input != 40 || out.Delegated.Input != 20 || out.Cost != 4 || depth != 0 {
		t.Fatalf("%+v, %v, depth %d", out, err, depth)
	}
	deep := 0
	for _, e := range ev.list {
		if e.Depth == 1 && e.Agent == "clerk" {
			deep++
		}
	}
	if deep == 0 || lastResult(&c).Said() != "It is 42." {
		t.Errorf("%d events of the clerk; %s", deep, ev.kinds())
	}
	if _, ok := AboveOf(t.Context()); ok {
		t.Error("a run above nothing")
	}
}

// TestDeadlineOfTheCaller: a deadline of the context is a time-out, not an abort.
func TestDeadlineOfTheCaller(t *testing.T) {
	w := newWorkshop(t)
	wait := func(ctx context.Context, _ model.Request, _ func(model.Delta)) (*model.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	out, err := (&Agent{Crib: w.Crib, Model: script(wait)}).Run(ctx, &Conversation{}, model.Text(model.User, "x"), nil)
	if out.Stopped != StoppedTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", out, err)
	}
}
