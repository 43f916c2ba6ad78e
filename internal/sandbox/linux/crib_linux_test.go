//go:build amd64 || arm64

package linux

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// shellBox has a tool that runs a line, and one that must not.
type shellBox struct{}

func (shellBox) Name() string { return "shell" }

func (shellBox) Tools(context.Context) ([]toolcrib.Tool, error) {
	run := func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		if env.Exec == nil {
			return toolcrib.Text("no handle"), nil
		}
		var in struct {
			Line string `json:"line"`
		}
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		var out strings.Builder
		exit, err := env.Exec(ctx, toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", in.Line}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out})
		if err != nil {
			return nil, err
		}
		if exit.TimedOut {
			out.WriteString("out of time")
		}
		return toolcrib.Text(out.String()), nil
	}
	schema := json.RawMessage(`{"type":"object","properties":{"line":{"type":"string"}},"required":["line"]}`)
	tool := func(name string, effects toolcrib.Effects) toolcrib.Tool {
		return toolcrib.Tool{Spec: toolcrib.Spec{Name: name, Description: "Runs a line.", Effects: effects, Input: schema}, Run: run}
	}
	return []toolcrib.Tool{tool("run_line", toolcrib.Reads|toolcrib.Writes|toolcrib.Runs), tool("run_short", toolcrib.Runs), tool("look", toolcrib.Reads)}, nil
}

// TestInCrib puts the whole together as the program does: a crib with a
// chooser as its one sandbox.
func TestInCrib(t *testing.T) {
	open(t, Config{}) // skips where there is none
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".env"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	chooser, err := sandbox.NewChooser(sandbox.Config{
		Candidates: []sandbox.Candidate{{Name: sandbox.Linux, Strength: sandbox.Isolated, Open: func(ctx context.Context) (toolcrib.Sandbox, error) {
			return Open(ctx, Config{Shield: shield})
		}}},
		Overrides: map[string]sandbox.Override{"run_short": {MaxTimeout: 300 * time.Millisecond}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := chooser.Close(); err != nil {
			t.Error(err)
		}
	})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Programs: []string{"*"}, Bounds: toolcrib.BoundTime}
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Sandbox: chooser, Grant: grant,
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads | toolcrib.Writes | toolcrib.Runs)},
	}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{shellBox{}}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, c := range []struct{ tool, line, want string }{
		{"run_line", "echo made >file; cat file; pwd; ls /home 2>/dev/null; cat .env 2>/dev/null || echo hidden", "made\n" + root + "\nhidden\n"},
		{"run_short", "sleep 100", "out of time"},
		{"look", "echo no", "no handle"},
	} {
		input, err := json.Marshal(map[string]string{"line": c.line})
		if err != nil {
			t.Fatal(err)
		}
		r, err := crib.Call(t.Context(), toolcrib.Call{Tool: c.tool, Input: input})
		if err != nil || r.String() != c.want {
			t.Errorf("%s: %v, error %v; want %q", c.tool, r, err, c.want)
		}
	}
}
