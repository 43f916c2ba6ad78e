package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/governed"
)

// TestMain is the program itself if a test starts it so.
func TestMain(m *testing.M) {
	programs := governed.Main()
	if dir := os.Getenv("GOVERNED_DIR"); dir != "" {
		if err := run(context.Background(), dir, programs); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestToolbox holds the contract to the common suite; testdata/specs/notes.json
// is what models will read.
func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(testing.TB) toolcrib.Toolbox { return toolcrib.NewBox("notes", keepNote()) })
}

// TestClient: the program is started by the official client. A rule refuses a
// call, the person who uses the client approves another, a command runs in a
// sandbox, and all of it is in the journal afterwards.
func TestClient(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "GOVERNED_DIR="+dir)
	cmd.Stderr = t.Output()
	asked := 0
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow it once"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, input any) (string, bool) {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: input})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, c := range r.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text += c.Text
			}
		}
		return text, r.IsError
	}
	if text, bad := call("keep_note", note{"my password is x"}); !bad || !strings.Contains(text, "denied") || asked != 0 {
		t.Errorf("a rule denies it: %q, asked %d times", text, asked)
	}
	if text, bad := call("keep_note", note{"buy milk"}); bad || !strings.Contains(text, `"notes":1`) || asked != 1 {
		t.Errorf("the person approved it: %q, asked %d times", text, asked)
	}
	want := 2
	if runtime.GOOS == "linux" {
		want++
		// Where no sandbox can be had the command is refused, and not run without one.
		if text, bad := call("run_command", map[string]any{"command": "echo hi"}); bad && !strings.Contains(text, "unavailable") || !bad && !strings.Contains(text, "hi") {
			t.Errorf("a command: %q", text)
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	crib, err := governed.Open(t.Context(), governed.Config{State: dir + "/state"})
	if err != nil {
		t.Fatal(err)
	}
	records, err := crib.Records(t.Context(), 0)
	if err != nil || len(records) != want {
		t.Fatalf("%d records: %v", len(records), err)
	}
	if r := records[len(records)-1]; r.Outcome != toolcrib.Outcome(toolcrib.CodeDenied) || r.Tool != "keep_note" {
		t.Errorf("the first record: %+v", r)
	}
	if r := records[len(records)-2]; r.Outcome != toolcrib.Done || r.ApprovedBy == "" || r.Caller.Subject != "local" {
		t.Errorf("the second record: %+v", r)
	}
	if err := crib.Close(); err != nil {
		t.Error(err)
	}
}
