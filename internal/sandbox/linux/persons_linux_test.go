//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestMadeBesideAProgram: a submodule and a work tree that a person makes while a
// program runs are the person's, although the address of the submodule is one
// that was not granted.
func TestMadeBesideAProgram(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	p := &project{t: t, root: filepath.Join(t.TempDir(), "top")}
	lib := filepath.Join(t.TempDir(), "lib")
	for _, dir := range []string{p.root, lib} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		p.git(dir, "init", "-q")
		p.write(filepath.Join(dir, "file"), "x")
		p.git(dir, "add", ".")
		p.git(dir, "commit", "-qm", "x")
	}
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	ended := make(chan toolcrib.Exit, 1)
	go func() {
		_, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: p.root, Write: true}}, Time: 2 * time.Minute}, "echo x >runs; while [ -e runs ]; do sleep 0.02; done")
		ended <- exit
	}()
	waitFor(t, filepath.Join(p.root, "runs"))
	p.git(p.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "sub")
	p.git(p.root, "worktree", "add", "-q", "wt")
	if err := os.Remove(filepath.Join(p.root, "runs")); err != nil {
		t.Fatal(err)
	}
	if exit := <-ended; exit.Code != 0 || len(exit.Notes) > 0 {
		t.Errorf("%+v", exit)
	}
	for _, dir := range []string{"sub", "wt"} {
		p.git(filepath.Join(p.root, dir), "rev-parse", "HEAD")
	}
}
