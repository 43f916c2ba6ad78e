//go:build amd64 || arm64

package linux

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// besideProject is a repository with a script that is no hook yet.
func besideProject(t *testing.T) (root string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	root = tempProject(t)
	git = func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Dir = root
		c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	put(t, root, map[string]string{"tools/hook": "old\n", "tools/sub/x": "x\n", "conf/x": "x\n", ".mcp.json": "{}", ".husky/_/x": "x", ".git/hooks/x.sample": "x"})
	git("add", ".")
	git("commit", "-qm", "x")
	return root, git
}

// besideLoop says whether what is named can be written, without opening it first:
// a program that has it open at the wrong moment is ended.
const besideLoop = `; while :; do if [ -w %[1]s ] || [ -e %[1]s ] && (echo evil >>%[1]s) 2>/dev/null; then echo open; elif mkdir %[1]s 2>/dev/null; then rmdir %[1]s; echo open; else echo shut; fi; sleep 0.01; done`

// TestLedElsewhere: while a program runs, a person leads git and others to files
// that the program could write until then. From then on it cannot.
func TestLedElsewhere(t *testing.T) {
	link := func(from, to string) func(*testing.T, string, func(...string)) {
		return func(t *testing.T, root string, _ func(...string)) {
			t.Helper()
			place := filepath.Join(root, from)
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, place+".new"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(place+".new", place); err != nil {
				t.Fatal(err)
			}
		}
	}
	set := func(key, value string) func(*testing.T, string, func(...string)) {
		return func(_ *testing.T, _ string, git func(...string)) { git("config", key, value) }
	}
	for _, c := range []struct {
		name, script, target string
		act                  func(t *testing.T, root string, git func(...string))
		ended                bool
	}{
		{"a hook by a link", ":", "tools/hook", link(".git/hooks/pre-commit", "../../tools/hook"), false},
		{"a hook by a new link in a new directory", ":", "tools/hook", func(t *testing.T, root string, git func(...string)) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(root, ".git", "hooks")); err != nil {
				t.Fatal(err)
			}
			link(".git/hooks/pre-commit", "../../tools/hook")(t, root, git)
		}, false},
		{"a link deep in an obeyed directory", ":", "tools/hook", link(".husky/_/pre-commit", "../../tools/hook"), false},
		{"a link in a new directory of an obeyed one", ":", "tools/hook", link(".husky/new/pre-commit", "../../tools/hook"), false},
		{"a link for a file that is obeyed", ":", "conf/x", link(".mcp.json", "conf/x"), false},
		{"a directory of hooks", ":", "tools/hook", set("core.hooksPath", "tools"), false},
		{"a directory of hooks that is missing", ":", "hooks2", set("core.hooksPath", "hooks2"), false},
		{"a file of settings", ":", "conf/x", set("include.path", "../conf/x"), false},
		{"a program", ":", "tools/hook", set("core.fsmonitor", "tools/hook"), false},
		{"settings written in place", ":", "tools/hook", func(t *testing.T, root string, _ func(...string)) {
			t.Helper()
			f, err := os.OpenFile(filepath.Join(root, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("[core]\n\thooksPath = tools\n"); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"settings of the person", ":", "tools/hook", func(t *testing.T, root string, _ func(...string)) {
			t.Helper()
			put(t, root+".home", map[string]string{"git/config": "[core]\n\thooksPath = tools\n"})
		}, false},
		{"who stands in the directory", "cd tools/sub", "../hook", link(".git/hooks/pre-commit", "../../tools/hook"), false},
		{"the directory looks like a repository", "mkdir tools/objects tools/refs; echo x >tools/HEAD", "tools/hook", link(".git/hooks/pre-commit", "../../tools/hook"), false},
		{"another repository names it first", "git init -q a; git -C a config core.hooksPath $PWD/tools", "tools/hook", link(".git/hooks/pre-commit", "../../tools/hook"), false},
		{"another name", "ln tools/hook mine", "mine", set("core.hooksPath", "tools"), false},
		{"the file is open", "exec 9>>tools/hook", "tools/hook", link(".git/hooks/pre-commit", "../../tools/hook"), true},
		{"a file in the directory is open", "exec 9<tools/hook", "tools/hook", set("core.hooksPath", "tools"), true},
		{"who stands in the directory of hooks", "cd tools/sub", "x", set("core.hooksPath", "tools"), true},
		{"a file in the directory is mapped", `python3 -c 'import mmap, time; f = open("tools/hook", "r+"); m = mmap.mmap(f.fileno(), 0); f.close(); open("ready", "w"); time.sleep(600)' & while [ ! -e ready ]; do sleep 0.01; done`, "tools/hook", set("core.hooksPath", "tools"), true},
	} {
		tryOn(t, c.name, func(t *testing.T) bool {
			needsPython(t, c.script)
			root, git := besideProject(t)
			shield := obeyedShield(t, filepath.Join(t.TempDir(), "holds"))
			shield.Git.Settings = []string{filepath.Join(root+".home", "git", "config")}
			t.Cleanup(func() { _ = os.RemoveAll(root + ".home") })
			s := open(t, Config{Shield: shield})
			said, end := longJob(t, s, root, "HOME=/tmp; cd "+root+"; "+c.script+fmt.Sprintf(besideLoop, c.target))
			said.rounds(t, "open")
			c.act(t, root, git)
			if !c.ended {
				came := said.comes(t, "shut")
				end()
				return came
			}
			select {
			case <-said.over:
			case <-time.After(time.Minute):
			}
			if exit := end(); !slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "The program was ended") }) {
				t.Errorf("%+v", exit)
			}
			return true
		})
	}
}

// tryOn is a test of a program that opens a file all the time. It may have it open
// at the very moment in which it is covered, and is rightly ended then: such a
// try says nothing.
func tryOn(t *testing.T, name string, try func(t *testing.T) bool) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		for range 10 {
			if try(t) {
				return
			}
		}
		t.Error("the program had the file open each time")
	})
}

// TestWorkBesideAProgram: what people do all day ends no program, nor takes from
// it what it made itself.
func TestWorkBesideAProgram(t *testing.T) {
	root, git := besideProject(t)
	git("config", "alias.l", "!notes")
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	script := "HOME=/tmp; cd " + root + "; git init -q own; git -C own config core.hooksPath $PWD/own/made; mkdir own/made; exec 8>>own/made/x 9>>notes" + fmt.Sprintf(besideLoop, "own/made/x")
	said, end := longJob(t, s, root, script)
	said.rounds(t, "open")
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	for i := range rounds {
		branch := fmt.Sprintf("b%d", i)
		put(t, root, map[string]string{"tools/hook": branch})
		git("checkout", "-qb", branch)
		git("config", "branch."+branch+".remote", "origin")
		git("commit", "-qm", branch, "tools")
		put(t, root, map[string]string{"tools/hook": "more", ".mcp.json.new": branch})
		git("stash", "push", "-q", "tools")
		git("checkout", "-q", "main")
		if err := os.Rename(filepath.Join(root, ".mcp.json.new"), filepath.Join(root, ".mcp.json")); err != nil {
			t.Fatal(err)
		}
		git("stash", "drop", "-q")
		said.rounds(t, "open") // or on a busy machine it would be covered anew without an end
	}
	if exit := end(); slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "ended") || strings.Contains(n, "lead to") }) {
		t.Errorf("%+v", exit)
	}
}
