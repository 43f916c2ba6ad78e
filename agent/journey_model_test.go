package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
)

// modelJourneys are about models that fail, stop or go on for ever.
func modelJourneys() []journey {
	again := callTurn(call("evaluate_expression", sum))
	long := modeltest.Turn{Text: strings.Repeat("A long answer. ", 40)}
	slow := long
	slow.Hang = 20
	broken := long
	broken.Cut = 20
	return []journey{
		{
			name: "as often as it may", turns: []modeltest.Turn{again, again, again, sayTurn("I give what I have.")}, setup: func(_ *testing.T, s *stage) { s.agent.MaxIterations = 3 },
			stopped: StoppedIterations, answer: "I give what I have.", calls: "evaluate_expression evaluate_expression evaluate_expression",
			check: func(t *testing.T, s *stage) {
				if last := s.asked()[3]; s.api == "react" && last.Last() != lastAnswer {
					t.Errorf("told %q", last.Last())
				}
			},
		},
		{
			name: "it calls though it may not", turns: []modeltest.Turn{again, {Text: "One more.", Calls: again.Calls}}, setup: func(_ *testing.T, s *stage) { s.agent.MaxIterations = 1 },
			stopped: StoppedIterations, calls: "evaluate_expression",
		},
		{
			name: "it only calls though it may not", turns: []modeltest.Turn{again, again}, setup: func(_ *testing.T, s *stage) { s.agent.MaxIterations = 1 }, native: true,
			stopped: StoppedIterations, calls: "evaluate_expression", answer: "I have used all 1 steps that I may take, and have no answer yet.",
		},
		{name: "the answer is too long", turns: []modeltest.Turn{{Text: "Once upon", Stop: "length"}}, stopped: StoppedLength, answer: "Once upon"},
		{name: "the model refuses", turns: []modeltest.Turn{{Text: "I cannot help with that.", Stop: "refused"}}, stopped: StoppedRefused},
		{name: "busy at first", turns: []modeltest.Turn{{Fail: modeltest.Overloaded}, {Fail: modeltest.Internal}, sayTurn("Here I am.")}, answer: "Here I am."},
		{
			name: "a bad key", turns: []modeltest.Turn{{Fail: modeltest.BadKey}}, stopped: StoppedError, fails: "key", events: "error",
			check: func(t *testing.T, s *stage) {
				if e, ok := errors.AsType[*model.Error](s.err); !ok || e.Kind != model.BadKey || len(s.c.Messages) != 1 {
					t.Errorf("%v, %d messages", s.err, len(s.c.Messages))
				}
			},
		},
		{name: "a bad request", turns: []modeltest.Turn{{Fail: modeltest.BadRequest}}, stopped: StoppedError, fails: "400"},
		{
			name: "the stream breaks off", turns: []modeltest.Turn{broken, sayTurn("Now it works.")}, inputs: []string{"Please do it.", "Try again."}, answer: "Now it works.",
			check: func(t *testing.T, s *stage) {
				if len(s.c.Messages) != 4 || s.c.Messages[1].Role != model.Assistant || !strings.HasPrefix(s.c.Messages[1].Said(), "A long answer.") {
					t.Errorf("%+v", s.c.Messages)
				}
			},
		},
		{
			name: "ended in mid-stream", turns: []modeltest.Turn{slow, sayTurn("On we go.")}, stopped: StoppedAborted, fails: "canceled", events: "content aborted",
			setup: func(_ *testing.T, s *stage) {
				s.watch = func(e Event) {
					if strings.Contains(s.ev.content(), "answer. A long") {
						s.cancel()
					}
				}
			},
			check: func(t *testing.T, s *stage) {
				if n := len(s.c.Messages); n != 2 || !strings.HasPrefix(s.c.Messages[1].Said(), "A long answer. A long") {
					t.Fatalf("%+v", s.c.Messages)
				}
				s.goOn(t, "On we go.")
			},
		},
		{
			name: "ended in mid-call", turns: []modeltest.Turn{callTurn(call("wait", `{}`), call("free_note", `{"text":"never"}`)), sayTurn("On we go.")}, stopped: StoppedAborted, fails: "canceled",
			react: []modeltest.Turn{sayTurn("Thought: x\nAction: wait\nAction Input: {}"), sayTurn("FINAL_ANSWER: On we go.")},
			setup: func(_ *testing.T, s *stage) {
				go func() {
					<-s.probe.started
					s.cancel()
				}()
			},
			results: []string{"aborted: "},
			check: func(t *testing.T, s *stage) {
				if len(s.probe.order) > 0 {
					t.Error("a call was begun after the end")
				}
				s.goOn(t, "On we go.")
			},
		},
		{
			name: "time runs out", turns: []modeltest.Turn{callTurn(call("wait", `{}`))}, setup: func(_ *testing.T, s *stage) { s.agent.Timeout = 100 * time.Millisecond },
			stopped: StoppedTimeout, fails: "time ran out", check: func(t *testing.T, s *stage) {
				if kinds := s.ev.kinds(); !strings.HasSuffix("tool_call:wait tool_result:wait! error", kinds) { // on a busy machine it is over before the call
					t.Error(kinds)
				}
			},
		},
		{
			name: "a conversation goes on from a file", turns: []modeltest.Turn{again, sayTurn("It is 42."), sayTurn("Gladly.")},
			check: func(t *testing.T, s *stage) {
				text, err := json.Marshal(s.c)
				if err != nil {
					t.Fatal(err)
				}
				s.c = Conversation{}
				if err := json.Unmarshal(text, &s.c); err != nil {
					t.Fatal(err)
				}
				s.goOn(t, "Gladly.")
				if again, err := json.Marshal(Conversation{Messages: s.c.Messages[:4]}); err != nil || string(again) != string(text) {
					t.Errorf("%s became %s", text, again)
				}
			},
		},
		{
			name: "a process died within a call", turns: []modeltest.Turn{sayTurn("On we go.")}, answer: "On we go.",
			setup: func(_ *testing.T, s *stage) {
				s.c.Messages = []model.Message{model.Text(model.User, "Go."), {Role: model.Assistant, Calls: []model.ToolCall{
					{ID: "1", Name: "meet", Arguments: json.RawMessage("{}")}, {ID: "2", Name: "meet", Arguments: json.RawMessage("{}")},
				}}, {Role: model.Tool, CallID: "2", Name: "meet", Parts: []model.Part{{Text: "met"}}}, {Role: model.Tool, CallID: "9", Parts: []model.Part{{Text: "whose?"}}}}
			},
			results: []string{"aborted: ", "met"},
		},
	}
}

// goOn continues after the end of a run.
func (s *stage) goOn(t *testing.T, want string) {
	t.Helper()
	out, err := s.agent.Run(context.WithoutCancel(s.ctx), &s.c, model.Text(model.User, "Go on."), nil)
	if err != nil || out.Text != want {
		t.Errorf("going on: %+v, %v", out, err)
	}
	checkWhole(t, &s.c)
}
