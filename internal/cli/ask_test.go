package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func TestAtTerminal(t *testing.T) {
	q := toolcrib.Question{
		Call:    toolcrib.Call{Caller: toolcrib.Caller{Subject: "bob"}},
		Spec:    toolcrib.Spec{Name: "write_file"},
		Effects: toolcrib.Writes,
		Input:   json.RawMessage(`{"path":"a\u001b[2Jb\n  content: fine","content":"` + strings.Repeat("x", 300) + `"}`),
		Preview: "--- a\n+++ a\n-old\n+new\x1b[31m\n",
		Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "files", Reason: "it changes files; x: reads only\nsecond"}, {Decision: toolcrib.Allow, Guard: "other"}},
	}
	for typed, want := range map[string]toolcrib.Decision{
		"y\n": toolcrib.Allow, "YES\n": toolcrib.Allow, " y \n": toolcrib.Allow, "y": toolcrib.Allow,
		"n\n": toolcrib.Deny, "\n": toolcrib.Deny, "yes please\n": toolcrib.Deny, "ye\n": toolcrib.Deny, "n\ny\n": toolcrib.Deny,
	} {
		var out bytes.Buffer
		p := &atTerminal{in: bufio.NewReader(strings.NewReader(typed)), out: &out, by: "ann"}
		answer, err := p.Approve(t.Context(), q)
		if err != nil || answer.Decision != want || answer.By != "ann" {
			t.Errorf("%q: %+v, %v", typed, answer, err)
		}
		for _, part := range []string{
			"write_file, for bob, would run. It can: writes\n", "\n  path: a\\x1b[2Jb\n        content: fine\n", "\n  content: (300 bytes, see below)\n",
			"  -old\n  +new", "Asked by the files guard:\n  it changes files; x: reads only\n  second\n",
		} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("the question does not say %q:\n%s", part, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "the other guard") {
			t.Errorf("the question says too much: %q", out.String())
		}
	}
	p := &atTerminal{in: bufio.NewReader(strings.NewReader("")), out: new(bytes.Buffer)}
	if answer, err := p.Approve(t.Context(), q); err == nil {
		t.Errorf("nobody is there: %+v", answer)
	}
	p = &atTerminal{in: bufio.NewReader(strings.NewReader("blue\n")), out: new(bytes.Buffer)}
	answer, err := p.Approve(t.Context(), toolcrib.Question{Text: "Which colour?", Options: []string{"red", "blue"}})
	if err != nil || answer.Decision != toolcrib.Allow || answer.Message != "blue" {
		t.Errorf("%+v, %v", answer, err)
	}
}
