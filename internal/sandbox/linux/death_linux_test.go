//go:build amd64 || arm64

package linux

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// TestKeeperDies: whoever kills the process that starts programs ends them,
// and the next program gets a new one.
func TestKeeperDies(t *testing.T) {
	s := open(t, Config{})
	file := filepath.Join(t.TempDir(), "beat")
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Dir(file), Write: true}}, Time: 30 * time.Second}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(context.WithoutCancel(t.Context()), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "setsid sh -c 'while :; do echo . >>" + file + "; sleep 0.02; done' & sleep 100"}, Env: []string{"PATH=/usr/bin:/bin"}}, grant)
		ended <- err
	}()
	waitFor(t, file)
	if err := s.nursery.link.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Logf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Run does not notice that its keeper died")
	}
	still(t, file)
	if out, exit := sh(t, s, toolcrib.Grant{}, "echo again"); exit.Code != 0 || out != "again\n" {
		t.Errorf("after that: %+v %q", exit, out)
	}
}

// TestKeeperDiesBesideALayer: of a program that was cut off, and of which perhaps not all
// processes have ended, nothing is applied: they may have files open that would be live.
func TestKeeperDiesBesideALayer(t *testing.T) {
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	project := t.TempDir()
	ended := make(chan toolcrib.Exit, 1)
	go func() {
		cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "while :; do echo . >> beat; sleep 0.02; done"}, Dir: project, Env: []string{"PATH=/usr/bin:/bin"}, OnLayer: true}
		exit, err := s.Run(t.Context(), cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}}})
		if err != nil {
			t.Error(err)
		}
		ended <- exit
	}()
	var beat []string
	for range 6000 { // the machine may be busy
		if beat, _ = filepath.Glob(filepath.Join(s.cfg.Layers, "*", "*", "upper", "beat")); len(beat) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(beat) == 0 {
		t.Fatal("the program never started")
	}
	if err := s.nursery.link.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	exit := <-ended
	if exit.Changes != nil || !slices.Contains(exit.Notes, refusal.CutOff) {
		t.Errorf("%+v", exit)
	}
	noLayers(t, s)
}

func waitFor(t *testing.T, file string) {
	t.Helper()
	for range 6000 { // the machine may be busy
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the program never started")
}

// still fails if something writes to a file.
func still(t *testing.T, file string) {
	t.Helper()
	time.Sleep(200 * time.Millisecond)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if after, err := os.ReadFile(file); err != nil || len(after) != len(before) {
		t.Errorf("a program lives on: %d and then %d bytes, error %v", len(before), len(after), err)
	}
}

// TestWeAreKilled: when we die our programs die with us. The test starts
// itself as the one that dies.
func TestWeAreKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "beat")
	if run := os.Getenv("LINUX_TEST_RUN"); run != "" {
		grant := toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Dir(run), Write: true}}}
		_, err := open(t, Config{}).Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "while :; do echo . >>" + run + "; sleep 0.02; done"}, Env: []string{"PATH=/usr/bin:/bin"}}, grant)
		t.Fatal(err)
	}
	open(t, Config{})
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestWeAreKilled$")
	c.Env = append(os.Environ(), "LINUX_TEST_RUN="+file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, file)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	still(t, file)
}

// TestClose ends what runs.
func TestClose(t *testing.T) {
	s, err := Open(t.Context(), Config{})
	if err != nil {
		open(t, Config{}) // skips or fails
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(context.WithoutCancel(t.Context()), toolcrib.Cmd{Path: "/bin/sleep", Args: []string{"100"}}, toolcrib.Grant{})
		ended <- err
	}()
	time.Sleep(200 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("a program runs on in a sandbox that was closed")
	}
	if _, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/true"}, toolcrib.Grant{}); err == nil {
		t.Error("a program ran in a sandbox that was closed")
	}
}

// copyOfTest gives this test binary under another name.
func copyOfTest(t *testing.T, name string) string {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	cribtest.Program(t, path, self)
	return path
}

// ours lists the processes that run a program, by its path or by a word in
// their arguments.
func ours(t *testing.T, path, word string) (pids []int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		exe, _ := os.Readlink(dir + "/exe") // it may end while we look
		args, _ := os.ReadFile(dir + "/cmdline")
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && (exe == path || bytes.Contains(args, []byte(word))) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestKillsLeaveNothing: whenever we or the keeper are killed, while a program
// is being born too, nothing stays behind.
func TestKillsLeaveNothing(t *testing.T) {
	if word := os.Getenv("LINUX_TEST_WORD"); word != "" {
		s := open(t, Config{})
		for range 4 {
			go func() {
				for {
					_, _ = s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "sleep 1000 & sleep 1000 # " + word}, Env: []string{"PATH=/usr/bin:/bin"}}, toolcrib.Grant{Time: 30 * time.Millisecond})
				}
			}()
		}
		s.nursery.mu.Lock()
		fmt.Fprintln(os.Stderr, "keeper", s.nursery.link.process.Process.Pid)
		s.nursery.mu.Unlock()
		select {}
	}
	open(t, Config{})
	binary := copyOfTest(t, "killed")
	word := "word-" + strconv.FormatUint(rand.Uint64(), 36)
	for i := range 24 {
		c := exec.CommandContext(t.Context(), binary, "-test.run=^TestKillsLeaveNothing$")
		c.Env = append(os.Environ(), "LINUX_TEST_WORD="+word)
		told, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 64)
		n, err := told.Read(line)
		if err != nil {
			t.Fatalf("it did not start: %v", err)
		}
		keeper, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "keeper ")))
		if err != nil {
			t.Fatalf("it said %q", line[:n])
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		if i%2 == 0 { // the keeper, and at once us, so that there is no next one
			if p, err := os.FindProcess(keeper); err == nil {
				_ = p.Kill()
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	for range 100 {
		if len(ours(t, binary, word)) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	left := ours(t, binary, word)
	t.Errorf("these live on: %v", left)
	for _, pid := range left {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// TestStoppedKeeper: a keeper that was stopped does not keep programs alive.
func TestStoppedKeeper(t *testing.T) {
	s := open(t, Config{})
	s.grace = time.Second
	sh(t, s, toolcrib.Grant{}, ":")
	word := "word-" + strconv.FormatUint(rand.Uint64(), 36)
	go func() {
		time.Sleep(500 * time.Millisecond)
		_ = s.nursery.link.process.Process.Signal(unix.SIGSTOP)
	}()
	exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "sleep 1000; : " + word}, Env: []string{"PATH=/usr/bin:/bin"}}, toolcrib.Grant{Time: time.Second})
	if err != nil || !exit.TimedOut {
		t.Errorf("%+v, error %v", exit, err)
	}
	pids := ours(t, "no such program", word)
	for range 1000 { // what was killed takes a moment to go on a busy machine
		if len(pids) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
		pids = ours(t, "no such program", word)
	}
	if len(pids) > 0 {
		t.Errorf("these live on: %v", pids)
	}
	if out, exit := sh(t, s, toolcrib.Grant{}, "echo again"); exit.Code != 0 || out != "again\n" {
		t.Errorf("after that: %+v %q", exit, out)
	}
}

// TestForgottenMain: a program that does not call Main would be started again
// and again by itself. It is told, and nothing multiplies.
func TestForgottenMain(t *testing.T) {
	if forgetful() {
		if _, err := Open(t.Context(), Config{}); err != nil {
			t.Fatal(err)
		}
		return
	}
	open(t, Config{})
	binary := copyOfTest(t, "forgetful")
	out, err := exec.CommandContext(t.Context(), binary, "-test.run=^TestForgottenMain$").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "must call linux.Main first") {
		t.Errorf("error %v\n%s", err, out)
	}
	if pids := ours(t, binary, "no such word"); len(pids) > 0 {
		t.Errorf("these live on: %v", pids)
	}
}
