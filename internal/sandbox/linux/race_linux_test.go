//go:build amd64 || arm64

package linux

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// reader looks for the secret under all names that it may have, for a while.
const reader = `i=0; while [ $i -lt 30 ]; do cat conf/.env c2/.env 2>/dev/null; i=$((i+1)); done; :`

// TestCoversInARace: while directories are moved to and fro, a program starts
// with what is protected covered, or not at all.
func TestCoversInARace(t *testing.T) {
	const starts = 20
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: shield})
	// race starts programs while something moves, and tells how many ran.
	race := func(t *testing.T, root string) int {
		ran := 0
		for range starts {
			var out bytes.Buffer
			cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", reader}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out}
			_, err := s.Run(t.Context(), cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute})
			switch {
			case strings.Contains(out.String(), "SECRET"):
				t.Fatal("a program that was started during the race read the secret")
			case err == nil:
				ran++
			case toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "try again"):
				t.Fatal(err)
			}
		}
		return ran
	}
	plant := func(t *testing.T) string {
		root := t.TempDir()
		for _, dir := range []string{"conf", "a"} {
			mkdir(t, root, dir)
		}
		if err := os.WriteFile(filepath.Join(root, "conf", ".env"), []byte("SECRET"), 0o644); err != nil {
			t.Fatal(err)
		}
		return root
	}
	t.Run("by a program", func(t *testing.T) {
		root := plant(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "while :; do mv conf c2; mv c2 conf; mkdir d; mv d e; rmdir e; done"}, Env: []string{"PATH=/usr/bin:/bin"}}
			_, _ = s.Run(ctx, cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: 2 * time.Minute}) // it ends by being stopped
		}()
		ran := 0
		for range 5 { // a busy machine may have bad luck
			if ran = race(t, root); ran > 0 {
				break
			}
		}
		if ran == 0 {
			t.Error("one program kept all others from being started")
		}
		cancel()
		<-done
	})
	for name, moves := range map[string][][2]string{
		"beside itself":        {{"conf", "c2"}, {"c2", "conf"}},
		"another in its place": {{"conf", "c2"}, {"a", "conf"}, {"conf", "a"}, {"c2", "conf"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := plant(t)
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					for _, m := range moves {
						_ = os.Rename(filepath.Join(root, m[0]), filepath.Join(root, m[1])) // a full round comes back to the start
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			}()
			race(t, root)
			close(stop)
			<-done
			if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, reader+"; echo done"); out != "done\n" || exit.Code != 0 {
				t.Errorf("afterwards: %+v %q", exit, out)
			}
		})
	}
}

// TestStartsWhileOthersBuild: directories that come and go, as in every build,
// keep no program from being started, and what is protected stays so.
func TestStartsWhileOthersBuild(t *testing.T) {
	const dirs, starts = 1000, 20
	root := t.TempDir()
	for i := range dirs {
		mkdir(t, root, "node_modules", strconv.Itoa(i))
	}
	mkdir(t, root, "conf")
	if err := os.WriteFile(filepath.Join(root, "conf", ".env"), []byte("SECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: shield})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			tmp := filepath.Join(root, "node_modules", strconv.Itoa(i%dirs), "tmp")
			_ = os.MkdirAll(filepath.Join(tmp, "lib"), 0o755)
			_ = os.WriteFile(filepath.Join(tmp, "lib", "x"), nil, 0o644)
			_ = os.Rename(filepath.Join(tmp, "lib"), filepath.Join(tmp, "l2"))
			_ = os.RemoveAll(tmp)
		}
	}()
	defer func() { close(stop); <-done }()
	for i := range starts {
		if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}, "cat conf/.env 2>/dev/null; echo ran"); out != "ran\n" || exit.Code != 0 {
			t.Errorf("start %d: %+v %q", i, exit, out)
		}
	}
}
