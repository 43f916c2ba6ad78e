package agent

import (
	"iter"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

const sum = `{"expression":"6*7"}`

// callJourneys are about calls that are made.
func callJourneys() []journey {
	return []journey{
		{name: "a plain answer", turns: []modeltest.Turn{sayTurn("Good day to you.")}, answer: "Good day to you.", events: "content done"},
		{
			name: "one call", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), sayTurn("It is 42.")},
			answer: "It is 42.", calls: "evaluate_expression", results: []string{"42"}, events: "tool_call:evaluate_expression tool_result:evaluate_expression content done",
			check: func(t *testing.T, s *stage) {
				if s.out.Calls != 1 || s.out.Iterations != 2 || s.out.Usage != (model.Usage{Input: 20, Output: 10}) || s.out.Model == "" {
					t.Errorf("%+v", s.out)
				}
				if rec := s.journal.Records()[0]; rec.Caller.Subject != "ann" || rec.ID == "" || rec.ID != s.ev.id() {
					t.Errorf("%+v, event %q", rec, s.ev.id())
				}
			},
		},
		{
			name:  "one call after the other",
			turns: []modeltest.Turn{callTurn(call("list_files", `{}`)), callTurn(call("read_file", `{"path":"a.txt"}`)), sayTurn("It says hello.")},
			setup: func(t *testing.T, s *stage) { s.write(t, "a.txt", "hello from a file") }, calls: "list_files read_file", results: []string{"a.txt", "hello from a file"}, answer: "It says hello.",
		},
		{
			name: "text before a call", turns: []modeltest.Turn{{Text: "I will look.", Calls: []modeltest.Call{call("get_current_datetime", `{}`)}}, sayTurn("It is late.")},
			calls: "get_current_datetime", answer: "It is late.", native: true, events: "content tool_call:get_current_datetime tool_result:get_current_datetime content done",
		},
		{
			name: "calls at once", turns: []modeltest.Turn{callTurn(call("meet", `{}`), call("meet", `{}`)), sayTurn("They met.")}, native: true,
			answer: "They met.", calls: "meet meet", check: func(t *testing.T, s *stage) {
				if s.probe.most != 2 {
					t.Errorf("%d at once", s.probe.most)
				}
			},
		},
		{
			name: "one of several fails", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum), call("unlucky", `{}`), call("broken", `{}`), call("evaluate_expression", `{"expression":"1+1"}`)), sayTurn("Two of four.")},
			answer: "Two of four.", results: []string{"42", "the disk is full", "broke down", "2"}, check: func(t *testing.T, s *stage) {
				var failed []bool
				for _, m := range s.c.Messages {
					if m.Role == model.Tool {
						failed = append(failed, m.Failed)
					}
				}
				if len(failed) != 4 || failed[0] || !failed[1] || !failed[2] || failed[3] {
					t.Errorf("failed: %v", failed)
				}
			},
		},
		{
			name:  "what writes keeps its order",
			turns: []modeltest.Turn{callTurn(call("free_note", `{"text":"1"}`), call("evaluate_expression", sum), call("free_note", `{"text":"2"}`), call("free_note", `{"text":"3"}`)), sayTurn("Noted.")},
			calls: "free_note evaluate_expression free_note free_note", check: func(t *testing.T, s *stage) {
				if got := strings.Join(s.probe.order, ""); got != "123" || s.probe.most != 1 {
					t.Errorf("%s, %d at once", got, s.probe.most)
				}
			},
		},
		{
			name: "results in the order of the calls",
			turns: []modeltest.Turn{callTurn(call("evaluate_expression", `{"expression":"10+1"}`), call("evaluate_expression", `{"expression":"20+2"}`), call("evaluate_expression", `{"expression":"30+3"}`),
				call("evaluate_expression", `{"expression":"40+4"}`)), sayTurn("Four sums.")},
			check: func(t *testing.T, s *stage) {
				all, at := s.results(), 0
				for _, want := range []string{"11", "22", "33", "44"} {
					i := strings.Index(all[at:], want)
					if i < 0 {
						t.Fatalf("%s is missing or out of order: %s", want, all)
					}
					at += i
				}
			},
		},
		{
			name: "a tool that fails", turns: []modeltest.Turn{callTurn(call("read_file", `{"path":"none.txt"}`)), sayTurn("There is no such file.")},
			calls: "read_file=failed", answer: "There is no such file.", results: []string{"none.txt"}, events: "tool_call:read_file tool_result:read_file! content done",
		},
		{
			name: "a person is asked by a tool", turns: []modeltest.Turn{callTurn(call("ask_user", `{"question":"Red or blue?","options":["red","blue"]}`)), sayTurn("Blue it is.")},
			person: []cribtest.Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Allow, Message: "blue", By: "ann"}}},
			calls:  "ask_user", results: []string{"blue"}, events: "tool_call:ask_user ask_user tool_result:ask_user content done",
			check: func(t *testing.T, s *stage) {
				if q := s.ev.question(); q == nil || q.Text != "Red or blue?" || len(q.Options) != 2 || q.Approval || q.ID != s.ev.id() {
					t.Errorf("%+v", q)
				}
			},
		},
		{
			name: "a person does not want to answer", turns: []modeltest.Turn{callTurn(call("ask_user", `{"question":"How old are you?"}`)), sayTurn("Never mind.")},
			person:  []cribtest.Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Deny, Message: "none of your business"}}},
			results: []string{"none of your business"}, answer: "Never mind.",
		},
		{
			name: "an image in a result", turns: []modeltest.Turn{callTurn(call("picture", `{}`)), sayTurn("A red dot.")}, results: []string{"a red dot"},
			check: func(t *testing.T, s *stage) {
				if m := lastResult(&s.c); len(m.Parts) != 2 || m.Parts[1].MIME != "image/png" {
					t.Errorf("%+v", m)
				}
				images := 0
				for _, m := range s.asked()[1].Messages {
					images += m.Images
				}
				if images != 1 {
					t.Errorf("the model got %d images", images)
				}
			},
		},
		{
			name: "an image for a model that sees none", turns: []modeltest.Turn{callTurn(call("picture", `{}`)), sayTurn("A dot.")}, results: []string{"you cannot see it"},
			setup: func(_ *testing.T, s *stage) { s.point.Traits.Images = false },
		},
		{
			name: "a huge result", turns: []modeltest.Turn{callTurn(call("huge", `{"size":2000000}`)), sayTurn("Long.")}, results: []string{"begin word", "end of huge", "were left out here"},
			check: func(t *testing.T, s *stage) {
				if n := len(lastResult(&s.c).Said()); n > longestResult+1000 {
					t.Errorf("%d bytes", n)
				}
			},
		},
		{
			name: "many tools are searched", turns: []modeltest.Turn{
				callTurn(call("search_tools", `{"query":"evaluate a mathematical expression"}`)), callTurn(call("call_tool", `{"name":"evaluate_expression","arguments":{"expression":"6*7"}}`)), sayTurn("It is 42."),
			},
			setup: withFinder, calls: "search_tools evaluate_expression", results: []string{"evaluate_expression", "42"}, answer: "It is 42.",
			events: "tool_call:search_tools tool_result:search_tools tool_call:evaluate_expression tool_result:evaluate_expression content done",
			check: func(t *testing.T, s *stage) {
				if r := s.asked()[0]; s.api != "react" && len(r.Tools) != 3 {
					t.Errorf("shown %v", r.Tools)
				}
			},
		},
		{
			name: "a tool that was found is called by its name", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), sayTurn("It is 42.")},
			setup: withFinder, calls: "evaluate_expression", results: []string{"42"},
		},
		{
			name: "call_tool without a name", turns: []modeltest.Turn{callTurn(call("call_tool", `{"arguments":{"expression":"6*7"}}`)), sayTurn("Wrong.")},
			setup: withFinder, results: []string{"it takes"},
		},
		{
			name: "another name for the same tool", turns: []modeltest.Turn{callTurn(call("Evaluate_Expression", sum)), sayTurn("It is 42.")}, calls: "evaluate_expression", results: []string{"42"},
		},
		{
			name: "a second input", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), sayTurn("It is 42."), sayTurn("You are welcome.")}, inputs: []string{"6*7?", "Thanks."},
			answer: "You are welcome.", check: func(t *testing.T, s *stage) {
				if n := len(s.asked()[2].Messages); n != 5 {
					t.Errorf("the third request has %d messages", n)
				}
			},
		},
		{
			name: "thoughts", turns: []modeltest.Turn{{Thought: "Let me think.", Text: "Thought about it."}}, answer: "Thought about it.", native: true,
			check: func(t *testing.T, s *stage) {
				var thought strings.Builder
				for _, e := range s.ev.list {
					thought.WriteString(e.Thought)
				}
				if thought.String() != "Let me think." || strings.Contains(s.ev.content(), "Let me") {
					t.Errorf("%q, %q", thought.String(), s.ev.content())
				}
			},
		},
	}
}

// withFinder gives the crib so many tools that they are searched.
func withFinder(t *testing.T, s *stage) {
	var crib *toolcrib.Crib
	box, err := finder.Open(t.Context(), finder.Config{}, finder.Needs{Tools: func(c toolcrib.Caller) iter.Seq[toolcrib.Entry] { return crib.Tools(c) }})
	if err != nil {
		t.Fatal(err)
	}
	*s.workshop = *newWorkshop(t, s.probe.box(), box, manyTools300(t))
	crib = s.Crib
	s.agent.Crib = crib
}

func (e *events) id() string {
	for _, ev := range e.list {
		if ev.ID != "" {
			return ev.ID
		}
	}
	return ""
}

func (e *events) question() *Question {
	for _, ev := range e.list {
		if ev.Question != nil {
			return ev.Question
		}
	}
	return nil
}
