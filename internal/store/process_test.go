package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// The test binary is its own child: started with this variable it plays one
// of the parts below instead of running tests.
const partVariable = "STORE_TEST_PART"

func TestMain(m *testing.M) {
	part := os.Getenv(partVariable)
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	if part == "" {
		os.Exit(m.Run())
	}
	if err := play(part, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, part+":", err)
		os.Exit(1)
	}
}

// play runs a child. Its first argument is always the journal's directory.
func play(part string, args []string) error {
	cfg := store.Config{Dir: args[0], Wait: 20 * time.Second}
	switch part {
	case "hold":
		return playHold(cfg, args[1])
	case "load":
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return playLoad(cfg, args[1], n)
	case "victim":
		return playVictim(cfg, args[1], args[2] == "finish")
	}
	return errors.New("no such part")
}

// child starts the test binary in a part.
func child(t testing.TB, part string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), partVariable+"="+part)
	c.Stderr = os.Stderr
	return c
}

// playHold begins a call and keeps it open until its input ends.
func playHold(cfg store.Config, id string) error {
	j, err := sqlite.Open(context.Background(), cfg)
	if err != nil {
		return err
	}
	if old, err := j.Begin(context.Background(), newRecord(id)); err != nil || old != nil {
		return fmt.Errorf("begin: %v %w", old, err)
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return nil // without Close: the process just ends
}

// holding starts a child that holds a call open and gives what ends it.
func holding(t testing.TB, cfg store.Config, id string) (kill func()) {
	t.Helper()
	c := child(t, "hold", cfg.Dir, id)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	var once sync.Once
	kill = func() {
		once.Do(func() {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed, and says so
			_ = in.Close()
		})
	}
	t.Cleanup(kill)
	return kill
}

// TestInterrupted: calls of a process that died are closed at the next
// opening, those of one that lives are left alone.
func TestInterrupted(t *testing.T) {
	cfg := fresh(t)
	killA := holding(t, cfg, "a")
	killB := holding(t, cfg, "b")
	killA()
	j := open(t, cfg)
	outcome := func(id string) toolcrib.Outcome {
		t.Helper()
		r, err := j.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return r.Outcome
	}
	if got := outcome("a"); got != toolcrib.Interrupted {
		t.Errorf("the dead process's call is %q", got)
	}
	if got := outcome("b"); got != "" {
		t.Errorf("the living process's call is %q", got)
	}
	if old, err := j.Begin(t.Context(), newRecord("b")); err != nil || old == nil || old.Outcome != "" {
		t.Errorf("replay of a running call: %+v, %v", old, err)
	}
	killB()
	// Nobody opened the journal since, but who asks for the call finds it out.
	old, err := j.Begin(t.Context(), newRecord("b"))
	if err != nil || old == nil || old.Outcome != toolcrib.Interrupted || old.Message == "" {
		t.Errorf("replay of a dead process's call: %+v, %v", old, err)
	}
	mine := newRecord("mine")
	begin(t, j, mine)
	shut(t, j) // with an open call
	j = open(t, cfg)
	if got := outcome("mine"); got != toolcrib.Interrupted {
		t.Errorf("a call that was open at Close is %q", got)
	}
	shut(t, j)
	if r := mustBeSound(t, cfg); r.Open != 0 || r.Calls != 3 {
		t.Errorf("%+v", r)
	}
	left, err := filepath.Glob(filepath.Join(cfg.Dir, "run-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("lock files are left: %v, %v", left, err)
	}
}

// TestTwoInOneProcess: two journals in one process are like two processes.
func TestTwoInOneProcess(t *testing.T) {
	cfg := fresh(t)
	a := open(t, cfg)
	r := newRecord("a")
	begin(t, a, r)
	b := open(t, cfg)
	if old, err := b.Begin(t.Context(), newRecord("a")); err != nil || old == nil || old.Outcome != "" {
		t.Errorf("replay from the other journal: %+v, %v", old, err)
	}
	var both sync.WaitGroup
	both.Go(func() { calls(t, a, "a", 200) })
	both.Go(func() { calls(t, b, "b", 200) })
	both.Wait()
	end(t, a, r)
	if r := mustBeSound(t, cfg); r.Calls != 401 || r.Open != 0 {
		t.Errorf("%+v", r)
	}
}

// playLoad makes n calls from four goroutines.
func playLoad(cfg store.Config, name string, n int) error {
	j, err := sqlite.Open(context.Background(), cfg)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	failed := make(chan error, 4)
	for g := range 4 {
		all.Go(func() {
			for i := g; i < n; i += 4 {
				r := newRecord(fmt.Sprintf("%s-%d", name, i))
				old, err := j.Begin(context.Background(), r)
				if err == nil && old != nil {
					err = fmt.Errorf("call %s was begun before", r.ID)
				}
				if err == nil {
					err = j.End(context.Background(), ended(r))
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		return errors.Join(err, j.Close(context.Background()))
	}
	return j.Close(context.Background())
}

// TestProcesses lets four processes write one journal at once.
func TestProcesses(t *testing.T) {
	cfg := fresh(t)
	const processes, each = 4, 1500
	start := time.Now()
	var running []*exec.Cmd
	for p := range processes {
		c := child(t, "load", cfg.Dir, fmt.Sprint("p", p), strconv.Itoa(each))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, c)
	}
	for _, c := range running {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d calls by %d processes in %v", processes*each, processes, time.Since(start))
	r := mustBeSound(t, cfg)
	if r.Calls != processes*each || r.Entries != 2*r.Calls+1 || r.Open != 0 || r.After != 0 {
		t.Errorf("%+v", r)
	}
	list, err := reader(t, cfg).List(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range list {
		if r.Outcome != toolcrib.Done || seen[r.ID] {
			t.Errorf("call %s: %s", r.ID, r.Outcome)
		}
		seen[r.ID] = true
	}
	for p := range processes {
		for i := range each {
			if id := fmt.Sprintf("p%d-%d", p, i); !seen[id] {
				t.Errorf("call %s is missing", id)
			}
		}
	}
}

func linesOf(t testing.TB, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}
