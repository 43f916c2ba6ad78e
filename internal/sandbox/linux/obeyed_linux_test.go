//go:build amd64 || arm64

package linux

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// obeyedShield is a shield as the program makes it.
func obeyedShield(t testing.TB, dir string, granted ...string) *sandbox.Shield {
	t.Helper()
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if shield.Obeyed, err = sensitive.NewObeyedSet(granted...); err != nil {
		t.Fatal(err)
	}
	shield.Git = gitconfig.Source{Read: os.ReadFile}
	shield.Holds = &sandbox.Holds{Dir: dir}
	return shield
}

func tempProject(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func put(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree is all that lies below a directory, with the texts.
func tree(t testing.TB, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(path, root) + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(text)
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t testing.TB, root string, before []string) {
	t.Helper()
	if after := tree(t, root); !slices.Equal(before, after) {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// nestedProject is a repository with others in it, and settings that point git
// at files that are there and at others that are not.
func nestedProject(t testing.TB) string {
	root := tempProject(t)
	put(t, root, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", "file": "x", "src/main.go": "package main\n", "editor/tasks.json": "{}", "tools/watch.sh": "x", "inc/there": "",
		".git/config":         "[core]\n\thooksPath = .githooks\n\tfsmonitor = ./tools/watch.sh\n[include]\n\tpath = ../inc/there\n[include]\n\tpath = ../inc/missing\n[alias]\n\tx = !scripts/missing.sh\n",
		"deep/nested/.git":    "gitdir: ../../gitdirs/n\n",
		"gitdirs/n/HEAD":      "x",
		"gitdirs/n/config":    "[core]\n\thooksPath = hooks\n",
		"gitdirs/n/objects/x": "", "gitdirs/n/refs/x": "", "scripts/other.sh": "x", ".zed/settings.json": "{}", "src/.idea/x": "y", ".github/dependabot.yml": "x",
	})
	if err := os.Symlink("editor", filepath.Join(root, ".cursor")); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestObeyedIsReadOnly: whatever a program does, it makes and changes nothing
// that other programs obey: at the top, in nested repositories, what is there and
// what is not, by links too; and nothing stays behind.
func TestObeyedIsReadOnly(t *testing.T) {
	root := nestedProject(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	before := tree(t, root)
	var attacks []string
	for _, p := range append(sensitive.Obeyed(), sensitive.Place{Pattern: ".githooks", Dir: true, Held: true}, sensitive.Place{Pattern: "inc/missing", Held: true}, sensitive.Place{Pattern: "scripts/missing.sh", Held: true}) {
		if !p.Held {
			continue
		}
		for _, top := range []string{".", "deep/nested"} {
			if top != "." && (strings.HasPrefix(p.Pattern, "inc/") || strings.HasPrefix(p.Pattern, "scripts/") || p.Pattern == ".githooks") {
				continue
			}
			at := top + "/" + p.Pattern
			attacks = append(attacks,
				"echo evil > "+at, "mkdir -p "+at+"/x", "mkdir "+at, "mkdir -p "+filepath.Dir(at)+"; echo evil > "+at+"/settings.json", "touch /tmp/f; mv /tmp/f "+at, "ln -s /tmp/f "+at,
				"rmdir "+at+" && echo evil > "+at, "rm -rf "+at+"; echo evil > "+at, "mv "+at+" /tmp/gone", "mv "+at+" moved; echo evil > "+at, "mkdir n; echo evil > n/x; mv -T n "+at+"; rm -r n; false",
				"chmod 777 "+at+" && echo evil > "+at+"/x")
		}
	}
	attacks = append(attacks, "echo evil > deep/nested/hooks/pre-commit", "mkdir deep/nested/hooks", "echo evil > tools/watch.sh", "mv tools t", "echo evil > inc/there", "mv inc i",
		"echo evil > .zed/settings.json", "rm .zed/settings.json", "mv .zed z", "echo evil > src/.idea/x", "mv src s", "mv deep d", "mv deep/nested n", "echo evil > .cursor/tasks.json", "echo evil > editor/tasks.json",
		"rm .cursor", "ln -sfn src .cursor", "mv .cursor c", "mv .github g")
	var script strings.Builder
	script.WriteString("exec 2>/dev/null\n")
	for _, a := range attacks {
		fmt.Fprintf(&script, "(%s) && echo %q\n", a, "DONE "+a)
	}
	out, exit := sh(t, s, grant, script.String()+"true")
	if strings.Contains(out, "DONE") || exit.Code != 0 {
		t.Errorf("%+v: these worked:\n%s", exit, out)
	}
	for _, copied := range []string{"moved", "n"} { // mv copies what it cannot rename
		if err := os.RemoveAll(filepath.Join(root, copied)); err != nil {
			t.Fatal(err)
		}
	}
	if got, exit := sh(t, s, grant, "exec 2>&1; set -e; cat .zed/settings.json tools/watch.sh .cursor/tasks.json >/dev/null; echo y > file; echo z > src/new.go; rm src/new.go; echo x >file; mkdir d; rmdir d; echo x > .github/dependabot.yml; printf x > .github/dependabot.yml; printf x > file"); exit.Code != 0 {
		t.Errorf("ordinary work: %+v\n%s", exit, got)
	}
	same(t, root, before)
}

// TestObeyedIsGranted: what a person granted is an ordinary file.
func TestObeyedIsGranted(t *testing.T) {
	root := nestedProject(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir(), ".vscode", ".github/workflows", ".githooks", ".zed")})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	const script = "exec 2>&1; set -e; mkdir .vscode; echo x > .vscode/tasks.json; mkdir -p .github/workflows; echo x > .github/workflows/ci.yml; mkdir .githooks; echo x > .githooks/pre-commit; echo x > .zed/settings.json; ! mkdir .idea 2>/dev/null"
	if out, exit := sh(t, s, grant, script); exit.Code != 0 {
		t.Errorf("%+v\n%s", exit, out)
	}
}

// TestPlaceholdersAreShared: as long as a program runs, its placeholders stay,
// also when another one ends; then they go. What a person makes meanwhile stays.
func TestPlaceholdersAreShared(t *testing.T) {
	root := tempProject(t)
	holds := t.TempDir()
	s, other := open(t, Config{Shield: obeyedShield(t, holds)}), open(t, Config{Shield: obeyedShield(t, holds)})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}
	before := tree(t, root)
	ended := make(chan toolcrib.Exit, 1)
	go func() {
		exit, _ := s.Run(context.WithoutCancel(t.Context()), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "echo started > started; while ! test -e stop; do sleep 0.02; done; ! mkdir .vscode && ! echo x > .mcp.json"}, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}}, grant)
		ended <- exit
	}()
	waitFor(t, filepath.Join(root, "started"))
	for range 5 {
		if out, exit := sh(t, other, grant, "! mkdir .vscode 2>/dev/null && ! touch .idea/x 2>/dev/null"); exit.Code != 0 {
			t.Errorf("%+v\n%s", exit, out)
		}
	}
	// A person makes a file in one place and her own directory in another.
	put(t, root, map[string]string{".idea/workspace.xml": "hers"})
	for { // if she is slow, the placeholder comes back in between
		if err := os.Remove(filepath.Join(root, ".envrc")); err != nil {
			t.Fatal(err)
		}
		if os.WriteFile(filepath.Join(root, ".envrc"), []byte("hers"), 0o644) == nil {
			break
		}
	}
	put(t, root, map[string]string{"stop": ""})
	if exit := <-ended; exit.Code != 0 {
		t.Errorf("the first: %+v", exit)
	}
	for name, text := range map[string]string{".idea/workspace.xml": "hers", ".envrc": "hers"} {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != text {
			t.Errorf("%s is %q, error %v", name, got, err)
		}
	}
	for _, name := range []string{".idea", ".envrc", "started", "stop"} {
		if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	same(t, root, before)
}

// TestPlaceholdersAfterDeath: whenever we are killed, or the keeper with us, no
// placeholder stays: the keeper removes them, or the next start does.
func TestPlaceholdersAfterDeath(t *testing.T) {
	if root := os.Getenv("HOLDS_TEST_ROOT"); root != "" {
		s := open(t, Config{Shield: obeyedShield(t, os.Getenv("HOLDS_TEST_DIR"))})
		for range 3 {
			go func() {
				for {
					_, _ = s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "mkdir .vscode; echo x > .envrc; sleep 0.0$$"}, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}}, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}})
				}
			}()
		}
		s.nursery.mu.Lock()
		fmt.Fprintln(os.Stderr, "keeper", s.nursery.link.process.Process.Pid)
		s.nursery.mu.Unlock()
		select {}
	}
	root, holds := tempProject(t), t.TempDir()
	open(t, Config{})
	put(t, root, map[string]string{"file": "x"})
	before := tree(t, root)
	for i := range 16 {
		c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestPlaceholdersAfterDeath$")
		c.Env = append(os.Environ(), "HOLDS_TEST_ROOT="+root, "HOLDS_TEST_DIR="+holds)
		told, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var keeper int
		if _, err := fmt.Fscanf(told, "keeper %d\n", &keeper); err != nil {
			t.Fatalf("it did not start: %v", err)
		}
		time.Sleep(time.Duration(rand.IntN(40_000)) * time.Microsecond)
		if i%4 == 3 { // both: nobody is left to remove anything
			if p, err := os.FindProcess(keeper); err == nil {
				_ = p.Kill()
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		clean := func() bool {
			entries, err := os.ReadDir(holds)
			return err == nil && len(entries) == 0 && slices.Equal(before, tree(t, root))
		}
		for until := time.Now().Add(time.Minute); !clean() && time.Now().Before(until); {
			if i%4 != 3 {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			// The next start, and maybe the one after that.
			s, err := Open(t.Context(), Config{Shield: obeyedShield(t, holds)})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if !clean() {
			t.Fatalf("after kill %d there is\n%s", i, strings.Join(tree(t, root), "\n"))
		}
	}
}

// TestOrdinaryWork: programs that people use do not mind the placeholders, and
// git does not see them.
func TestOrdinaryWork(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	root := tempProject(t)
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shield := obeyedShield(t, t.TempDir())
	shield.WriteGit = true
	s := open(t, Config{Shield: shield})
	put(t, root, map[string]string{"go.mod": "module x\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() {}\n", "Makefile": "all:\n\techo made\n", "package.json": "{\"name\":\"x\",\"version\":\"1.0.0\",\"scripts\":{\"t\":\"node -e 1\"}}"})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: 10 * time.Minute} // go builds its library first
	const head = "exec 2>&1\nset -e\nexport HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE=/tmp/c\n"
	for _, c := range []struct{ needs, script string }{
		{"git", "git add -A; git commit -qm one; test -z \"$(git status --porcelain)\"; git switch -qc other; git stash list"},
		{"make", "make"},
		{"python3", "python3 -m venv --without-pip venv && venv/bin/python -c 'import os; print(len(os.listdir()))'; rm -rf venv"},
		{"node", "node -e 'require(\"fs\").writeFileSync(\"out.txt\", \"x\")'; rm out.txt"},
		{"npm", "npm run t --offline; npm pkg set description=x --offline"},
		{"go", "go build -buildvcs=false -o x . && ./x; rm x"},
		{"tar", "tar cf /tmp/a.tar . && tar tf /tmp/a.tar >/dev/null"},
		{"find", "find . -name '*.go' | grep -q main.go; grep -r package . >/dev/null; ls -la >/dev/null; rm -rf build; mkdir build; cp -r main.go build; rm -r build"},
	} {
		t.Run(c.needs, func(t *testing.T) {
			if _, err := os.Stat("/usr/bin/" + c.needs); err != nil && c.needs != "go" {
				t.Skip("not there")
			}
			out, exit := sh(t, s, grant, head+c.script)
			if exit.Code == 127 {
				t.Skipf("not there: %s", out)
			}
			if exit.Code != 0 {
				t.Errorf("%+v\n%s", exit, out)
			}
		})
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "status", "--porcelain", "--ignored").CombinedOutput()
	if err != nil || strings.Contains(string(out), "??") || strings.Contains(string(out), "!!") {
		t.Errorf("error %v\n%s", err, out)
	}
	for _, p := range sensitive.Obeyed() {
		if _, err := os.Lstat(filepath.Join(root, p.Pattern)); err == nil {
			t.Errorf("%s stays", p.Pattern)
		}
	}
}

// TestPlaceholdersAtOnce: many programs at once neither fail nor leave anything.
func TestPlaceholdersAtOnce(t *testing.T) {
	root := nestedProject(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	before := tree(t, root)
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			for range 8 {
				exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "exec 2>/dev/null; ! mkdir .vscode && ! touch .claude/x && ! mkdir deep/nested/.husky"}, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}}, grant)
				if err != nil || exit.Code != 0 {
					t.Errorf("%+v, error %v", exit, err)
				}
			}
		})
	}
	wait.Wait()
	same(t, root, before)
}

// BenchmarkHold shows what the placeholders of a project cost a program.
func BenchmarkHold(b *testing.B) {
	for _, c := range []struct {
		name string
		held bool
	}{{"without", false}, {"with", true}} {
		b.Run(c.name, func(b *testing.B) {
			root := tempProject(b)
			put(b, root, map[string]string{"file": "x", ".git/HEAD": "ref: x\n", ".git/config": "[core]\n\tbare = false\n", ".git/objects/x": "", ".git/refs/x": ""})
			shield := obeyedShield(b, b.TempDir())
			if !c.held {
				shield.Obeyed, shield.Holds = nil, nil
			}
			s, err := Open(b.Context(), Config{Shield: shield})
			if err != nil {
				b.Fatal(err)
			}
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				if exit, err := s.Run(b.Context(), toolcrib.Cmd{Path: "/bin/true"}, grant); err != nil || exit.Code != 0 {
					b.Fatal(exit, err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
			b.ReportMetric(float64(times[0].Microseconds())/1000, "ms-least")
		})
	}
}

// TestStickyIsNoPlaceholder: the bit that tells a placeholder can be set by a
// program, on what it made itself.
func TestStickyIsNoPlaceholder(t *testing.T) {
	root := tempProject(t)
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	if out, exit := sh(t, s, grant, "exec 2>&1; set -e; mkdir -p src; for d in .buildkite src/.vscode .circleci; do mkdir -m 1755 $d; echo x >$d/file; echo y >$d/.env; done"); exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	if out, exit := sh(t, s, grant, "exec 2>&1; for d in .buildkite src/.vscode .circleci; do (echo evil >$d/file) && exit 1; touch $d/new && exit 1; cat $d/.env && exit 1; cat $d/file || exit 1; done; :"); exit.Code != 0 {
		t.Errorf("%+v\n%s", exit, out)
	}
}

// TestNothingKeepsLaterProgramsOut: whatever a program leaves behind, the next
// one starts, and is held as before.
func TestNothingKeepsLaterProgramsOut(t *testing.T) {
	for _, c := range []struct{ name, first, second string }{
		{"a deep protected file", "d=$(printf 'd/%.0s' $(seq 24)); mkdir -p $d; echo x >$d/.env", "! cat $(printf 'd/%.0s' $(seq 24)).env"},
		{"a link over a link", "mkdir -p src x; ln -s . d; ln -s ../d/x src/.vscode", "! touch x/new && ! rm d && ! rm src/.vscode"},
		{"a link to what is missing, over a link", "mkdir -p src x; ln -s . d; ln -s ../d/y/z src/.vscode", "! touch y/z/x && ! rm d"},
		{"a link that leads to itself", "mkdir src; ln -s .vscode src/.vscode; ln -s b src/a; ln -s a src/b", "touch src/x"},
		{"many repositories", "for i in $(seq 120); do mkdir -p r/$i/.git/objects r/$i/.git/refs; echo 'ref: refs/heads/x' >r/$i/.git/HEAD; done", "touch file && ! touch r/1/.envrc && ! touch r/120/.envrc && ls r/120"},
		{"a directory that is only listed", "mkdir d; echo x >d/.env; chmod 444 d", "! cat d/.env"},
		{"closed to ourselves", "chmod 555 .", "! touch .envrc && ! mkdir .vscode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tempProject(t)
			t.Cleanup(func() { _ = os.Chmod(root, 0o755); _ = os.Chmod(filepath.Join(root, "d"), 0o755) })
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}
			for _, script := range []string{c.first, c.second} {
				if out, exit := sh(t, s, grant, "exec 2>&1; "+script); exit.Code != 0 {
					t.Fatalf("%s: %+v\n%s", script, exit, out)
				}
			}
		})
	}
}

// TestManyRepositories: the one that is worked in can be written.
func TestManyRepositories(t *testing.T) {
	root := tempProject(t)
	for i := range 60 {
		put(t, root, map[string]string{fmt.Sprintf("r%02d/.git/HEAD", i): "x", fmt.Sprintf("r%02d/.git/objects/x", i): "", fmt.Sprintf("r%02d/.git/refs/x", i): ""})
	}
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}
	cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "touch x && ! touch .envrc && ! touch ../r00/.envrc && ! touch ../r58/.envrc"}, Dir: filepath.Join(root, "r59"), Env: []string{"PATH=/usr/bin:/bin"}}
	exit, err := s.Run(t.Context(), cmd, grant)
	if err != nil || exit.Code != 0 || len(exit.Notes) == 0 {
		t.Errorf("%+v, error %v", exit, err)
	}
}
