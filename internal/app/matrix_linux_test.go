package app

import (
	"encoding/json"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestPlanWritesNothing: in mode plan, with every rule in favour and everything
// else switched on, no tool by no name changes the directory.
func TestPlanWritesNothing(t *testing.T) {
	a, dir := workshop(t, func(c *settings.Config) {
		c.Mode = "plan"
		c.Toolboxes.Shell.AllowedCommands = []string{"touch", "rm", "cp", "tee", "go test"}
		c.Permissions.Allow = []string{"files/*", "shell/*", "run_command", "write_file", "group:fs", "group:exec"}
	})
	for _, name := range []string{"keep.txt", "old.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("one\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, dir)
	inputs := map[string][]string{
		"write_file":  {`{"path":"new.txt","content":"x"}`, `{"path":"keep.txt","content":"x"}`},
		"edit_file":   {`{"path":"keep.txt","old_text":"one","new_text":"two"}`},
		"delete_file": {`{"path":"old.txt"}`},
		"bash_exec":   {`{"command":"touch new"}`},
		"file_write":  {`{"path":"new.txt","content":"x"}`},
		"file_edit":   {`{"path":"keep.txt","old_text":"one","new_text":"two"}`},
	}
	lines := []string{
		"touch new", "echo x > new", "rm old.txt", "sh -c 'touch new'", "cp keep.txt new", "tee new < keep.txt", "sed -i s/one/two/ keep.txt",
		"find . -delete", "go test ./...", "git init", "python3 -c 'open(\"new\",\"w\")'", "ls; touch new", "ls | tee new", "env touch new", "true && > new",
	}
	for _, line := range lines {
		text, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		inputs["run_command"] = append(inputs["run_command"], string(text))
		inputs["start_command"] = append(inputs["start_command"], string(text))
	}
	tried := 0
	for _, dialect := range []string{"", "ovos", "agenticx"} {
		for _, tool := range slices.Sorted(maps.Keys(inputs)) {
			for _, in := range inputs[tool] {
				_, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(in), Lenient: true, Caller: toolcrib.Caller{Subject: "s", Dialect: dialect}})
				switch code := toolcrib.CodeOf(err); {
				case err == nil && strings.HasSuffix(tool, "_command"): // it ran, and what it changed is dropped
					tried++
				case err == nil: // a dialect may put a refusal into a result; the record knows
					if got := newest(t, a); got.Outcome == toolcrib.Done && strings.Contains(got.Tool, "rite") {
						t.Errorf("%s %s in %q was done", tool, in, dialect)
					}
				case code == toolcrib.CodeDenied:
					tried++
				case code != toolcrib.CodeNotFound && code != toolcrib.CodeInvalid:
					t.Errorf("%s %s in %q: %v", tool, in, dialect, err)
				}
			}
		}
	}
	if tried < 3*len(lines) {
		t.Errorf("only %d calls were denied or changed nothing", tried)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the directory was changed:\n%s", diff)
	}
}

// tree is every file below a directory with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			out[path] = "dir"
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGuardsInAnyOrder: the guards as they are wired, shuffled a thousand
// times, give the same verdict and the same reasons.
func TestGuardsInAnyOrder(t *testing.T) {
	a, _ := workshop(t, func(c *settings.Config) {
		c.Mode, c.Toolboxes.Shell.Ask = "default", true
		c.Permissions.Allow = []string{"run_command(go test *)", "write_file(./src/**)"}
		c.Permissions.Ask = []string{"delete_file"}
		c.Permissions.Deny = []string{"write_file(./secret/**)"}
		c.Bounds.Timeouts = map[string]time.Duration{"group:exec": time.Minute}
		c.Bounds.Budgets = []settings.SafetyBudget{{Name: "all", Per: time.Hour, Calls: 1000}}
	})
	calls := map[string]string{
		"read_file":   `{"path":"a"}`,
		"write_file":  `{"path":"secret/a","content":"ghp_R7mQ2vN9xK4pT8cW1zL6gH3sD5fJ0aB7nM2q"}`,
		"delete_file": `{"path":"a"}`,
		"run_command": `{"command":"go test ./... && rm x"}`,
	}
	fixed, current := a.Crib.Guards, a.Crib.MoreGuards
	judge := func(tool string) (toolcrib.Decision, []toolcrib.Verdict) {
		j, err := a.Crib.Judge(t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(calls[tool])})
		if err != nil {
			t.Fatal(err)
		}
		return j.Decision, j.Verdicts
	}
	for tool := range calls {
		want, reasons := judge(tool)
		for range 250 { // of four calls: a thousand orders
			a.Crib.Guards = nil
			a.Crib.MoreGuards = func() []toolcrib.Guard {
				all := slices.Concat(fixed, current())
				rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
				return all
			}
			got, why := judge(tool)
			if got != want || !cmp.Equal(why, reasons, cmp.Comparer(func(a, b *toolcrib.Grant) bool { return cmp.Equal(a, b) })) {
				t.Fatalf("%s: %s, not %s\n%s", tool, got, want, cmp.Diff(reasons, why))
			}
		}
		a.Crib.Guards, a.Crib.MoreGuards = fixed, current
	}
}
