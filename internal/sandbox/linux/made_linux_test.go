//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestMadeAndObeyed: what a program makes under a name that others obey, and that
// is not held, is set aside when it has ended; what can start nothing stays, as
// does what was there before or was granted.
func TestMadeAndObeyed(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", "sub/.git/HEAD": "ref: refs/heads/main\n", "src/a": "a", ".travis.yml": "old", "src/.circleci/config.yml": "old"})
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir(), ".cirrus.yml")})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	evil := map[string]string{
		".npmrc": "script-shell=/tmp/x\n", ".tool-versions": "nodejs path:/tmp/x\n", "rust-toolchain.toml": "[toolchain]\npath = \"/tmp/x\"\n", "mise.toml": "[env]\nX = 'y'\n", ".gitlab-ci.yml": "x: y\n",
		".windsurf/mcp.json": "{}", ".config/mise/config.toml": "x", "sub/.npmrc": "node-options=--require=/tmp/x\n", "sub/.pre-commit-config.yaml": "x", "x.code-workspace": "{}",
		".hg/hgrc": "[hooks]\npre-status = touch x\n", "deep/down/.hg/hgrc": "%include /tmp/x\n", "src/.hg/sharedpath": "/tmp/x", "src/new/.jj/repo/config.toml": "x", "lib/.sl/config": "[hooks]\nx = y\n",
		".huskyrc.js": "x",
	}
	fine := map[string]string{
		"other/.hg/hgrc": "# as hg clone writes it\n[paths]\ndefault = https://example.com/repo\n", "other/.hg/requires": "store\nshare-safe\n", "src/.npmrc": "script-shell=x\n", ".cirrus.yml": "granted",
		"node_modules/x/.travis.yml": "x", ".bsp/sbt.json": "{}", "sub/.tool-versions": "nodejs 20.1.0\n", "sub/rust-toolchain.toml": "[toolchain]\nchannel = \"1.80\"\ncomponents = [\"clippy\", \"rustfmt\"]\n",
		"README.md": "x",
	}
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, files := range []map[string]string{evil, fine} {
		for name, text := range files {
			script.WriteString("mkdir -p " + filepath.Dir(name) + "; cat > " + name + " <<'END'\n" + strings.TrimSuffix(text, "\n") + "\nEND\n")
		}
	}
	out, exit := sh(t, s, grant, script.String())
	if exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	told := []string{"mise.toml", ".gitlab-ci.yml", ".config/mise/config.toml", "sub/.pre-commit-config.yaml", ".huskyrc.js"} // takes a word of a person, or a commit
	for name := range evil {
		if _, err := os.Lstat(filepath.Join(root, name)); (err == nil) != slices.Contains(told, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range fine {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(exit.Notes) != 11 || !strings.HasPrefix(exit.Notes[10], strconv.Itoa(len(evil)-10)+" more") {
		t.Errorf("%q", exit.Notes)
	}
	before := tree(t, root)
	if _, exit := sh(t, s, grant, "true"); len(exit.Notes) > 0 { // what is set aside stays as it is
		t.Errorf("%q", exit.Notes)
	}
	same(t, root, before)
}

// TestCheckedOutWhileRunning: what git writes for a person is hers.
func TestCheckedOutWhileRunning(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	p := &project{t: t, root: tempProject(t)}
	p.git(p.root, "init", "-q", "-b", "main")
	p.write(filepath.Join(p.root, "a"), "a")
	p.git(p.root, "add", ".")
	p.git(p.root, "commit", "-qm", "x")
	p.git(p.root, "checkout", "-qb", "other")
	put(t, p.root, map[string]string{".gitlab-ci.yml": "x", ".windsurf/mcp.json": "x"})
	p.git(p.root, "add", ".")
	p.git(p.root, "commit", "-qm", "y")
	p.git(p.root, "checkout", "-q", "main")
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	said, end := longJob(t, s, p.root, "echo script-shell=evil > .npmrc; while :; do echo on; sleep 0.01; done")
	said.rounds(t, "on")
	p.git(p.root, "checkout", "-q", "other")
	said.rounds(t, "on")
	exit := end()
	for _, name := range []string{".gitlab-ci.yml", ".windsurf"} {
		if _, err := os.Lstat(filepath.Join(p.root, name)); err != nil {
			t.Errorf("%v: %q", err, exit.Notes)
		}
	}
	if _, err := os.Lstat(filepath.Join(p.root, ".npmrc")); err == nil || !slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, ".npmrc") }) {
		t.Errorf("%v: %q", err, exit.Notes)
	}
}

// TestOwnWorkTree: a work tree that a person adds while a program runs stays; one
// that the program makes up does not.
func TestOwnWorkTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	root := tempProject(t)
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir, c.Env = root, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	said, end := longJob(t, s, root, `echo ready; until [ -e added ]; do sleep 0.01; done; mkdir evil; echo "gitdir: ../.git/worktrees/tree" >evil/.git; while :; do echo shut; sleep 0.01; done`)
	for range 3000 {
		if strings.Contains(said.String(), "ready") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	git("worktree", "add", "-q", "tree", "-b", "other")
	put(t, root, map[string]string{"added": ""})
	said.rounds(t, "shut")
	exit := end()
	for name, stays := range map[string]bool{"tree/.git": true, "evil/.git": false} {
		if _, err := os.Lstat(filepath.Join(root, name)); (err == nil) != stays {
			t.Errorf("%s: %v; %q", name, err, exit.Notes)
		}
	}
}

// TestTreesMadeBesideAProgram: what a program changes in a work tree or a clone that
// a person makes meanwhile is told, if others obey it. What git wrote there is not,
// nor what a program does in a clone of its own.
func TestTreesMadeBesideAProgram(t *testing.T) {
	root, git := besideProject(t)
	put(t, root, map[string]string{".claude/settings.json": "{}\n", ".npmrc": "color=false\n"})
	git("add", ".")
	git("commit", "-qm", "y")
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	said, end := longJob(t, s, root, `HOME=/tmp; echo ready; until [ -e added ]; do sleep 0.01; done
echo evil >tree/.claude/settings.json; echo evil >clone/.mcp.json; mkdir tree/.vscode; echo evil >tree/.vscode/tasks.json
git clone -q clone mine; mkdir mine/.vscode; echo mine >mine/.vscode/tasks.json
while :; do echo shut; sleep 0.01; done`)
	for range 3000 {
		if strings.Contains(said.String(), "ready") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	git("worktree", "add", "-q", "tree", "-b", "other")
	git("clone", "-q", root, "clone")
	put(t, root, map[string]string{"added": ""})
	said.rounds(t, "shut")
	notes := strings.Join(end().Notes, "\n")
	for place, told := range map[string]bool{
		"tree/.claude": true, "tree/.vscode": true, "clone/.mcp.json": true,
		"tree/.mcp.json": false, "tree/.husky": false, "tree/.npmrc": false, "clone/.claude": false, "mine/.vscode": false, "mine/.claude": false, "mine/.mcp.json": false,
	} {
		if strings.Contains(notes, filepath.Join(root, place)+" is not as git has it") != told {
			t.Errorf("%s: %s", place, notes)
		}
	}
}

// TestOwnIndexProvesNothing: a program cannot vouch for what it made by an index
// that it wrote itself.
func TestOwnIndexProvesNothing(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	root := tempProject(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	const made = "git init -q . && echo script-shell=x >.npmrc && echo x >evil.set-aside.code-workspace && git add -A"
	if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, made); exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	for _, name := range []string{".npmrc", "evil.set-aside.code-workspace"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
