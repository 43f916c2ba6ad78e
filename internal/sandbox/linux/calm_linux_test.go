//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestToolsStayThemselves: a person's own program in PATH stays if its mode or its
// names change, and goes if it holds something else, whatever its times are.
func TestToolsStayThemselves(t *testing.T) {
	for script, stays := range map[string]bool{
		"chmod -R u+rwX bin": true,
		"ln bin/ssh x":       true,
		"cp -al bin b2":      true,
		"touch bin/ssh":      true,
		"touch -r bin/ssh t; printf '#!/bin/SH\\n' >bin/ssh; touch -r t bin/ssh":      false,
		"cp -p bin/ssh t; printf '#!/bin/SH\\n' >t; touch -r bin/ssh t; mv t bin/ssh": false,
	} {
		t.Run(script, func(t *testing.T) {
			root, machine := tempProject(t), tempProject(t)
			for _, name := range []string{"git", "ssh"} {
				putProgram(t, filepath.Join(machine, name))
			}
			putProgram(t, filepath.Join(root, "bin", "ssh"))
			shield := obeyedShield(t, t.TempDir())
			shield.Path = []string{filepath.Join(root, "bin"), machine}
			s := open(t, Config{Shield: shield})
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
			out, exit := sh(t, s, grant, script)
			_, err := os.Lstat(filepath.Join(root, "bin", "ssh"))
			if exit.Code != 0 || (err == nil) != stays || (len(exit.Notes) == 0) != stays {
				t.Fatalf("%v %+v\n%s", err, exit, out)
			}
			list := shield.Holds.Asides()
			if (len(list) == 0) != stays {
				t.Errorf("%+v", list)
			}
		})
	}
	// Under another name, and what could not be run before, it is another one.
	root, machine := tempProject(t), tempProject(t)
	for _, name := range []string{"git", "ssh", "ls"} {
		putProgram(t, filepath.Join(machine, name))
	}
	putProgram(t, filepath.Join(root, "bin", "ssh"))
	put(t, root, map[string]string{"bin/ls": "#!/bin/sh\n"})
	shield := obeyedShield(t, t.TempDir())
	shield.Path = []string{filepath.Join(root, "bin"), machine}
	s := open(t, Config{Shield: shield})
	if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "mv bin/ssh bin/git; chmod +x bin/ls"); exit.Code != 0 || len(exit.Notes) != 2 {
		t.Errorf("%+v\n%s", exit, out)
	}
}

// TestWorkTreeInAWorkTree: in a project that is a work tree itself, one that a
// person adds while a program runs is hers, though its repository lies outside of
// what was granted. One that was there before, and that the program takes up, is not.
func TestWorkTreeInAWorkTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	both := tempProject(t)
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, both, 0, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return // when something was made is not known here, and it is set aside
	}
	p := &project{t: t, root: filepath.Join(both, "project")}
	main := filepath.Join(both, "main")
	p.git(both, "init", "-q", "main")
	p.write(filepath.Join(main, "file"), "x")
	p.git(main, "add", ".")
	p.git(main, "commit", "-qm", "x")
	p.git(main, "worktree", "add", "-q", p.root)
	p.git(main, "worktree", "add", "-q", filepath.Join(p.root, "old"))
	text, err := os.ReadFile(filepath.Join(p.root, "old", ".git"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(p.root, "old")); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	ended := make(chan toolcrib.Exit, 1)
	go func() {
		script := "mkdir old && printf %s '" + strings.TrimSpace(string(text)) + "' >old/.git && echo x >runs; while [ -e runs ]; do sleep 0.02; done"
		_, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: p.root, Write: true}}, Time: 2 * time.Minute}, script)
		ended <- exit
	}()
	waitFor(t, filepath.Join(p.root, "runs"))
	p.git(p.root, "worktree", "add", "-q", "nested")
	if err := os.Remove(filepath.Join(p.root, "runs")); err != nil {
		t.Fatal(err)
	}
	if exit := <-ended; exit.Code != 0 || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "old/.git") {
		t.Errorf("%+v", exit)
	}
	p.git(filepath.Join(p.root, "nested"), "rev-parse", "HEAD")
}
