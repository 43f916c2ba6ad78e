//go:build amd64 || arm64

package linux

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestClosedDirectories: what a running program has closed is looked into all the
// same, and what a repository or a link in it leads to elsewhere is held. The
// directory gets its mode back.
func TestClosedDirectories(t *testing.T) {
	for _, mode := range []string{"311", "000", "111", "666"} {
		t.Run(mode, func(t *testing.T) {
			root := tempProject(t)
			put(t, root, map[string]string{
				"hooks/pre-commit": "x", "shared/tasks.json": "{}", "gits/HEAD": "ref: refs/heads/main\n", "gits/config": "[include]\n\tpath = ../inc\n", "gits/objects/x": "", "gits/refs/x": "",
				"inc": "", "vendor/x/.git/HEAD": "ref: refs/heads/main\n", "vendor/x/.git/config": "[core]\n\thooksPath = ../../hooks\n", "vendor/y/deep/.git": "gitdir: ../../../gits\n", "vendor/y/z": "x",
			})
			if err := os.Symlink("../shared", filepath.Join(root, "vendor", ".vscode")); err != nil {
				t.Fatal(err)
			}
			s := open(t, Config{Shield: obeyedShield(t)})
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}
			ended := make(chan toolcrib.Exit, 1)
			go func() {
				exit, _ := s.Run(context.WithoutCancel(t.Context()), toolcrib.Cmd{
					Path: "/bin/sh", Args: []string{"-c", "chmod " + mode + " vendor/y; chmod " + mode + " vendor; echo x > started; while ! test -e stop; do sleep 0.02; done"}, Dir: root, Env: []string{"PATH=/usr/bin:/bin"},
				}, grant)
				ended <- exit
			}()
			waitFor(t, filepath.Join(root, "started"))
			out, exit := sh(t, s, grant, "exec 2>/dev/null; for f in hooks/pre-commit hooks/new shared/tasks.json inc; do echo evil >> $f && echo DONE $f; done; echo fine > own && cat own")
			if strings.Contains(out, "DONE") || !strings.Contains(out, "fine") {
				t.Errorf("%+v %s", exit, out)
			}
			comesTo(t, filepath.Join(root, "vendor"), mode)
			put(t, root, map[string]string{"stop": ""})
			if exit := <-ended; exit.Code != 0 {
				t.Errorf("%+v", exit)
			}
			if err := os.Chmod(filepath.Join(root, "vendor"), 0o755); err != nil { // or the test cannot be cleaned up
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(root, "vendor", "y"), 0o755); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// comesTo waits until a directory has its mode: whoever looks into it just now,
// the guard of a running program also, opens it for a moment.
func comesTo(t *testing.T, path, mode string) {
	t.Helper()
	var now string
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if now = fmt.Sprintf("%03o", info.Mode().Perm()); now == mode {
			return
		}
	}
	t.Errorf("the directory has the mode %s instead of %s", now, mode)
}
