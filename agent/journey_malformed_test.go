package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// malformedJourneys are about calls that cannot be meant as they are.
func malformedJourneys() []journey {
	hundreds := make([]modeltest.Call, 200)
	for i := range hundreds {
		hundreds[i] = call("evaluate_expression", fmt.Sprintf(`{"expression":"%d+0"}`, i))
	}
	ok := sayTurn("I see.")
	return []journey{
		{
			name: "arguments are no JSON", turns: []modeltest.Turn{callTurn(call("evaluate_expression", `expression is 6*7`)), callTurn(call("evaluate_expression", sum)), sayTurn("It is 42.")},
			calls: "evaluate_expression=invalid evaluate_expression", results: []string{"no JSON object: expression is 6*7", "42"}, answer: "It is 42.",
			packed: true,
		},
		{
			name: "text: an input that is no JSON", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), sayTurn("It is 42.")}, calls: "evaluate_expression", results: []string{"42"}, answer: "It is 42.",
			react: []modeltest.Turn{sayTurn("Thought: x\nAction: evaluate_expression\nAction Input: expression is 6*7"), sayTurn("Thought: x\nAction: evaluate_expression\nAction Input: " + sum), sayTurn("FINAL_ANSWER: It is 42.")},
			check: func(t *testing.T, s *stage) {
				if s.api == "react" && !strings.Contains(s.asked()[1].Last(), "no JSON object: expression is 6*7") {
					t.Errorf("told %q", s.asked()[1].Last())
				}
			},
		},
		{
			name: "arguments with a comma too many", turns: []modeltest.Turn{callTurn(call("evaluate_expression", `{"expression":"6*7",}`)), sayTurn("It is 42.")}, calls: "evaluate_expression", results: []string{"42"}, packed: true,
		},
		{
			name: "arguments as text in text", turns: []modeltest.Turn{callTurn(call("evaluate_expression", `"{\"expression\":\"6*7\"}"`)), ok}, results: []string{"42"}, native: true,
		},
		{
			name: "arguments that were cut off", turns: []modeltest.Turn{callTurn(call("write_file", `{"path":"a.txt","content":"half of`)), ok}, packed: true,
			calls: "write_file=invalid", results: []string{"no JSON object"}, check: func(t *testing.T, s *stage) { s.has(t, "a.txt", "") },
		},
		{
			name: "the limit of tokens within a call", turns: []modeltest.Turn{{Calls: []modeltest.Call{call("write_file", `{"path":"a.txt","content":"half of`)}, Stop: "length"}, ok},
			results: []string{"reached its limit of tokens", "write less in one call"}, native: true, check: func(t *testing.T, s *stage) { s.has(t, "a.txt", "") },
		},
		{
			name: "arguments that do not fit", turns: []modeltest.Turn{callTurn(call("read_file", `{"path":7,"nonsense":true}`)), ok}, calls: "read_file=invalid", results: []string{"- path: ", "nonsense", "Mend the arguments"},
		},
		{
			name: "arguments are missing", turns: []modeltest.Turn{callTurn(call("evaluate_expression", `{}`)), ok}, calls: "evaluate_expression=invalid", results: []string{"expression"},
		},
		{
			name: "an unknown tool with a near name", turns: []modeltest.Turn{callTurn(call("evaluate_expresion", sum)), ok}, calls: "evaluate_expresion=not_found", results: []string{"did you mean evaluate_expression?"},
		},
		{
			name: "an unknown tool", turns: []modeltest.Turn{callTurn(call("launch_rocket", `{"to":"moon"}`)), ok}, calls: "launch_rocket=not_found", results: []string{`there is no tool "launch_rocket"`, "by exactly their names"},
		},
		{
			name: "a name with strange signs", turns: []modeltest.Turn{callTurn(call("run this; now!", `{}`)), ok}, native: true, results: []string{"there is no tool"},
			check: func(t *testing.T, s *stage) {
				for _, m := range s.asked()[1].Messages {
					for _, c := range m.Calls {
						if !validName(c.Name) {
							t.Errorf("the service gets %q back", c.Name)
						}
					}
				}
			},
		},
		{
			name: "an empty name", turns: []modeltest.Turn{callTurn(modeltest.Call{ID: "x", Arguments: sum}), ok}, native: true, results: []string{"there is no tool"},
		},
		{
			name: "the same ID twice", native: true,
			turns: []modeltest.Turn{callTurn(modeltest.Call{ID: "same", Name: "evaluate_expression", Arguments: sum}, modeltest.Call{ID: "same", Name: "evaluate_expression", Arguments: `{"expression":"1+1"}`}), ok},
			calls: "evaluate_expression evaluate_expression", results: []string{"42", "2"},
		},
		{
			name: "the same ID in two turns", native: true,
			turns: []modeltest.Turn{callTurn(modeltest.Call{ID: "same", Name: "evaluate_expression", Arguments: sum}), callTurn(modeltest.Call{ID: "same", Name: "evaluate_expression", Arguments: `{"expression":"1+1"}`}), ok},
			calls: "evaluate_expression evaluate_expression",
		},
		{
			name: "hundreds of calls", native: true, turns: []modeltest.Turn{callTurn(hundreds...), ok}, results: []string{"136 more calls of your answer were dropped"},
			check: func(t *testing.T, s *stage) {
				if n := len(s.journal.Records()); n != defaultCalls || len(s.c.Messages) != defaultCalls+3 {
					t.Errorf("%d calls, %d messages", n, len(s.c.Messages))
				}
			},
		},
		{
			name: "an empty answer", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), {}, sayTurn("It is 42.")}, answer: "It is 42.",
			react: []modeltest.Turn{sayTurn("Thought: x\nAction: evaluate_expression\nAction Input: " + sum), {}, sayTurn("FINAL_ANSWER: It is 42.")},
		},
		{
			name: "text: an observation is made up", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), sayTurn("It is 42.")}, results: []string{"42"}, answer: "It is 42.",
			react: []modeltest.Turn{sayTurn("Thought: x\nAction: evaluate_expression\nAction Input: " + sum + "\nObservation: {\"result\": 13}\nThought: good\nFINAL_ANSWER: It is 13."), sayTurn("Thought: x\nFINAL_ANSWER: It is 42.")},
			check: func(t *testing.T, s *stage) {
				if strings.Contains(s.ev.content(), "13") {
					t.Errorf("told %q", s.ev.content())
				}
			},
		},
		{
			name: "text: neither action nor answer", turns: []modeltest.Turn{ok}, answer: "I see.",
			react: []modeltest.Turn{sayTurn("Thought: I wonder what to do."), sayTurn("Thought: done\nFINAL_ANSWER: I see.")},
			check: func(t *testing.T, s *stage) {
				if s.api == "react" && !strings.Contains(s.asked()[1].Last(), "neither an Action") {
					t.Errorf("told %q", s.asked()[1].Last())
				}
				if len(s.c.Messages) != 2 || s.ev.content() != "I see." {
					t.Errorf("%d messages, told %q", len(s.c.Messages), s.ev.content())
				}
			},
		},
		{
			name: "text: it never keeps to the form", turns: []modeltest.Turn{ok},
			react: []modeltest.Turn{sayTurn("Thought: one"), sayTurn("Thought: two"), sayTurn("Thought: three"), sayTurn("Thought: four")}, stopped: "any",
			check: func(t *testing.T, s *stage) {
				if s.api == "react" && (s.out.Stopped != StoppedFormat || s.out.Text != "four") {
					t.Errorf("%+v", s.out)
				}
			},
		},
		{
			name: "text: a plain answer without the form", turns: []modeltest.Turn{ok}, react: []modeltest.Turn{ok}, answer: "I see.",
		},
		{
			name: "text: an action in Markdown", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), ok}, calls: "evaluate_expression", answer: "I see.",
			react: []modeltest.Turn{sayTurn("**Thought:** x\n**Action:** `evaluate_expression`\n**Action Input:**\n```json\n{\n  \"expression\": \"6*7\",\n}\n```\n"), sayTurn("**FINAL_ANSWER:** I see.")},
		},
	}
}
