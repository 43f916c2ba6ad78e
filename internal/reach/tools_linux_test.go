package reach_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/script"
)

func TestMain(m *testing.M) {
	linux.Main()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	os.Exit(m.Run())
}

// declared is a sandbox that runs programs as tools of a file: what is granted is what the file declares. So the attacks on
// sandboxes are attacks by scripts of a person's folder.
type declared struct {
	*linux.Sandbox // as it is: what else it has, such as the largest file, is tried as well
	home           string
}

func (d declared) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if grant.Bounds&^d.Enforces() != 0 || !filepath.IsAbs(cmd.Path) || slices.Contains(append(cmd.Args, cmd.Dir), "\x00") {
		return d.Sandbox.Run(ctx, cmd, grant) // what no file can declare
	}
	for _, dir := range grant.Dirs {
		if there, err := filepath.EvalSymlinks(dir.Path); err != nil || there != dir.Path || !filepath.IsAbs(dir.Path) {
			return d.Sandbox.Run(ctx, cmd, grant)
		}
	}
	f := &toolfile.File{Path: "/tools/tool.sh", Kind: toolfile.Command, Hosts: grant.Hosts, Timeout: grant.Time}
	for _, dir := range grant.Dirs {
		if dir.Write {
			f.Write = append(f.Write, dir.Path)
		} else {
			f.Read = append(f.Read, dir.Path)
		}
	}
	for _, v := range cmd.Env {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return d.Sandbox.Run(ctx, cmd, grant)
		}
		f.Env = append(f.Env, toolfile.Variable{Name: name, Value: value})
	}
	t := &reach.Tools{
		Launcher: &reach.Launcher{Env: func(string) (string, bool) { return "", false }}, Box: d.Sandbox,
		Start: reach.Start{Dir: cmd.Dir}, Copies: reach.CopiesIn(d.home),
	}
	p := script.Program{File: f, Tool: "tool", Words: append([]string{cmd.Path}, cmd.Args...), Self: -1, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr}
	if filepath.Base(cmd.Path) == "attacker" && cmd.Args[0] != "env" { // by a script, whose copy runs, but a shell adds a variable
		f.Content = []byte("#!/bin/sh\nexec \"$@\"\n")
		f.Hash = toolfile.HashOf(f.Content)
		p.Words, p.Self = append([]string{""}, p.Words...), 0
	}
	if cmd.Dir != "" {
		f.Read = append(f.Read, ".") // where it starts
	}
	return t.Run(ctx, p)
}

// TestHostileTools: a program that a file declares is held by all that holds commands.
func TestHostileTools(t *testing.T) {
	limits := sandbox.Limits{MemoryBytes: cribtest.SandboxMemory, Processes: cribtest.SandboxProcesses, FileBytes: cribtest.SandboxFile}
	home := t.TempDir()
	cribtest.Sandbox(t, func(t testing.TB) toolcrib.Sandbox {
		box, err := linux.Open(t.Context(), linux.Config{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := box.Close(); err != nil {
				t.Error(err)
			}
		})
		return declared{Sandbox: box, home: home}
	})
}
