package safety

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestMarksAreNotWritten: a mark goes to no tool that could write it, however
// it is spelt, and to every tool that changes nothing.
func TestMarksAreNotWritten(t *testing.T) {
	m := Marks{Except: []string{"files"}, Effects: func(_ context.Context, r toolcrib.Review) toolcrib.Effects {
		if strings.Contains(string(r.Input), "grep") {
			return toolcrib.Reads | toolcrib.Runs
		}
		return 0
	}}
	all := toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs | toolcrib.Network
	for _, tt := range []struct {
		box     string
		effects toolcrib.Effects
		input   string
		place   string // empty: it may run
	}{
		{"shell", all, `{"command":"sed -i s/x/[redacted]/ .env"}`, "command"},
		{"shell", all, `{"command":"cat > .env <<E\nAPI=[redacted]\nE"}`, "command"},
		{"shell", all, `{"command":"grep -F [redacted] x"}`, ""},
		{"shell", all, `{"command":"ls"}`, ""},
		{"fs", 0, `{"path":"a","content":"API=[redacted]"}`, "content"},
		{"fs", 0, `{"path":"a","content":"API=\u005bredacted\u005d"}`, "content"},
		{"fs", 0, `{"path":"a","content":"API=[\u0072edacted]"}`, "content"},
		{"fs", 0, `{"edits":[{"new":"x"},{"new":"API=[redacted]"}]}`, "edits[1].new"},
		{"fs", 0, `{"[redacted]":1}`, "input"},
		{"fs", 0, `{"a":"redacted"}`, ""},
		{"notes", toolcrib.Writes, `{"text":"[redacted]"}`, "text"},
		{"notes", toolcrib.Reads, `{"text":"[redacted]"}`, ""},
		{"web", toolcrib.Reads | toolcrib.Network, `{"query":"[redacted]"}`, ""},
		{"files", toolcrib.Reads | toolcrib.Writes, `{"content":"[redacted]"}`, ""},
	} {
		v, err := m.Judge(t.Context(), toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Effects: tt.effects}, Box: tt.box, Native: "x"}, Input: json.RawMessage(tt.input)})
		if err != nil {
			t.Fatal(err)
		}
		if denied := v != nil && v.Decision == toolcrib.Deny; denied != (tt.place != "") || denied && !strings.HasPrefix(v.Reason, tt.place+" has [redacted]") {
			t.Errorf("%s %s: %+v", tt.box, tt.input, v)
		}
	}
}
