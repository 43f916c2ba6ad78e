package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestJudgeSaysWhatACallGets: what is told beforehand is what becomes of the call.
func TestJudgeSaysWhatACallGets(t *testing.T) {
	cfg := settings.Defaults()
	cfg.Mode = "yolo"
	cfg.Permissions.Deny = []string{"write_file"}
	cfg.Permissions.Ask = []string{"read_file", "web_fetch"}
	cfg.Toolboxes.Web.Enabled = true
	asked := 0
	a, err := Open(t.Context(), cfg, Needs{State: filepath.Join(t.TempDir(), "state"), Settings: filepath.Join(t.TempDir(), "config.yaml"), Dir: t.TempDir(), Home: t.TempDir(), Approver: approves(func() { asked++ })})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, tt := range []struct {
		tool, input string
		want        toolcrib.Decision
	}{
		{"mcp_call", `{"tool_name":"write_file","arguments":{"path":"x","content":"y"}}`, toolcrib.Deny},
		{"mcp_call", `{"tool_name":"mcp_call","arguments":{"tool_name":"write_file","arguments":{"path":"x","content":"y"}}}`, toolcrib.Deny},
		{"mcp_call", `{"tool_name":"list_files"}`, toolcrib.Allow},
		{"mcp_call", `{"tool_name":"read_file","arguments":{"path":"x"}}`, toolcrib.Ask},
		{"read_file", `{"path":"x"}`, toolcrib.Ask},
		{"read_file", `{"path":".env"}`, toolcrib.Deny},
		{"read_file", `{"path":"../../x"}`, toolcrib.Deny},
		{"web_fetch", `{"url":"https://example.com/"}`, toolcrib.Deny},
	} {
		call := toolcrib.Call{Tool: tt.tool, Input: json.RawMessage(tt.input)}
		j, err := a.Judge(t.Context(), call)
		if err != nil || j.Decision != tt.want {
			t.Errorf("%s %s: told %s, %v; want %s", tt.tool, tt.input, j.Decision, err, tt.want)
		}
		asked = 0
		if _, err := a.Crib.Call(t.Context(), call); (toolcrib.CodeOf(err) == toolcrib.CodeDenied) != (tt.want == toolcrib.Deny) || (asked > 0) != (tt.want == toolcrib.Ask) {
			t.Errorf("%s %s: asked %d times, %v; want %s", tt.tool, tt.input, asked, err, tt.want)
		}
	}
}

// approves says yes.
type approves func()

func (f approves) Approve(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
	f()
	return toolcrib.Answer{Decision: toolcrib.Allow}, nil
}

// TestCalledByNameKeepsLabels: mcp_call has no labels of its own, and what is read through
// it counts all the same.
func TestCalledByNameKeepsLabels(t *testing.T) {
	cfg := settings.Defaults()
	cfg.Mode, cfg.Grant.Hosts, cfg.Toolboxes.Web.Enabled = "yolo", []string{"example.com"}, true
	a, err := Open(t.Context(), cfg, Needs{State: filepath.Join(t.TempDir(), "state"), Settings: filepath.Join(t.TempDir(), "config.yaml"), Dir: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	caller := toolcrib.Caller{Subject: "me", Session: "s"}
	send := func() toolcrib.Decision {
		j, err := a.Judge(t.Context(), toolcrib.Call{Tool: "web_fetch", Caller: caller, Input: json.RawMessage(`{"url":"https://example.com/?x=y"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return j.Decision
	}
	if got := send(); got != toolcrib.Allow {
		t.Errorf("before anything was read: %s", got)
	}
	if _, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "mcp_call", Caller: caller, Input: json.RawMessage(`{"tool_name":"list_files"}`)}); err != nil {
		t.Fatal(err)
	}
	if got := send(); got != toolcrib.Ask {
		t.Errorf("after private data was read by mcp_call: %s", got)
	}
}
