package delegate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// paper is a team on paper: what it is told it says again.
type paper struct{ no error }

func (p paper) Avatars(toolcrib.Caller) []Avatar {
	return []Avatar{{ID: "helper", Name: "Helper", Role: "helps"}}
}

func (p paper) Start(_ context.Context, _ toolcrib.Call, o Order) (Status, error) {
	return Status{ID: "dlg-1", Name: o.Name, Avatar: o.Avatar, Task: o.Task, State: "running", Depth: 1}, p.no
}

func (p paper) Ask(_ context.Context, _ toolcrib.Call, avatar, message string) (Reply, error) {
	return Reply{Avatar: Avatar{ID: avatar}, Text: "You said:\n " + message}, p.no
}

func (p paper) Tell(_ context.Context, _ toolcrib.Call, id, _ string) (Status, error) {
	return Status{ID: id, State: "running"}, p.no
}

func (p paper) Status(_ context.Context, _ toolcrib.Call, id string, _ time.Duration) ([]Status, error) {
	if id == "" {
		return []Status{{ID: "a", State: "running"}, {ID: "b", State: "completed"}}, p.no
	}
	return []Status{{ID: id, State: "completed", Summary: "done"}}, p.no
}

func (p paper) Cancel(_ toolcrib.Call, id string) (Status, error) {
	return Status{ID: id, State: "cancelled"}, p.no
}

func (p paper) Retry(_ context.Context, _ toolcrib.Call, id, _ string) (Status, error) {
	return Status{ID: id, State: "running"}, p.no
}

func (p paper) Load(toolcrib.Caller) Load { return Load{CPU: 1, Memory: 2, Working: 3} }

func open(t testing.TB, team Team) toolcrib.Toolbox {
	t.Helper()
	box, err := Open(t.Context(), Config{}, Needs{Team: team})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return open(t, paper{}) })
	if _, err := Open(t.Context(), Config{}, Needs{}); err == nil {
		t.Error("opened without a team")
	}
}

// TestShapes: arguments and results have the names that AgenticX gives them.
func TestShapes(t *testing.T) {
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: &cribtest.Memory{}}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{open(t, paper{})}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	refusing := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: crib.Guards, Journal: crib.Journal}
	refusing.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{open(t, paper{&Refusal{Word: "not_found", Text: "nobody"}})}})
	for _, tt := range []struct {
		tool, input string
		has         []string
	}{
		{"delegate_to_avatar", `{"avatar_id":"helper","task":"x","category":"deep"}`, []string{`"ok":true`, `"delegated":true`, `"delegation_id":"dlg-1"`, `"agent_id":"dlg-1"`, `"avatar_id":"helper"`}},
		{"spawn_subagent", `{"name":"n","role":"r","task":"t","mode":"run","cleanup":"keep","run_timeout_seconds":60,"tools":["a"],"attachments":[{"name":"a","content":"b"}]}`, []string{`"ok":true`, `"agent_id":"dlg-1"`, `"name":"n"`, `"depth":1`, `"mode":"run"`}},
		{"chat_with_avatar", `{"avatar_id":"helper","message":"m"}`, []string{`"ok":true`, `"reply":"You said:\n m"`, `"relay_text":"You said: m"`, `"relay_mode":"summary"`}},
		{"chat_with_avatar", `{"avatar_id":"helper","message":"m","relay_mode":"verbatim"}`, []string{`"relay_text":"You said:\n m"`}},
		{"send_message_to_agent", `{"agent_id":"sa-1","message":"m"}`, []string{`"ok":true`, `"agent_id":"sa-1"`, `"status":"running"`}},
		{"query_subagent_status", `{"agent_id":"sa-1"}`, []string{`"ok":true`, `"subagent":{"agent_id":"sa-1"`, `"status":"completed"`, `"result_summary":"done"`}},
		{"query_subagent_status", `{}`, []string{`"subagents":[`, `"summary":{`, `"total":2`, `"running":1`, `"failed":0`}},
		{"cancel_subagent", `{"agent_id":"sa-1"}`, []string{`"status":"cancelled"`}},
		{"retry_subagent", `{"agent_id":"sa-1","task":"t"}`, []string{`"ok":true`, `"agent_id":"sa-1"`}},
		{"check_resources", `{}`, []string{`"allowed":true`, `"cpu_percent":1`, `"memory_percent":2`, `"active_subagents":3`, `"suggestion":`}},
		{"list_avatars", `{}`, []string{`"count":1`, `"avatars":[{"avatar_id":"helper"`, `"role":"helps"`}},
	} {
		call := toolcrib.Call{Tool: tt.tool, Input: json.RawMessage(tt.input), Caller: toolcrib.Caller{Agent: "lead"}}
		r, err := crib.Call(t.Context(), call)
		if err != nil || r.Failed {
			t.Fatalf("%s: %v, %v", tt.tool, err, r)
		}
		for _, part := range tt.has {
			if !strings.Contains(string(r.Value), part) {
				t.Errorf("%s: %s is not in %s", tt.tool, part, r.Value)
			}
		}
		if tt.tool != "check_resources" && tt.tool != "list_avatars" {
			if r, err := refusing.Call(t.Context(), call); err != nil || !r.Failed || !strings.Contains(string(r.Value), `"ok":false`) || !strings.Contains(string(r.Value), `"error":"not_found"`) {
				t.Errorf("%s: %v, %v", tt.tool, err, r)
			}
		}
		// Whoever works for another is refused, whatever a crib shows it.
		for _, agent := range []string{"lead/helper", "/", "/helper", "lead/"} {
			call.Caller.Agent = agent
			if _, err := crib.Call(t.Context(), call); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
				t.Errorf("%s for %q: %v", tt.tool, agent, err)
			}
		}
	}
}
