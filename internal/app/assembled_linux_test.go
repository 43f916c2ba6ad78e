package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestAssembledCommands: after a private read a command is not asked about that
// has no way to other machines, or that only reads; one that has both is.
func TestAssembledCommands(t *testing.T) {
	for name, hosts := range map[string][]string{"offline": nil, "online": {"*"}} {
		t.Run(name, func(t *testing.T) {
			a, dir := workshop(t, func(c *settings.Config) {
				c.Grant.Hosts, c.Mode, c.Permissions.Allow = hosts, "default", []string{"run_command(cp *)"}
			})
			put(t, filepath.Join(dir, "plan.txt"), []byte("the merger is on Friday [redacted]\n"))
			if _, err := callText(t, a, "read_file", `{"path":"plan.txt"}`); err != nil {
				t.Fatal(err)
			}
			// It has a mark of redaction in it, and would not be taken if it wrote.
			if out, err := runCommand(t.Context(), a, `grep -cF '[redacted]' plan.txt`, 20); err != nil || out.Stdout != "1\n" {
				t.Errorf("a command that reads: %+v, %v", out, err)
			}
			out, err := runCommand(t.Context(), a, "cp plan.txt copy.txt", 20)
			if (err == nil) != (hosts == nil) || err == nil && out.ExitCode != 0 {
				t.Errorf("a command that may do more: %+v, %v", out, err)
			}
			if _, err := runCommand(t.Context(), a, "echo 'KEY=[redacted]' > key.txt", 20); err == nil {
				t.Error("a mark of redaction was written")
			}
		})
	}
}

// TestAssembledHookProgram: a hook that is a program runs in a directory of its
// own, and nothing is kept for a program that is closed.
func TestAssembledHookProgram(t *testing.T) {
	state, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cfg, out := settings.Defaults(), filepath.Join(t.TempDir(), "where")
	cfg.Safety.Hooks = map[string]settings.SafetyHook{"h": {
		Command: []string{"/bin/sh", "-c", `pwd -P > "$OUT"; echo '{"decision":"allow"}'`}, Env: map[string]string{"OUT": out}, Tools: []string{"clock/*"},
	}}
	a, err := Open(t.Context(), cfg, Needs{State: state, Dir: t.TempDir(), Home: t.TempDir(), Unattended: desk.Leave})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := callText(t, a, "get_current_datetime", `{}`); err != nil {
		t.Error(err)
	}
	if where, err := os.ReadFile(out); err != nil || strings.TrimSpace(string(where)) != filepath.Join(state, "hooks") {
		t.Errorf("the hook ran in %s, %v", where, err)
	}
	if _, err := a.bounds.Artifacts.Put(session("s"), []byte("text")); err != nil {
		t.Error(err)
	}
	if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	if _, err := a.bounds.Artifacts.Put(session("s"), []byte("text")); err == nil {
		t.Error("the directory of artifacts is still open")
	}
}

// TestOnlyAllowedCommands: with nobody to ask, the commands that rules allow are all
// that may run, even if it is a single one; with no rule at all, what only reads may.
func TestOnlyAllowedCommands(t *testing.T) {
	for name, c := range map[string]struct {
		allow []string
		ls    bool
	}{"one": {[]string{"run_command(head *)"}, false}, "two": {[]string{"run_command(head *)", "run_command(cp *)"}, false}, "none": {nil, true}} {
		a, _ := workshop(t, func(cfg *settings.Config) {
			cfg.Mode, cfg.Permissions.Allow, cfg.Toolboxes.Shell.Ask = "default", c.allow, false
		})
		if out, err := runCommand(t.Context(), a, "head -c1 /dev/null", 20); err != nil || out.ExitCode != 0 {
			t.Errorf("%s: head: %+v, %v", name, out, err)
		}
		if _, err := runCommand(t.Context(), a, "ls", 20); (err == nil) != c.ls {
			t.Errorf("%s: ls: %v", name, err)
		}
	}
}
