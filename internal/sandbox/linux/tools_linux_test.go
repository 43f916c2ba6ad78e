//go:build amd64 || arm64

package linux

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestToolsInPath: a program that a command puts before one of the machine in the
// person's PATH is set aside; what was there before, what the project is about
// and what the machine does not have stay.
func TestToolsInPath(t *testing.T) {
	root, machine := tempProject(t), tempProject(t)
	for _, name := range []string{"git", "ls", "ssh", "sudo", "python", "sed", "pager", "git-credential-x", "sh", "claude"} {
		putProgram(t, filepath.Join(machine, name))
	}
	putProgram(t, filepath.Join(root, "bin", "sed")) // the person's own
	put(t, root, map[string]string{".venv/bin/python": "x", "bin/ls": "not to be run"})
	shield := obeyedShield(t, t.TempDir())
	shield.Path = []string{filepath.Join(root, ".venv", "bin"), filepath.Join(root, "bin"), root, filepath.Join(root, "later", "bin"), machine}
	s := open(t, Config{Shield: shield})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	const script = `set -e
make() { mkdir -p $(dirname $1); echo '#!/bin/sh' > $1; chmod +x $1; }
make .venv/bin/git; make .venv/bin/python; make .venv/bin/curl; make .venv/bin/pip; make git; make src/git; make later/bin/ssh; make .venv/bin/pager; make .venv/bin/git-credential-x; make .venv/bin/git-cz; make node_modules/.bin/sh; make node_modules/.bin/claude; make node_modules/.bin/tsc
ln -s ../src/git .venv/bin/ssh; chmod +x bin/ls; echo text > .venv/bin/sed`
	out, exit := sh(t, s, grant, script)
	if exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	for name, stays := range map[string]bool{
		".venv/bin/git": false, ".venv/bin/ssh": false, "git": false, "later/bin/ssh": false, "bin/ls": false, ".venv/bin/pager": false, ".venv/bin/git-credential-x": false, ".venv/bin/git-cz": true, "node_modules/.bin/sh": false, "node_modules/.bin/claude": true, "node_modules/.bin/tsc": true,
		".venv/bin/python": true, ".venv/bin/pip": true, ".venv/bin/curl": true, "src/git": true, "bin/sed": true, ".venv/bin/sed": true,
	} {
		if _, err := os.Lstat(filepath.Join(root, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(exit.Notes) != 8 || !strings.Contains(exit.Notes[0], filepath.Join(machine, "sh")) || !strings.Contains(exit.Notes[1], filepath.Join(machine, "git")) {
		t.Errorf("%q", exit.Notes)
	}
	before := tree(t, root)
	if _, exit := sh(t, s, grant, "true"); len(exit.Notes) > 0 {
		t.Errorf("%q", exit.Notes)
	}
	same(t, root, before)
	// The directory has another name by now: what was in it is as it was.
	if out, exit := sh(t, s, grant, "mv bin moved; ln -s moved bin; chmod +x .venv/bin/sed"); exit.Code != 0 || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], ".venv/bin/sed") {
		t.Errorf("%s\n%+v", out, exit)
	}
	if _, err := os.Lstat(filepath.Join(root, "moved", "sed")); err != nil {
		t.Error(err)
	}
}

// TestLinkedTools: a link under such a name counts with what it leads to.
func TestLinkedTools(t *testing.T) {
	root, machine := tempProject(t), tempProject(t)
	links := map[string]string{
		"bin/ls": "../scripts/changed", "bin/sed": "../d/l", "d/l": "../scripts/other", "bin/git": "../scripts/made", "bin/cat": "../scripts/large", "bin/cp": "../scripts/shut",
		"bin/ssh": "../scripts/same", "bin/mv": "../scripts/touched", "bin/sudo": filepath.Join(machine, "sudo"),
	}
	for name := range links {
		putProgram(t, filepath.Join(machine, filepath.Base(name)))
	}
	for _, name := range []string{"changed", "other", "large", "shut", "same", "touched"} {
		putProgram(t, filepath.Join(root, "scripts", name))
	}
	if err := os.Chmod(filepath.Join(root, "scripts", "shut"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(root, "scripts", "large"), 5<<20); err != nil {
		t.Fatal(err)
	}
	link(t, root, links)
	shield := obeyedShield(t, t.TempDir())
	shield.Path = []string{filepath.Join(root, "bin"), machine}
	s := open(t, Config{Shield: shield})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	out, exit := sh(t, s, grant, `set -e; cd scripts; echo evil >> changed; echo evil > x; chmod +x x; ln -sfn ../scripts/x ../d/l; cp x made; echo evil >> large; chmod +x shut; touch touched; cat same`)
	if exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	for name, stays := range map[string]bool{"ls": false, "sed": false, "git": false, "cat": false, "cp": false, "ssh": true, "mv": true, "sudo": true} {
		if _, err := os.Lstat(filepath.Join(root, "bin", name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(exit.Notes) != 5 {
		t.Errorf("%q", exit.Notes)
	}
	if _, exit := sh(t, s, grant, "true"); len(exit.Notes) > 0 {
		t.Errorf("%q", exit.Notes)
	}
}

// TestMadeLinks: a link under a name that others obey at once is as good as a file.
func TestMadeLinks(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{"a": "a"})
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "echo script-shell=x > n.rc && ln -s n.rc .npmrc && mkdir w && echo x > w/x && ln -s w .windsurf && ln -s n.rc .gitlab-ci.yml")
	if exit.Code != 0 || len(exit.Notes) != 3 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	for name, stays := range map[string]bool{".npmrc": false, ".windsurf": false, ".gitlab-ci.yml": true, "n.rc": true} {
		if _, err := os.Lstat(filepath.Join(root, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStartIsATop: an agent looks for its settings where it was started, though a
// wider directory was granted.
func TestStartIsATop(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{"foo/a": "a", "bar/a": "a"})
	shield := obeyedShield(t, t.TempDir())
	shield.Start = filepath.Join(root, "foo")
	s := open(t, Config{Shield: shield})
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "mkdir bar/.claude && ! mkdir foo/.claude && ! echo x > foo/.mcp.json")
	if exit.Code != 0 {
		t.Errorf("%s\n%+v", out, exit)
	}
}

func putProgram(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestToolsOfOneProgram: the interpreter of one program is seen by that one, read-only.
func TestToolsOfOneProgram(t *testing.T) {
	dir := tempProject(t)
	put(t, dir, map[string]string{"lib/code.py": "words"})
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	run := func(ctx context.Context, script string) toolcrib.Exit {
		t.Helper()
		exit, err := s.Run(ctx, toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}}, toolcrib.Grant{Bounds: toolcrib.BoundFiles})
		if err != nil {
			t.Fatal(err)
		}
		return exit
	}
	with := sandbox.WithTools(t.Context(), []string{dir})
	if exit := run(with, "grep -q words "+dir+"/lib/code.py"); exit.Code != 0 {
		t.Errorf("it does not see it: %+v", exit)
	}
	if run(with, "echo x > "+dir+"/lib/new || exit 7"); exists(filepath.Join(dir, "lib", "new")) {
		t.Error("it writes there")
	}
	if exit := run(t.Context(), "test -e "+dir+"/lib/code.py"); exit.Code == 0 {
		t.Error("another one sees it too")
	}
	if exit := run(sandbox.WithTools(t.Context(), []string{filepath.Join(dir, "gone")}), "true"); exit.Code != 0 || len(exit.Notes) == 0 {
		t.Errorf("one that is gone: %+v", exit)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
