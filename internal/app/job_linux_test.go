package app

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestTypedIntoAJob: the guard knows the jobs of the toolbox, so that a line which
// is typed into a shell is judged as a line, and not asked about as unknown.
func TestTypedIntoAJob(t *testing.T) {
	a, _ := workshop(t, func(c *settings.Config) { c.Mode = "default" })
	asked := &person{says: toolcrib.Allow}
	a.Crib.Approver = asked
	call := func(tool string, input map[string]any) (out struct{ Job string }) {
		t.Helper()
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: text, Caller: toolcrib.Caller{Subject: "ann"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(r.Value, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	job := call("start_command", map[string]any{"command": "sh", "wait": 0}).Job
	asked.asked = 0
	call("command_input", map[string]any{"job": job, "text": "ls -la", "wait": 0})
	if asked.asked != 0 {
		t.Error("a line that only looks was asked about")
	}
	call("command_input", map[string]any{"job": job, "text": "touch made", "wait": 0})
	if asked.asked != 1 {
		t.Errorf("a line that writes was asked about %d times", asked.asked)
	}
	call("stop_command", map[string]any{"job": job})
}
