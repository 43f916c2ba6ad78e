//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
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
		{"a directory in which it stands", "cd tools", "tools", ".vscode/new", ""},
		{"a directory below which it stands", "cd tools/sub", "tools", ".vscode/sub/new", ""},
		{"a directory with a file that is open", "exec 9>>tools/hook", "tools", ".vscode/new", ""},
		{"a directory that is open", "exec 9<tools", "tools", ".vscode/new", ""},
		{"open, in a new directory", "exec 9>>tools/hook", "tools/hook", ".vscode/new/x", ""},
		{"all hooks", "cd tools", "tools", ".git/hooks", ""},
		{"all hooks, one of them open", "exec 9>>tools/hook", "tools", ".git/hooks", ""},
		{"open by a name that is gone", "ln tools/hook x; exec 9>>x; rm x", "tools", ".vscode", ""},
		{"open by a further name", "ln tools/hook x; exec 9>>x", "tools", ".vscode/new", ""},
		{"mapped by a name that is gone", `python3 -c 'import mmap, os, time; os.link("tools/hook", "x"); f = open("x", "r+"); m = mmap.mmap(f.fileno(), 0); f.close(); os.remove("x"); open("ready", "w"); time.sleep(600)' & while [ ! -e ready ]; do sleep 0.01; done`, "tools", ".vscode", ""},
		{"running", "cp $(command -v sleep) tools/sleep; tools/sleep 600 & while [ \"$(readlink /proc/$!/exe)\" != $TOP/tools/sleep ]; do sleep 0.01; done", "tools/sleep", ".git/hooks/pre-commit", ""},
		{"open, among settings of git", "exec 9>>tools/hook", "tools/hook", ".git/config", ""},
		{"open, among what is hidden", "exec 9<tools/hook", "tools/hook", ".aws/config", ""},
		{"a directory among what is hidden", "cd tools", "tools", ".aws/sub/new", ""},
		{"another name of what is hidden", "ln tools/hook mine", "tools/hook", ".aws/sub/x", "shut"},
		{"a directory", ":", "tools", ".vscode/new", "wrote"},
		{"open by a cover", "exec 9<.vscode/sub/y", ".vscode/sub", ".git/hooks/sub", "wrote"},
	} {
		tryOn(t, c.name, func(t *testing.T) bool {
			needsPython(t, c.script)
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			root := tempProject(t)
			put(t, root, map[string]string{"tools/hook": "old\n", "tools/sub/x": "", ".aws/credentials": "x", ".aws/sub/y": "", ".git/HEAD": "ref: refs/heads/main\n", ".git/hooks/x.sample": "x", ".git/objects/x": "", ".git/refs/x": "", ".vscode/settings.json": "{}", ".vscode/sub/y": "", ".mcp.json": "{}"})
			ended := make(chan toolcrib.Exit, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			said := &speech{end: sync.OnceValue(func() toolcrib.Exit { cancel(); return <-ended })}
			script := "TOP=" + root + "; cd $TOP; " + c.script + "; while :; do if (echo evil >>mine) 2>/dev/null; then echo wrote; else echo shut; fi; sleep 0.01; done"
			go func() {
				cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: said, Stderr: said}
				exit, _ := s.Run(ctx, cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}) // it is ended
				ended <- exit
			}()
			said.rounds(t, "wrote")
			to := filepath.Join(root, c.to)
			if up := above(to); up != root {
				waitWatched(t, s, up)
			}
			if err := os.Mkdir(filepath.Dir(to), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
			if info, err := os.Stat(to); err == nil && info.IsDir() {
				if err := os.RemoveAll(to); err != nil {
					t.Fatal(err)
				}
			}
			if err := unix.Rename(filepath.Join(root, c.from), to); err != nil {
				t.Fatal(err)
			}
			var exit toolcrib.Exit
			switch {
			case c.then == "":
				exit = <-ended
			case !said.comes(t, c.then):
				return false
			default:
				exit = said.end()
			}
			killed := slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "The program was ended") })
			if killed != (c.then == "") {
				t.Errorf("%+v", exit)
			}
			return true
		})
	}
}

// waitWatched waits until what comes into a directory is told: a program that has
// just begun is not ended for it.
func waitWatched(t *testing.T, s *Sandbox, dir string) {
	t.Helper()
	watched := func() bool {
		s.moves.mu.Lock()
		defer s.moves.mu.Unlock()
		for watch, guards := range s.moves.watches {
			for g := range guards {
				if g.places[watch].path == dir {
					return true
				}
			}
		}
		return false
	}
	for deadline := time.Now().Add(time.Minute); !watched(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is not watched", dir)
		}
	}
}
