//go:build amd64 || arm64

package linux

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// obeyedShield is a shield as the program makes it.
func obeyedShield(t testing.TB, granted ...string) *sandbox.Shield {
	t.Helper()
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if shield.Obeyed, err = sensitive.NewObeyedSet(granted...); err != nil {
		t.Fatal(err)
	}
	shield.Git = gitconfig.Source{Read: os.ReadFile}
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

// TestObeyedIsReadOnly: whatever a program does, it changes nothing that is there and
// that other programs obey: at the top, in nested repositories, by links too. What it
// makes where nothing was is told.
func TestObeyedIsReadOnly(t *testing.T) {
	root := nestedProject(t)
	s := open(t, Config{Shield: obeyedShield(t)})
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
		"rm .cursor", "ln -sfn src .cursor", "mv .cursor c")
	var script strings.Builder
	script.WriteString("exec 2>/dev/null\n")
	for _, a := range attacks {
		fmt.Fprintf(&script, "(%s) && echo %q\n", a, "DONE "+a)
	}
	out, exit := sh(t, s, grant, script.String()+"true")
	after := tree(t, root)
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("%+v: %s is not what it was", exit, line)
		}
	}
	if len(exit.Notes) < 5 || strings.Contains(out, "DONE echo evil > .zed/settings.json") {
		t.Errorf("%q\n%s", exit.Notes, out)
	}
	root = nestedProject(t)
	grant.Dirs[0].Path, before = root, tree(t, root)
	if got, exit := sh(t, s, grant, "exec 2>&1; set -e; cat .zed/settings.json tools/watch.sh .cursor/tasks.json >/dev/null; echo y > file; echo z > src/new.go; rm src/new.go; echo x >file; mkdir d; rmdir d; echo x > .github/dependabot.yml; printf x > .github/dependabot.yml; printf x > file"); exit.Code != 0 {
		t.Errorf("ordinary work: %+v\n%s", exit, got)
	}
	same(t, root, before)
}

// TestObeyedIsGranted: what a person granted is an ordinary file.
func TestObeyedIsGranted(t *testing.T) {
	root := nestedProject(t)
	s := open(t, Config{Shield: obeyedShield(t, ".vscode", ".github/workflows", ".githooks", ".zed")})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	const script = "exec 2>&1; set -e; mkdir .vscode; echo x > .vscode/tasks.json; mkdir -p .github/workflows; echo x > .github/workflows/ci.yml; mkdir .githooks; echo x > .githooks/pre-commit; echo x > .zed/settings.json; mkdir .idea"
	if out, exit := sh(t, s, grant, script); exit.Code != 0 || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], ".idea was made") {
		t.Errorf("%+v\n%s", exit, out)
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
	shield := obeyedShield(t)
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

// TestMadeIsTold: what a program on the live files makes is told with the worst first,
// however much there is of it; what was there before, and what is ordinary, is not.
func TestMadeIsTold(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{".vscode/tasks.json": "{}", ".env": "PASSWORD=x\n"})
	s := open(t, Config{Shield: obeyedShield(t)})
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, `set -e
for i in $(seq 30); do mkdir d$i; echo x > d$i/.gitlab-ci.yml; done
echo x > ordinary; echo PASSWORD=y > d1/.env; mkdir -p z/.claude; echo '{}' > z/.claude/settings.json; mkdir -p n/.git/objects n/.git/refs; echo x > n/.git/HEAD`)
	if exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	told := strings.Join(exit.Notes, "\n")
	for _, name := range []string{"z/.claude was made", "n/.git was made", "d1/.env was made", "more such files were made"} {
		if !strings.Contains(told, name) {
			t.Errorf("%q is not told:\n%s", name, told)
		}
	}
	if strings.Contains(told, "ordinary") || strings.Contains(told, root+"/.vscode") || len(exit.Notes) > 12 {
		t.Errorf("told %d:\n%s", len(exit.Notes), told)
	}
}
