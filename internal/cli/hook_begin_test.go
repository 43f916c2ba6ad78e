package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestIsHook: the hook is known by its name wherever global flags put it, and a word that only
// looks like it is none.
func TestIsHook(t *testing.T) {
	for line, want := range map[string]bool{
		"hook claude-code":                                   true,
		"--set mode=default hook claude-code":                true,
		"--set=mode=default --agent x hook claude-code":      true,
		"-o json --config f --deny hook --ask x hook codex":  true,
		"-ojson hook codex":                                  true,
		"--version hook codex":                               true,
		"--bogus hook codex":                                 true, // it fails, and has to block
		"--set mode=default --bogus x hook codex --ask desk": true,
		"hook claude-code --ask desk --bogus":                true,
		"":                                                   false,
		"--set hook":                                         false,
		"--agent hook tools":                                 false,
		"tools hook":                                         false,
		"help hook":                                          false,
		"call read_file --bogus hook":                        false,
		"--set mode=default call run_command --command=ls hook": false,
	} {
		if got := isHook(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// TestHookBehindFlags: with global flags before its name a hook is bounded too, and what fails
// before it runs blocks.
func TestHookBehindFlags(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	run := func(args ...string) (string, int, time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Args[0], cmd.Dir = "toolcrib", home
		cmd.Env = append(os.Environ(), "HOME="+home, "TOOLCRIB_HOME="+home)
		silent, err := cmd.StdinPipe() // a client that never says what it wants
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		var told strings.Builder
		cmd.Stderr = &told
		begun := time.Now()
		exit, _ := errors.AsType[*exec.ExitError](cmd.Run())
		return told.String(), exit.ExitCode(), time.Since(begun)
	}
	told, status, took := run("--set", "mode=default", "hook", "claude-code")
	if status != exitBlocked || !strings.Contains(told, "took longer than 5s") || took > 30*time.Second {
		t.Errorf("behind a flag a hook has no end: status %d after %s, %s", status, took, told)
	}
	for _, line := range []string{"--output nonsense hook claude-code", "--set mode=default --bogus hook claude-code", "--set mode=default hook"} {
		if _, status, _ := run(strings.Fields(line)...); status != exitBlocked {
			t.Errorf("%q ends with status %d", line, status)
		}
	}
	if got := new(command).hookStatus([]string{"--set", "mode=default", "hook", "codex"}, 9); got != exitBlocked {
		t.Errorf("what fails before the hook runs lets the call pass: status %d", got)
	}
}
