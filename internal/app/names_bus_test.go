package app

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/namecheck"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestNamesOfTheBus: what 'toolcrib bus list' shows can be typed into rules and
// settings.
func TestNamesOfTheBus(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), []byte("x\n"))
	judge := func(t *testing.T, change func(*settings.Config)) (toolcrib.Decision, []namecheck.Unmatched, error) {
		t.Helper()
		cfg := settings.Defaults()
		cfg.Grant.Write = []string{dir}
		change(&cfg)
		a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: dir, Home: t.TempDir(), Log: slog.New(slog.DiscardHandler), Layers: &settings.Layers{User: cfg}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		j, err := a.Crib.Judge(t.Context(), toolcrib.Call{Tool: "list_files", Input: json.RawMessage(`{"path":"."}`), Caller: toolcrib.Caller{Subject: "ann"}})
		return j.Decision, a.Unmatched(t.Context(), nil), err
	}
	for _, name := range []string{
		"ovos-filesystem-tools/list_files", "ovos-filesystem-tools/list_directory", "ovos-filesystem-tools/*", "box:ovos-filesystem-tools",
		"ovos-filesystem-tools__list_files", "ovos-filesystem-tools__list_directory", "ovos-filesystem-tools__list_*", "ovos-file*/list_files",
	} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			if decision, left, err := judge(t, func(c *settings.Config) { c.Permissions = policy.Permissions{Deny: []string{name}} }); err != nil || decision != toolcrib.Deny || len(left) > 0 {
				t.Errorf("deny: %v, %v, %v", decision, err, left)
			}
			if decision, _, err := judge(t, func(c *settings.Config) { c.Permissions = policy.Permissions{Ask: []string{name}} }); err != nil || decision != toolcrib.Ask {
				t.Errorf("ask: %v, %v", decision, err)
			}
			if strings.HasPrefix(name, "box:") {
				return
			}
			if _, _, err := judge(t, func(c *settings.Config) { c.Tools.Disable = []string{name} }); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
				t.Errorf("disable: %v", err)
			}
		})
	}
	if _, left, _ := judge(t, func(c *settings.Config) {
		c.Permissions = policy.Permissions{Deny: []string{"ovos-filesystem-tool/list_files", "list_file"}}
	}); len(left) != 2 || !strings.Contains(left[0].String()+left[1].String(), "ovos-filesystem-tools/list_files") {
		t.Errorf("misspelt: %v", left)
	}
}

// TestRunMeansStart: who takes run_command away takes start_command away.
func TestRunMeansStart(t *testing.T) {
	for _, name := range []string{"run_command", "shell/run_command", "bash_exec", "ovos-shell-tools/run_command", "shell__run_command"} {
		cfg := settings.Defaults()
		cfg.Toolboxes.Shell.AllowShell = true
		cfg.Grant.Write = []string{t.TempDir()}
		has := func(cfg settings.Config, caller toolcrib.Caller) bool {
			a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: cfg.Grant.Write[0], Home: t.TempDir(), Log: slog.New(slog.DiscardHandler), Layers: &settings.Layers{User: cfg}})
			if err != nil {
				t.Fatal(err)
			}
			_, run := a.Crib.Tool(caller, "run_command")
			_, start := a.Crib.Tool(caller, "start_command")
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if run != start {
				t.Errorf("%s: run_command %v, start_command %v for %q", name, run, start, caller.Agent)
			}
			return run
		}
		off := cfg
		off.Tools.Disable = []string{name}
		if has(off, toolcrib.Caller{Subject: "ann"}) {
			t.Errorf("%s: it is there", name)
		}
		given := cfg
		given.Agents = map[string]settings.Agent{"w": {Tools: []string{name}}}
		if has(given, toolcrib.Caller{Subject: "ann"}) || !has(given, toolcrib.Caller{Subject: "ann", Agent: "w"}) {
			t.Errorf("%s: it is not assigned", name)
		}
	}
}
