package shellguard

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

func TestShellVerdicts(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for _, tt := range []struct {
		tool, command, dir string
		want               toolcrib.Decision
		rule, reason       string
	}{
		{"run_command", "ls", "", toolcrib.Allow, "read-only", "only reads"},
		{"start_command", "ls", "", toolcrib.Allow, "read-only", ""},
		{"run_command", "go test ./...", "", toolcrib.Allow, "go test *", ""},
		{"run_command", "git log | head", "src", toolcrib.Allow, "read-only", ""},
		{"run_command", "touch x", "", toolcrib.Ask, "", "touch x (/usr/bin/touch): writes"},
		{"run_command", "ls > x", "", toolcrib.Ask, "", "> x: writes the file"},
		{"run_command", "rm -rf /", "", toolcrib.Ask, "floor", "removes a directory of the system"},
		{"run_command", "ls", "/etc", toolcrib.Ask, "", "outside the working directory"},
		{"run_command", "cat x", "..", toolcrib.Ask, "", "outside the working directory"},
		{"run_command", "git status", "link-out", toolcrib.Ask, "", "outside the working directory"},
	} {
		v := shelltest.JudgeTool(t, s, tt.tool, map[string]string{"command": tt.command, "working_dir": tt.dir})
		if v.Decision != tt.want || v.Rule != tt.rule || v.Guard != "shell" || !strings.Contains(v.Reason, tt.reason) {
			t.Errorf("%s %q in %q: %+v", tt.tool, tt.command, tt.dir, *v)
		}
	}
}

func TestShellIsOffByDefault(t *testing.T) {
	for _, tool := range []string{"run_command", "start_command", "command_input"} {
		v := shelltest.JudgeTool(t, &Guard{}, tool, map[string]string{"command": "ls"})
		if v.Decision != toolcrib.Deny || !strings.Contains(v.Reason, "allow_shell") {
			t.Errorf("%s: %+v", tool, *v)
		}
	}
	// Switched on and told nothing else, it allows nothing that is a program.
	v := shelltest.JudgeTool(t, &Guard{AllowShell: true}, "run_command", map[string]string{"command": "ls"})
	if v.Decision != toolcrib.Ask {
		t.Errorf("with nothing known: %+v", *v)
	}
}

func TestShellHasNoOpinionOnOtherTools(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for _, tool := range []string{"read_file", "run_commands", "command_output", ""} {
		v, err := s.Judge(context.Background(), toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: tool}, Native: tool, Box: "shell"}, Input: json.RawMessage(`{"command":"ls"}`)})
		if v != nil || err != nil {
			t.Errorf("%q: %v, %v", tool, v, err)
		}
	}
	// What another box calls run_command may do anything with a harmless line.
	v, err := s.Judge(context.Background(), toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "run_command"}, Native: "run_command", Box: "evil"}, Input: json.RawMessage(`{"command":"ls"}`)})
	if v != nil || err != nil {
		t.Errorf("of another box: %v, %v", v, err)
	}
	// A renamed tool is still the tool it is.
	v, err = s.Judge(context.Background(), toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "bash_exec"}, Native: "run_command", Box: "shell"}, Input: json.RawMessage(`{"command":"touch x"}`)})
	if err != nil || v == nil || v.Decision != toolcrib.Ask {
		t.Errorf("renamed: %v, %v", v, err)
	}
}

func TestShellRefusesBadInput(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for _, in := range []string{``, `{`, `[]`, `{}`, `{"command":""}`, `{"command":"  "}`, `{"command":3}`, `{"command":["ls"]}`} {
		v, err := s.Judge(context.Background(), toolcrib.Review{Spec: toolcrib.Entry{Native: "run_command", Box: "shell"}, Input: json.RawMessage(in)})
		if err == nil {
			t.Errorf("%q: %+v", in, v)
		}
	}
}

func TestShellReach(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	s.Reach = func(p string) error {
		if strings.Contains(p, ".env") {
			return errors.New("it is protected")
		}
		return nil
	}
	for line, want := range map[string]toolcrib.Decision{
		"cat README.md": toolcrib.Allow, "cat /etc/hosts": toolcrib.Allow, "cat .env": toolcrib.Ask, "grep x .env.local": toolcrib.Ask, "cat < .env": toolcrib.Ask,
		"cd .env && ls": toolcrib.Ask, "cat /proc/self/environ": toolcrib.Ask, "cat /dev/mem": toolcrib.Ask, "git diff .env": toolcrib.Ask, "cat /dev/null": toolcrib.Allow,
	} {
		if v := shelltest.Judge(t, s, line); v.Decision != want {
			t.Errorf("%q: %+v", line, *v)
		}
	}
}

// TestShellIgnoresProgramsTheAgentCanWrite: a line that runs elsewhere still must not trust
// what lies in the agent's own directory.
func TestShellIgnoresProgramsTheAgentCanWrite(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	s.Reach = func(string) error { return nil }
	s.Options.Dir = "/usr"
	if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": "ls", "working_dir": "/tmp"}); v.Decision != toolcrib.Ask {
		t.Errorf("%+v", *v)
	}
	s.Options.Dir = "/data"
	if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": "ls", "working_dir": "/tmp"}); v.Decision != toolcrib.Allow {
		t.Errorf("%+v", *v)
	}
}

func TestShellReachOfHugePatterns(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for n, want := range map[int]toolcrib.Decision{maxMatches: toolcrib.Allow, maxMatches + 1: toolcrib.Ask} {
		s.Glob = func(string) ([]string, error) { return slices.Repeat([]string{work + "/a"}, n), nil }
		if v := shelltest.Judge(t, s, "cat *"); v.Decision != want {
			t.Errorf("%d matches: %+v", n, *v)
		}
	}
	s.Glob = func(string) ([]string, error) { return nil, errors.New("no") }
	if v := shelltest.Judge(t, s, "cat *"); v.Decision != toolcrib.Ask {
		t.Errorf("a pattern nobody can read: %+v", *v)
	}
	s.Glob = nil
	if v := shelltest.Judge(t, s, "cat *"); v.Decision != toolcrib.Ask {
		t.Errorf("without Glob: %+v", *v)
	}
}

// TestPatternsAreExpanded: a pattern may mean a link that leads out.
func TestPatternsAreExpanded(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"a.md": "x", "sub/b.md": "x", "opt/-R": "x", "opt/x.go": "x"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "evil.txt")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "etc-link")); err != nil {
		t.Fatal(err)
	}
	s := &Guard{AllowShell: true, Bounded: true, Options: optionsOn(shelltest.NewMachine()), Glob: filepath.Glob, ReadFile: os.ReadFile}
	s.Options.Dir, s.Options.Writable = dir, []string{dir}
	fake := s.Options.EvalSymlinks
	s.Options.EvalSymlinks = func(p string) (string, error) {
		if strings.HasPrefix(p, dir) {
			return filepath.EvalSymlinks(p)
		}
		return fake(p)
	}
	for line, want := range map[string]toolcrib.Decision{
		"cat *.md": toolcrib.Allow, "cat sub/*": toolcrib.Allow, "cat *.txt": toolcrib.Ask, "cat evil.txt": toolcrib.Ask, "cat *": toolcrib.Ask, "ls */": toolcrib.Ask, "cat etc-link/passwd": toolcrib.Ask,
		"cat etc-link/*": toolcrib.Ask, "cat nothing*": toolcrib.Allow, "cat sub/../*.md": toolcrib.Ask, "cat [a]*": toolcrib.Ask, "cd etc-link && ls": toolcrib.Ask, "cd sub && cat ../a.md": toolcrib.Allow, "cat new/file": toolcrib.Allow, "cat new/../../x": toolcrib.Ask, "grep x opt/*": toolcrib.Ask, "grep x opt/*.go": toolcrib.Allow, "cd opt && grep x *": toolcrib.Ask,
	} {
		if v := shelltest.Judge(t, s, line); v.Decision != want {
			t.Errorf("%q: %+v", line, *v)
		}
	}
}

func TestCommandInput(t *testing.T) {
	m := shelltest.NewMachine()
	s := shellOn(t, m)
	jobs := map[string]Job{
		"sh":     {Command: "sh", WorkingDir: work},
		"bash":   {Command: "bash --norc", WorkingDir: work},
		"quote":  {Command: "sh", WorkingDir: work, Typed: []string{"cat 'x"}},
		"python": {Command: "sh", WorkingDir: work, Typed: []string{"python3"}},
		"func":   {Command: "sh", WorkingDir: work, Typed: []string{"ls() { touch pwned; }"}},
		"alias":  {Command: "sh", WorkingDir: work, Typed: []string{"alias ls='touch pwned'"}},
		"moved":  {Command: "sh", WorkingDir: work, Typed: []string{"cd /etc"}},
		"fine":   {Command: "sh", WorkingDir: work, Typed: []string{"cd src", "ls"}},
		"py":     {Command: "python3 -i", WorkingDir: work},
		"login":  {Command: "bash -l", WorkingDir: work},
		"evil":   {Command: "./sh", WorkingDir: work},
		"two":    {Command: "sh; sh", WorkingDir: work},
		"piped":  {Command: "cat | sh", WorkingDir: work},
		"stdin":  {Command: "sh < x", WorkingDir: work},
		"path":   {Command: "PATH=. sh", WorkingDir: work},
	}
	s.Job = func(_ toolcrib.Call, id string) (Job, bool) { j, ok := jobs[id]; return j, ok }
	for _, tt := range []struct {
		job, text string
		want      toolcrib.Decision
	}{
		{"sh", "ls -la", toolcrib.Allow},
		{"bash", "git status", toolcrib.Allow},
		{"fine", "ls main.go", toolcrib.Allow},
		{"sh", "cat main.go", toolcrib.Ask}, // might read on
		{"sh", "sed -u 1q", toolcrib.Ask},   // eats a line, and the rest of a here-document is run
		{"sh", "touch x", toolcrib.Ask},
		{"sh", "ls; rm x", toolcrib.Ask},
		{"sh", "echo !!", toolcrib.Ask},
		{"sh", "ls \t\t", toolcrib.Ask},
		{"sh", "ls\x03", toolcrib.Ask},
		{"sh", "ls\x1b[A", toolcrib.Ask},
		{"sh", "\x15rm x", toolcrib.Ask},
		{"sh", "rm -rf /", toolcrib.Ask},
		{"quote", "'; touch x #", toolcrib.Ask},
		{"quote", "ls", toolcrib.Ask},
		{"python", "ls", toolcrib.Ask},
		{"func", "ls", toolcrib.Ask},
		{"alias", "ls", toolcrib.Ask},
		{"moved", "cat passwd", toolcrib.Ask},
		{"py", "ls", toolcrib.Ask},
		{"py", "import os", toolcrib.Ask},
		{"login", "ls", toolcrib.Ask},
		{"evil", "ls", toolcrib.Ask},
		{"two", "ls", toolcrib.Ask},
		{"piped", "ls", toolcrib.Ask},
		{"stdin", "ls", toolcrib.Ask},
		{"path", "ls", toolcrib.Ask},
		{"none", "ls", toolcrib.Deny},
	} {
		v := shelltest.JudgeTool(t, s, "command_input", map[string]string{"job": tt.job, "text": tt.text})
		if v.Decision != tt.want {
			t.Errorf("%s, %q: %+v", tt.job, tt.text, *v)
		}
	}
	s.Unasked = func(toolcrib.Call) bool { return true }
	if v := shelltest.JudgeTool(t, s, "command_input", map[string]string{"job": "py", "text": "import os"}); v.Decision != toolcrib.Allow {
		t.Errorf("unasked: %+v", *v)
	}
	for _, job := range []string{"sh", "py"} {
		if v := shelltest.JudgeTool(t, s, "command_input", map[string]string{"job": job, "text": "rm -rf /"}); v.Decision != toolcrib.Ask || v.Rule != "floor" {
			t.Errorf("the floor in %s: %+v", job, *v)
		}
	}
	s.Job = nil
	if v := shelltest.JudgeTool(t, s, "command_input", map[string]string{"job": "sh", "text": "ls"}); v.Decision != toolcrib.Ask {
		t.Errorf("without Job: %+v", *v)
	}
}

// TestShellOnly: with Only set the rules are all there is, and nobody is asked.
func TestShellOnly(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	s.Only, s.Bounded = true, true
	var err error
	if s.Rules, err = ParseRules([]string{"ls *", "git status *"}); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]toolcrib.Decision{
		"ls -la": toolcrib.Allow, "ls /nonexist": toolcrib.Allow, "  ls -d /": toolcrib.Allow, "git status --short": toolcrib.Allow,
		"lsblk": toolcrib.Deny, "ls; echo pwned": toolcrib.Deny, "ls | cat": toolcrib.Deny, "cat /etc/hostname": toolcrib.Deny, "rm -rf x": toolcrib.Deny,
		"ls$(x)": toolcrib.Deny, "ls > x": toolcrib.Deny, "rm -rf /": toolcrib.Deny, "git -c core.pager=x status": toolcrib.Deny,
	} {
		if v := shelltest.Judge(t, s, command); v.Decision != want {
			t.Errorf("%q: %+v", command, *v)
		}
	}
	s.Bounded = false
	if v := shelltest.Judge(t, s, "ls /nonexist"); v.Decision != toolcrib.Deny {
		t.Errorf("outside, in a sandbox that does not bound files: %+v", *v)
	}
	if v := shelltest.JudgeTool(t, s, "stop_command", map[string]string{"job": "x"}); v.Decision != toolcrib.Allow {
		t.Errorf("stopping: %+v", *v)
	}
}
