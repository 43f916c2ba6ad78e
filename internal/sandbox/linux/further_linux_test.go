//go:build amd64 || arm64

package linux

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestLinkedToAStore: pnpm and uv put files that are linked to their store in the
// place of others. A program goes on if all further names lie outside of what was
// granted, and is ended if it made one itself where no look finds it.
func TestLinkedToAStore(t *testing.T) {
	const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx\n-----END RSA PRIVATE KEY-----\n"
	for _, c := range []struct {
		name, script string
		person       func(root, store string) error
		ended        bool
	}{
		{"a file", ":", func(root, store string) error { return replace(root, store+"/k2", "node_modules/x/test.key") }, false},
		{"a file of a backup", ":", func(root, store string) error { return replace(root, store+"/k2", ".mcp.json") }, false},
		{"a directory", ":", func(root, store string) error {
			x, next := root+"/node_modules/x", root+"/node_modules/x_tmp"
			if err := os.Mkdir(next, 0o755); err != nil {
				return err
			}
			if err := os.Link(store+"/k2", next+"/test.key"); err != nil {
				return err
			}
			if err := os.RemoveAll(x); err != nil {
				return err
			}
			return os.Rename(next, x)
		}, false},
		{"a hook", ":", func(root, store string) error { return replace(root, store+"/k2", ".git/hooks/pre-commit") }, false},
		{"a name in objects of a new repository", "mkdir -p r/.git/objects/aa r/.git/refs && echo ref: refs/heads/main >r/.git/HEAD && ln tools/hook r/.git/objects/aa/x", func(root, store string) error { return os.Rename(root+"/tools/hook", root+"/.mcp.json") }, true},
		{"a name in a closed directory", "mkdir -p " + strings.Repeat("d/", 135) + " && ln tools/hook " + strings.Repeat("d/", 135) + "x && chmod 0 d/d", func(root, store string) error { return os.Rename(root+"/tools/hook", root+"/.mcp.json") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			both := tempProject(t)
			root, store := filepath.Join(both, "project"), filepath.Join(both, "store")
			put(t, root, map[string]string{"tools/hook": "old\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/hooks/x.sample": "x", ".git/objects/x": "", ".git/refs/x": "", ".mcp.json": "{}", "node_modules/x/index.js": "x"})
			put(t, store, map[string]string{"k1": key, "k2": key + "\n"})
			if err := os.Link(store+"/k1", root+"/node_modules/x/test.key"); err != nil {
				t.Fatal(err)
			}
			said := &speech{}
			ended := make(chan toolcrib.Exit, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			script := "cd " + root + "; if " + c.script + "; then echo began; fi; while :; do echo on; sleep 0.01; done"
			go func() {
				cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: said, Stderr: said}
				exit, _ := s.Run(ctx, cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}) // it is ended
				ended <- exit
			}()
			said.rounds(t, "on")
			if err := c.person(root, store); err != nil {
				t.Fatal(err)
			}
			if !c.ended {
				for lines := said.lines() + 30; said.lines() < lines && len(ended) == 0; { // it is still there
					time.Sleep(time.Millisecond)
				}
				cancel()
			}
			exit := <-ended
			killed := slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "The program was ended") })
			if text := said.String(); killed != c.ended || !strings.Contains(text, "began") {
				t.Errorf("%+v\n%s", exit, text)
			}
		})
	}
}

// replace puts another name of a file where something is.
func replace(root, file, name string) error {
	if err := os.Link(file, root+"/tmp"); err != nil {
		return err
	}
	return os.Rename(root+"/tmp", filepath.Join(root, name))
}

func (s *speech) lines() int { return strings.Count(s.String(), "\n") }
