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

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestJudgedAfterDeath: what a program made is judged also if we are killed before
// it ends: by the keeper, or by the next start. What there was before stays.
func TestJudgedAfterDeath(t *testing.T) {
	if root := os.Getenv("UNSWEPT_TEST_ROOT"); root != "" {
		s := open(t, Config{Shield: obeyedShield(t, os.Getenv("UNSWEPT_TEST_DIR"))})
		script := strings.ReplaceAll(swap+"evil sub; git init -q good; echo made >done; sleep 1000", "MARK", os.Getenv("UNSWEPT_TEST_MARK"))
		go func() {
			cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}}
			_, _ = s.Run(t.Context(), cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Hour}) // we are killed
		}()
		waitFor(t, filepath.Join(root, "done"))
		s.nursery.mu.Lock()
		fmt.Fprintln(os.Stderr, "keeper", s.nursery.link.process.Process.Pid)
		s.nursery.mu.Unlock()
		select {}
	}
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("with the keeper %v", both), func(t *testing.T) {
			p := newProject(t)
			holds := filepath.Join(t.TempDir(), "holds")
			p.git(filepath.Join(p.root, "nested", "repo"), "config", "core.fsmonitor", "false;") // her own, whatever it says
			mkdir(t, p.root, ".ssh")
			p.git(p.root, "clone", "-q", "nested/repo", ".ssh/hers")
			open(t, Config{})
			c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestJudgedAfterDeath$")
			c.Env = append(os.Environ(), "UNSWEPT_TEST_ROOT="+p.root, "UNSWEPT_TEST_DIR="+holds, "UNSWEPT_TEST_MARK="+p.mark)
			told, err := c.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var keeper int
			if _, err := fmt.Fscanf(told, "keeper %d\n", &keeper); err != nil {
				t.Fatalf("it did not start: %v", err)
			}
			if k, err := os.FindProcess(keeper); both && err == nil {
				_ = k.Kill() // and with it the program
			}
			_ = c.Process.Kill()
			_ = c.Wait()
			judged := func() bool {
				_, err := os.ReadFile(filepath.Join(p.root, "sub", ".git", "HEAD"))
				left, _ := os.ReadDir(holds + ".unswept")
				_, noted := os.Lstat(holds + ".notes")
				return err != nil && len(left) == 0 && (both || noted == nil)
			}
			var said []string
			for until := time.Now().Add(time.Minute); !judged() && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				if both {
					s, err := Open(t.Context(), Config{Shield: obeyedShield(t, holds)})
					if err != nil {
						t.Fatal(err)
					}
					said = append(said, s.left...)
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if !both {
				s := open(t, Config{Shield: obeyedShield(t, holds)})
				_, exit := sh(t, s, toolcrib.Grant{}, ":")
				said = exit.Notes
			}
			_, _ = p.command(filepath.Join(p.root, "sub"), "status")
			if _, err := os.Stat(p.mark); err == nil {
				t.Error("it ran")
			}
			if !slices.ContainsFunc(said, func(n string) bool { return strings.Contains(n, "top/sub/.git") }) || len(said) != 1 {
				t.Errorf("%q", said)
			}
			for _, name := range []string{"good/.git/HEAD", "nested/repo/.git/HEAD", ".ssh/hers/.git/HEAD", ".git/HEAD"} {
				if _, err := os.Lstat(filepath.Join(p.root, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
