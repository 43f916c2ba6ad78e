package shellguard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// hostileNames puts files into a project whose names and contents would do something
// if a shell read them as code, or a program took them for options.
func hostileNames(t testing.TB, dir string) {
	t.Helper()
	write(t, dir, map[string]string{
		"n -o pwned.txt": "a\n", "$(touch pwned).md": "a\n", "src/a;touch pwned.go": "package main\n", "`touch pwned`.json": "{}\n", "src/b -delete x.go": "package main\n",
		"names.txt": "$(touch pwned)\n-opwned\nx[$(touch pwned)]\n`touch pwned`\n;touch pwned\n--output=pwned\n",
		"other.txt": "-i\n", "a.json": "{}\n", "b.json": "{}\n", "a.csv": "a,1\n", "b.csv": "a,2\n", "deps.txt": "a b\n", "numbers.txt": "1\n2\n", "notes.txt": "\tx\n", "CHANGELOG.md": "# 1\n",
	})
}

// bashOnlySigns: a plain shell and bash read such a line differently.
func bashOnlySigns(line string) bool {
	return strings.Contains(line, "[[") || strings.Contains(line, "<(") || strings.Contains(line, "<<<") || strings.Contains(line, "{")
}

// slowPrograms take long to start: each is tried once. Those of packages look at what
// is installed, and not at the project.
func slowPrograms(line string, seen map[string]bool) bool {
	for _, name := range []string{"pip", "apt", "gem", "sleep", "npm", "yq", "java", "go ", "man "} {
		if strings.Contains(line, name) {
			skip := seen[name]
			seen[name] = true
			return skip
		}
	}
	return false
}

// TestAgentsLinesChangeNothing runs what the guard allows of these lines in real
// shells, among files with hostile names: afterwards every file is as it was.
func TestAgentsLinesChangeNothing(t *testing.T) {
	shells := realShells(t)
	dir, env := project(t)
	hostileNames(t, dir)
	s := realGuard(t, dir)
	before := snapshot(t, dir)
	ran, unasked := 0, 0
	slow := map[string]bool{"pip": true, "apt": true, "sleep": true}
	for i, e := range shelltest.Battery(t, "agents.txt") {
		if shelltest.Judge(t, s, e.Command).Decision != toolcrib.Allow {
			continue
		}
		if unasked++; slowPrograms(e.Command, slow) {
			continue
		}
		in := shells[i%len(shells):][:1]
		if bashOnlySigns(e.Command) {
			in = shells
		}
		for _, shell := range in {
			ran++
			runLine(t, shell, e.Command, dir, env)
		}
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Fatalf("%q was allowed and changed something:\n%s", e.Command, diff)
		}
	}
	t.Logf("%d lines allowed on this machine, %d runs, nothing changed", unasked, ran)
	if unasked < 200 {
		t.Errorf("only %d lines were tried; the machine lacks programs", unasked)
	}
}

// TestLookalikesWork runs those of the hostile lines whose only effect is a file
// named pwned: a good part of them has to make it.
func TestLookalikesWork(t *testing.T) {
	shells := realShells(t)
	dir, env := project(t)
	hostileNames(t, dir)
	opt := SystemOptions(dir)
	tried, worked := 0, 0
	for _, e := range shelltest.Battery(t, "hostile_lines.txt") {
		if !strings.Contains(e.Command, "pwned") || strings.ContainsAny(e.Command, "~") || strings.Contains(e.Command, "/dev/tcp") {
			continue
		}
		l := Analyze(e.Command, opt)
		safe := !strings.Contains(e.Command, "rm ") && !strings.Contains(e.Command, "/etc")
		for i := range l.Programs {
			safe = safe && harmlessToTry(filepath.Base(l.Programs[i].Name))
		}
		if !safe {
			continue
		}
		tried++
		fired := false
		for _, shell := range shells {
			runLine(t, shell, e.Command, dir, env)
			mark := filepath.Join(dir, "pwned")
			if _, err := os.Stat(mark); err == nil {
				fired = true
				if err := os.Remove(mark); err != nil {
					t.Fatal(err)
				}
			}
		}
		if fired {
			worked++
		}
	}
	t.Logf("%d attacks tried for real, %d of them worked", tried, worked)
	if worked < 50 {
		t.Errorf("only %d attacks of the battery work: is it still a battery?", worked)
	}
}
