package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestWithoutLayersLinesAreJudged: where no layer can be had a command is judged by its
// line and works on the live files, as if sandbox.layers were off, and the person is told
// why.
func TestWithoutLayersLinesAreJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*settings.Config)
		spoil  func(state string) error
		why    string
	}{
		"another sandbox":            {func(c *settings.Config) { c.Sandbox.Backend = sandbox.Host }, func(string) error { return nil }, ""},
		"no place for a layer":       {func(c *settings.Config) { c.Sandbox.Backend = sandbox.Linux }, func(state string) error { return os.WriteFile(filepath.Join(state, "layers"), nil, 0o600) }, "no directory for layers can be made"},
		"no place, in the plan mode": {func(c *settings.Config) { c.Sandbox.Backend, c.Mode = sandbox.Linux, "plan" }, func(state string) error { return os.WriteFile(filepath.Join(state, "layers"), nil, 0o600) }, "no directory for layers can be made"},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir, state, home := filepath.Join(base, "work"), filepath.Join(base, "state"), filepath.Join(base, "home")
			for _, d := range []string{dir, state, home} {
				if err := os.Mkdir(d, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.spoil(state); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("one\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := settings.Defaults()
			cfg.Toolboxes.Shell.AllowShell, cfg.Mode = true, "default"
			cfg.Permissions.Allow = []string{"run_command(cp a b)"}
			c.change(&cfg)
			var log bytes.Buffer
			a, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: home, Private: []string{state}, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := a.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			for _, line := range []string{`echo two > a`, `f() { eval "cat $1"; }; f a`, `rm a`} {
				if _, _, err := lineOn(t, a, line); err == nil {
					t.Errorf("%q ran unasked", line)
				}
			}
			_, _, err = lineOn(t, a, `cp a b`)
			if text, _ := os.ReadFile(filepath.Join(dir, "b")); (err == nil && string(text) == "one\n") != (name == "no place for a layer") { // host is too weak for it, plan allows none
				t.Errorf("what a rule allows: %q, %v", text, err)
			}
			if said := log.String(); strings.Count(said, "sandbox.layers") != min(len(c.why), 1) || !strings.Contains(said, c.why) {
				t.Errorf("told %q", said)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != "one\n" {
				t.Errorf("a file was changed: %q, %v", text, err)
			}
		})
	}
}
