package shellguard

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestHiddenFilesAreNotMeantByAStar: with a protected .env in the project, no line of
// every day is asked about because of a * that does not mean it; one that does is.
func TestHiddenFilesAreNotMeantByAStar(t *testing.T) {
	dir, _ := project(t)
	judge := func(s *Guard, line string) toolcrib.Decision {
		return shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}).Decision
	}
	guard := func() *Guard {
		s := realGuard(t, dir)
		s.Reach = func(p string) error {
			if filepath.Base(p) == ".env" {
				return errors.New("it is protected")
			}
			return nil
		}
		return s
	}
	before := map[string]toolcrib.Decision{}
	for _, e := range shelltest.Battery(t, "everyday.txt") {
		before[e.Command] = judge(guard(), e.Command)
	}
	write(t, dir, map[string]string{".env": "KEY=1\n", "src/.env": "KEY=1\n"})
	for line, decision := range before {
		if got := judge(guard(), line); got != decision && !strings.Contains(line, ".env") {
			t.Errorf("%q: %v, before there was a .env %v", line, got, decision)
		}
	}
	for _, line := range []string{"cat *", "wc -l *", "head -3 src/*", "for f in *; do head -1 \"$f\"; done", "grep -n foo *", "cat */*", "ls *"} {
		if got := judge(guard(), line); got != toolcrib.Allow {
			t.Errorf("%q: %v", line, got)
		}
		client := guard()
		client.Options.UserShell = true
		if got := judge(client, line); got != toolcrib.Ask && line != "ls *" {
			t.Errorf("in the shell of a user, who may have set dotglob, %q: %v", line, got)
		}
	}
	for _, line := range []string{"cat .*", "cat .e*", "cat .env", "cat src/.en*", "shopt -s dotglob; cat *", "bash -O dotglob -c 'cat *'", "cat .[e]nv", "cat .?nv", "cat {.env,a.txt}", "cat src/../.e*"} {
		if got := judge(guard(), line); got == toolcrib.Allow {
			t.Errorf("%q runs unasked", line)
		}
	}
}

// TestHiddenFilesAsShellsHaveThem: what is left out is what sh and bash leave out.
func TestHiddenFilesAsShellsHaveThem(t *testing.T) {
	shells := realShells(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "", ".a": "", "b/c": "", "b/.c": "", ".b/c": "", ".b/.c": "", "b/..d": ""})
	for _, pattern := range []string{"*", "?a", "*a", ".*", ".a*", "*/*", "*/.*", ".b/*", ".*/c", "b/*", "./*", "b//*", "[.]a", "[!x]a"} {
		full := dir + "/" + pattern
		found, err := filepath.Glob(full)
		if err != nil {
			t.Fatal(err)
		}
		kept := withoutHidden(full, found)
		for _, shell := range shells {
			out, err := exec.Command(shell, "-c", "printf '%s\\n' "+full).Output()
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(out)) {
				name := filepath.Clean(strings.TrimSuffix(line, "\n"))
				if _, err := os.Lstat(name); err == nil && !strings.HasSuffix(line, "/.\n") && !strings.HasSuffix(line, "/..\n") && !slices.ContainsFunc(kept, func(f string) bool { return filepath.Clean(f) == name }) && !strings.Contains(line, "/./") && !strings.Contains(line, "/../") {
					t.Errorf("%s: %s means %s, which is left out of %v", shell, pattern, name, kept)
				}
			}
		}
	}
}

// TestClientLinesReadOnlyWhatTheyName: outside of the sandbox no line reads a protected
// file under a name that is decided while it runs.
func TestClientLinesReadOnlyWhatTheyName(t *testing.T) {
	dir, _ := project(t)
	write(t, dir, map[string]string{".env": "KEY=1\n"})
	if err := os.Symlink(".env", filepath.Join(dir, "f2")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".env", filepath.Join(dir, "2")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "docs", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := realGuard(t, dir)
	s.Bounded, s.Literal, s.Options.UserShell = false, true, true
	s.Holds = func(toolcrib.Call, Tree) error { return nil }
	s.Reach = func(p string) error {
		if full, err := filepath.EvalSymlinks(p); err == nil && filepath.Base(full) == ".env" {
			return errors.New("it is protected")
		}
		return nil
	}
	for _, line := range []string{
		"cat < .en*", "cat < .e[n]v", "cat 0< .en?", "x=.en; cat < $x*", "cat < .en{v,v}", `x=$(find . -name .env -maxdepth 1); cat < "$x"`, `find . -name .env -print0 | while IFS= read -r -d '' f; do cat < "$f"; done`,
		"cat f$((1+1))", "x=ab; cat f${#x}", "cat f$(wc -l < a.txt)", "seq 3 | xargs -I% cat f%", "for i in $(seq 3); do head -1 < f$i; done", "seq 3 | xargs cat", `cd docs && cat "$(git rev-parse --show-toplevel)/a.txt"`,
		"x=.env; { x=a.txt; } <nonexistent; cat $x", "cat *",
	} {
		if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}); v.Decision == toolcrib.Allow {
			t.Errorf("%q runs unasked: %s", line, v.Reason)
		}
	}
	for _, line := range []string{"cat a.txt", "cat < a.txt", "for f in a.txt b.txt; do cat \"$f\"; done", "f=a.txt; head -3 $f", "x=2; sed -n \"${x}p\" a.txt", "n=$(wc -l < a.txt); echo $n", "git log --oneline -3", "cat a.txt 2>/dev/null"} {
		if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}); v.Decision != toolcrib.Allow {
			t.Errorf("%q is asked about: %s", line, v.Reason)
		}
	}
}
