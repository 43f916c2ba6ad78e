package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/modeltest"
)

const newFile = `{"path":"new.txt","content":"hello"}`

func (s *stage) has(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(s.dir, name))
	if want == "" && err == nil || want != "" && string(got) != want {
		t.Errorf("%s has %q (%v), want %q", name, got, err, want)
	}
}

// refusalJourneys are about calls that are not made, or only if somebody says so.
func refusalJourneys() []journey {
	write := []modeltest.Turn{callTurn(call("write_file", newFile)), sayTurn("So be it.")}
	return []journey{
		{
			name: "denied by a rule", turns: []modeltest.Turn{callTurn(call("delete_file", `{"path":"a.txt"}`)), sayTurn("I may not.")}, setup: func(t *testing.T, s *stage) { s.write(t, "a.txt", "kept") },
			calls: "delete_file=denied", results: []string{"a rule forbids it: ", "nothing is removed here", "Repeating it will not help"}, events: "tool_call:delete_file tool_result:delete_file! content done",
			check: func(t *testing.T, s *stage) { s.has(t, "a.txt", "kept") },
		},
		{
			name: "approved", turns: write, person: []cribtest.Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Allow, By: "ann"}}}, calls: "write_file",
			events: "tool_call:write_file ask_user tool_result:write_file content done", check: func(t *testing.T, s *stage) {
				s.has(t, "new.txt", "hello")
				if q := s.ev.question(); q == nil || !q.Approval || !strings.Contains(q.Text, "write_file") || !strings.Contains(q.Text, "it changes files") {
					t.Errorf("%+v", q)
				}
			},
		},
		{
			name: "refused by a person", turns: write, person: []cribtest.Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Deny}}}, calls: "write_file=denied",
			results: []string{"a person said no.", "Do not repeat it"}, events: "tool_call:write_file ask_user tool_result:write_file! content done", check: func(t *testing.T, s *stage) { s.has(t, "new.txt", "") },
		},
		{
			name: "refused with a reason", turns: write, person: []cribtest.Reply{{Answer: toolcrib.Answer{Message: "use another folder"}}}, calls: "write_file=denied",
			results: []string{"a person said no: use another folder."},
		},
		{
			name: "nobody to ask", turns: write, setup: func(_ *testing.T, s *stage) { s.Crib.Approver = Asks(nil) }, calls: "write_file=unavailable",
			results: []string{"nobody is there to be asked", "say what somebody has to approve"}, events: "tool_call:write_file tool_result:write_file! content done",
		},
		{
			name: "nobody could be asked", turns: write, person: []cribtest.Reply{{Err: errNobody}}, calls: "write_file=unavailable", results: []string{"nobody could be asked", "Go on with what needs no approval"},
		},
		{
			name: "no answer in time", turns: write, person: []cribtest.Reply{{Silent: true}}, setup: func(_ *testing.T, s *stage) { s.Limits.Ask = 50 * time.Millisecond },
			calls: "write_file=timeout", results: []string{"did not answer within", "Nobody has said no."},
		},
		{
			name: "a person changes the arguments", turns: write, person: []cribtest.Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Allow, Input: json.RawMessage(`{"path":"new.txt","content":"better"}`)}}},
			calls: "write_file", check: func(t *testing.T, s *stage) { s.has(t, "new.txt", "better") },
		},
		{
			name: "a tool takes too long", turns: []modeltest.Turn{callTurn(call("wait", `{}`)), sayTurn("Too slow.")},
			setup: func(_ *testing.T, s *stage) {
				s.Limits.Timeout, s.Limits.Grace = 50*time.Millisecond, 50*time.Millisecond
			}, calls: "wait=timeout", results: []string{"It took too long"},
		},
		{
			name: "a tool breaks down", turns: []modeltest.Turn{callTurn(call("broken", `{}`)), sayTurn("It broke.")}, calls: "broken=internal", results: []string{"The call broke down", "no fault of your arguments"},
		},
		{
			name: "the journal is away", turns: []modeltest.Turn{callTurn(call("evaluate_expression", sum)), sayTurn("Not now.")},
			setup: func(_ *testing.T, s *stage) { s.journal.BeginErr = errNobody }, results: []string{"It cannot be called now"},
		},
		{
			name: "denied and tried again another way", turns: []modeltest.Turn{callTurn(call("delete_file", `{"path":"a.txt"}`)), callTurn(call("free_note", `{"text":"a.txt is old"}`)), sayTurn("I noted it.")},
			calls: "delete_file=denied free_note", answer: "I noted it.",
		},
		{
			name: "two questions in one answer", turns: []modeltest.Turn{callTurn(call("write_file", newFile), call("write_file", `{"path":"two.txt","content":"2"}`)), sayTurn("One of two.")},
			person: []cribtest.Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Deny}}, {Answer: toolcrib.Answer{Decision: toolcrib.Allow}}}, calls: "write_file=denied write_file",
			check: func(t *testing.T, s *stage) { s.has(t, "new.txt", ""); s.has(t, "two.txt", "2") },
		},
	}
}
