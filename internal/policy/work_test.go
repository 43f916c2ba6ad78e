package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// workDesk is the desk of somebody who works in a project, with what the program
// puts up around it: what is granted, protected, obeyed and denied.
func workDesk(t testing.TB, m Mode, allow []string) (*Policy, []toolcrib.Guard) {
	t.Helper()
	machine := shelltest.NewMachine()
	shell := shellOn(t, machine)
	perm := Permissions{Allow: allow, Deny: []string{"files/*(./secrets/**)"}, Ask: []string{"write_file(./deploy/**)"}}
	rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: perm}}, RuleOptions{
		Own: []string{"files", "shell", "web"}, Base: work, Home: home, Resolve: machine.EvalSymlinks, Shell: shell, Conditions: &Conditions{},
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := sensitive.NewObeyedSet()
	if err != nil {
		t.Fatal(err)
	}
	obeyed := &Obeyed{Set: set, Roots: []string{work}, Base: work, Home: home, Resolve: machine.EvalSymlinks}
	p := &Policy{Rules: rules, Mode: inMode(m), Shell: shell, Obeyed: obeyed}
	shell.Rules, shell.Unasked, shell.Obeyed = rules.Commands(), p.Unasked, obeyed.At
	shell.Glob = func(string) ([]string, error) { return []string{work + "/a.txt"}, nil }
	shell.Reach = func(full string) error {
		target, err := machine.EvalSymlinks(full)
		if err != nil {
			return err
		}
		if !pathglob.Within(target, []string{work}) {
			return errors.New("outside of what was granted")
		}
		for _, name := range []string{"/.env", "/.git/hooks", "/.git/config"} {
			if strings.HasPrefix(strings.TrimPrefix(target, work)+"/", name+"/") {
				return errors.New("protected")
			}
		}
		return nil
	}
	shell.Writes = func(call toolcrib.Call, full string) error {
		return errors.Join(p.Writes(call, full), shell.Reach(full))
	}
	return p, []toolcrib.Guard{p, shell}
}

func commandRules(rules []string) (out []string) {
	for _, r := range rules {
		out = append(out, "run_command("+r+")")
	}
	return out
}

// claudeRules are the rules that people bring along from Claude Code.
func claudeRules(t testing.TB) []string {
	t.Helper()
	im, err := ImportClaude(fmt.Appendf(nil, `{"permissions":{"allow":["%s"]}}`, strings.Join(shelltest.ClaudeRules(), `","`)))
	if err != nil || len(im.Permissions.Allow) < 58 {
		t.Fatal(im, err)
	}
	return im.Permissions.Allow
}

func workFiles() []string { return []string{"work_writes.txt", "work_builds.txt", "work_network.txt"} }

// TestEverydayWork: with sixty rules, most of what an agent does all day is not
// asked about.
func TestEverydayWork(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules []string
		mode  Mode
		least float64
	}{
		{"rules after some weeks, auto-edit", commandRules(shelltest.UsedRules()), ModeAutoEdit, 80},
		{"rules after some weeks, default", commandRules(shelltest.UsedRules()), ModeDefault, 70},
		{"first rules, auto-edit", commandRules(shelltest.WorkRules()), ModeAutoEdit, 66},
		{"imported rules, auto-edit", claudeRules(t), ModeAutoEdit, 62},
	} {
		_, guards := workDesk(t, tt.mode, tt.rules)
		all, free := 0, 0
		for _, file := range workFiles() {
			lines := shelltest.Battery(t, file)
			unasked := 0
			for _, e := range lines {
				if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": e.Command}); v.Decision == toolcrib.Allow {
					unasked++
				} else if testing.Verbose() && tt.mode == ModeAutoEdit {
					t.Logf("%s:%d: %q: %v", e.File, e.Line, e.Command, v.By)
				}
			}
			t.Logf("%s, %s: %d of %d unasked: %.1f %%", tt.name, file, unasked, len(lines), 100*float64(unasked)/float64(len(lines)))
			all, free = all+len(lines), free+unasked
		}
		share := 100 * float64(free) / float64(all)
		t.Logf("%s: %d of %d lines of work run unasked: %.1f %%", tt.name, free, all, share)
		if share < tt.least {
			t.Errorf("%s: %.1f %% is below %.0f %%", tt.name, share, tt.least)
		}
	}
}

// TestWorkLookAlikes: not one line that looks like work and is not runs unasked.
func TestWorkLookAlikes(t *testing.T) {
	lines := shelltest.Battery(t, "hostile_work.txt")
	for _, rules := range [][]string{commandRules(shelltest.UsedRules()), commandRules(shelltest.WorkRules()), claudeRules(t)} {
		for _, m := range []Mode{ModeDefault, ModeAutoEdit, ModePlan} {
			unasked := 0
			_, guards := workDesk(t, m, rules)
			for _, e := range lines {
				if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": e.Command}); v.Decision == toolcrib.Allow {
					unasked++
					t.Errorf("%s:%d (%s): %q runs unasked in %s: %v", e.File, e.Line, e.Why, e.Command, m, v.By)
				}
			}
			t.Logf("%d look-alikes in %s, %d run unasked", len(lines), m, unasked)
		}
	}
}

// TestWholePrograms: a rule about a whole program means its everyday commands: of all
// hostile lines, these.
func TestWholePrograms(t *testing.T) {
	meant := []string{
		"git status && npm install evil", "git stash", "git stash pop", "git fetch", "git pull", "git init", "npm install", "npm ci", "go run .", "go run ./evil", "go get evil.example/x", "go generate ./...", "go mod tidy",
		"go clean -cache", "go fmt ./...", "cargo run",
	}
	_, guards := workDesk(t, ModeDefault, commandRules([]string{"git *", "go *", "npm *", "cargo *", "yarn *", "pnpm *"}))
	lines := append(shelltest.Battery(t, "hostile_syntax.txt", "hostile_programs.txt", "hostile_options.txt"), hostileBroad(t)...)
	for _, e := range lines {
		v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": e.Command})
		if (v.Decision == toolcrib.Allow) != slices.Contains(meant, e.Command) {
			t.Errorf("%s:%d (%s): %q is judged %v", e.File, e.Line, e.Why, e.Command, v.Decision)
		}
	}
	for _, line := range []string{"git push", "git clean -fdx", "git reset --hard", "git checkout .", "git restore .", "git clone https://x.example", "npm publish", "npm exec x", "go install ./...", "cargo install x", "cargo publish", "yarn dlx x", "pnpm dlx x", "yarn publish", "npm config set a b", "go tool x", "git config a.b c", "cargo evil", "yarn evil", "npm"} {
		if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": line}); v.Decision == toolcrib.Allow {
			t.Errorf("%q runs unasked", line)
		}
	}
}
