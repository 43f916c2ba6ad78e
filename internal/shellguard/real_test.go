package shellguard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// realShells are the shells of this machine that lines are tried in: dash, or whatever
// sh is where there is none, and bash where it is. CI has both.
func realShells(t testing.TB) []string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("command lines are for POSIX shells")
	}
	var out []string
	for name, other := range map[string]string{"dash": "/bin/sh", "bash": ""} {
		shell, err := exec.LookPath(name)
		switch {
		case err == nil:
		case os.Getenv("CI") == "true" && runtime.GOOS == "linux":
			t.Fatalf("there is no %s, in which lines have to be tried", name)
		case other == "":
			t.Logf("there is no %s, so that the lines are not tried in it", name)
			continue
		default:
			t.Logf("there is no %s, so that the lines are tried in %s, whatever that is", name, other)
			shell = other
		}
		out = append(out, shell)
	}
	slices.Sort(out) // so that each run is like the last
	return out
}

// runLine runs a line for real, in a directory of the test, with nothing but
// the given environment and not longer than a moment.
func runLine(t testing.TB, shell, line, dir string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		t.Logf("%s -c %q was stopped", shell, line)
	}
	return string(out)
}

// snapshot is everything in a directory: names, modes and contents. Git's
// index is left out: reading refreshes the times in it.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == filepath.Join(".git", "index") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			what += " " + hex.EncodeToString(sum[:8])
		}
		out[rel] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// project makes a small project to run lines in.
func project(t testing.TB) (dir string, env []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ownHome := t.TempDir()
	env = []string{"PATH=" + strings.Join(SystemDirs(), ":"), "HOME=" + ownHome, "GOTOOLCHAIN=local", "GOPROXY=off", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	write(t, dir, map[string]string{
		"README.md": "# foo\nbar panic\nfoo bar\n", "package.json": `{"version":"1","scripts":{"test":"true"},"dependencies":{}}`, "go.mod": "module x\n\ngo 1.24\n",
		"src/main.go": "package main\n\nfunc main() {\n}\n", "src/main_test.go": "package main\n", "docs/a.txt": "a\n", "a.txt": "a\n", "b.txt": "b\n", "names.txt": "b\na\n",
		"data.csv": "a,1\nb,2\n", "data.json": `[{"id":3}]`, "config.txt": "a:b\n", "app.log": "x ERROR y\n", "old.txt": "1\n", "new.txt": "2\n", ".gitignore": "build\n", "touchable": "x\n",
	})
	git := "git init -q -b main . && git -c user.name=a -c user.email=a@b add -A && git -c user.name=a -c user.email=a@b commit -qm one && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && git status"
	if out := runLine(t, "/bin/sh", git, dir, env); !strings.Contains(out, "clean") {
		t.Fatalf("making a repository: %s", out)
	}
	return dir, env
}

func realGuard(t testing.TB, dir string) *Guard {
	t.Helper()
	return &Guard{AllowShell: true, Bounded: true, Options: SystemOptions(dir), Glob: filepath.Glob, ReadFile: os.ReadFile}
}

// TestAllowedLinesChangeNothing runs what the guard allows in real shells with
// the real programs: afterwards every file is as it was.
func TestAllowedLinesChangeNothing(t *testing.T) {
	shells := realShells(t)
	dir, env := project(t)
	s := realGuard(t, dir)
	before := snapshot(t, dir)
	ran, unasked := 0, 0
	for _, e := range shelltest.Battery(t, "everyday.txt") {
		v := shelltest.Judge(t, s, e.Command)
		if v.Decision != toolcrib.Allow {
			continue
		}
		unasked++
		if strings.HasPrefix(e.Command, "go ") && strings.Contains(e.Command, "list") && ran%2 == 1 {
			continue // slow, and the same in either shell
		}
		for _, shell := range shells {
			ran++
			runLine(t, shell, e.Command, dir, env)
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Fatalf("%s -c %q was allowed and changed something:\n%s", shell, e.Command, diff)
			}
		}
	}
	t.Logf("%d lines allowed on this machine, %d runs, nothing changed", unasked, ran)
	if unasked < 100 {
		t.Errorf("only %d lines were tried; the machine lacks programs", unasked)
	}
}

// harmlessToTry are the programs with which an attack may be tried for real in
// a directory of the test.
func harmlessToTry(name string) bool {
	return slices.Contains([]string{"touch", "ls", "cat", "sed", "awk", "mawk", "gawk", "find", "grep", "sort", "uniq", "head", "tee", "echo", "printf", "env", "timeout", "nice", "sh", "bash", "dash",
		"xargs", "test", "[", "true", "false", ":", "eval", "command", "builtin", "git", "wc", "jq", "exec", "trap", "stdbuf", "ionice", "xxd", "date", "expr", "time", "file", "tree", "du", "diff", "base64", "seq", "set", "cd"}, name)
}

// TestHostileLinesWork runs the attacks whose only effect is a file named
// pwned: a battery of attacks that do nothing would prove nothing.
func TestHostileLinesWork(t *testing.T) {
	shells := realShells(t)
	dir, env := project(t)
	opt := SystemOptions(dir)
	tried, worked := 0, 0
	for _, e := range shelltest.Battery(t, hostileFiles()...) {
		if !strings.Contains(e.Command, "pwned") || strings.ContainsAny(e.Command, "~") || strings.Contains(e.Command, "/home") || strings.Contains(e.Command, "/dev/tcp") {
			continue
		}
		l := Analyze(e.Command, opt)
		safe := true
		for i := range l.Programs {
			safe = safe && harmlessToTry(path.Base(l.Programs[i].Name))
		}
		if !safe || strings.Contains(e.Command, "rm ") || strings.Contains(e.Command, "filter-branch") {
			continue
		}
		tried++
		fired := false
		for _, shell := range shells {
			mark := filepath.Join(dir, "pwned")
			runLine(t, shell, e.Command, dir, env)
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
	if worked < 100 {
		t.Errorf("only %d attacks of the battery work: is it still a battery?", worked)
	}
}

// recorders makes programs that write down how they are called.
func recorders(t testing.TB, names ...string) (dir string, calls func() [][]string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	text := fmt.Sprintf("#!/bin/sh\ns=$(printf '%%s\\001' \"${0##*/}\" \"$@\"; printf x)\nprintf '%%s\\002' \"$s\" >>%s\n", log)
	for _, n := range names {
		cribtest.Program(t, filepath.Join(dir, n), []byte(text))
	}
	return dir, func() [][]string {
		data, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.RemoveAll(log); err != nil {
			t.Fatal(err)
		}
		var out [][]string
		for rec := range strings.SplitSeq(string(data), "\x02") {
			if rec != "" {
				out = append(out, strings.Split(strings.TrimSuffix(rec, "\x01x"), "\x01"))
			}
		}
		return out
	}
}
