//go:build amd64 || arm64

package linux

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
)

// TestArrivals: what a person puts where others obey it is out of reach of a
// program that has it open, or has another name for it, since it lay elsewhere.
func TestArrivals(t *testing.T) {
	deep := "mkdir -p " + strings.Repeat("d/", 140) + "; cd " + strings.Repeat("d/", 140) + "; "
	for _, c := range []struct {
		name, script, from, to string
		then                   string // what the program says afterwards; empty if it is ended
	}{
		{"open", "exec 9>>tools/hook", "tools/hook", ".git/hooks/pre-commit", ""},
		{"open for reading", "exec 9<tools/hook", "tools/hook", ".vscode/tasks.json", ""},
		{"open, in a directory below", "exec 9>>tools/hook", "tools/hook", ".vscode/sub/x", ""},
		{"another name", "ln tools/hook mine", "tools/hook", ".git/hooks/pre-commit", "shut"},
		{"another name of a file in a directory", "ln tools/hook mine", "tools", ".husky", "shut"},
		{"a name that is not seen", deep + "ln $TOP/tools/hook mine", "tools/hook", ".git/hooks/pre-commit", ""},
		{"a name of a new file in an old one's place", deep + "ln $TOP/tools/hook mine", "tools/hook", ".mcp.json", ""},
		{"nothing", ":", "tools/hook", ".git/hooks/pre-commit", "wrote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			root := tempProject(t)
			put(t, root, map[string]string{"tools/hook": "old\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/hooks/x.sample": "x", ".git/objects/x": "", ".git/refs/x": "", ".vscode/settings.json": "{}", ".vscode/sub/y": "", ".mcp.json": "{}"})
			said := &speech{}
			ended := make(chan toolcrib.Exit, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			script := "TOP=" + root + "; cd $TOP; " + c.script + "; while :; do if (echo evil >>mine) 2>/dev/null; then echo wrote; else echo shut; fi; sleep 0.01; done"
			go func() {
				cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: said, Stderr: said}
				exit, _ := s.Run(ctx, cmd, toolcrib.Grant{Dirs: []toolcrib.Dir{{Path: root, Write: true}}, Time: time.Minute}) // it is ended
				ended <- exit
			}()
			said.rounds(t, "wrote")
			if err := unix.Rename(filepath.Join(root, c.from), filepath.Join(root, c.to)); err != nil {
				t.Fatal(err)
			}
			if c.then != "" {
				said.rounds(t, c.then)
				cancel()
			}
			exit := <-ended
			killed := slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "The program was ended") })
			if killed != (c.then == "") {
				t.Errorf("%+v", exit)
			}
		})
	}
}
