package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolcrib/toolcrib/internal/rewrite"
)

// killed is what a test is stopped with, in place of the end of the process.
type killed struct{ what string }

// stopAt runs something and ends it before the n-th change. It gives what that was; empty:
// there were fewer.
func stopAt(s *Setup, n int, do func(*Setup)) (what string) {
	at := 0
	s.at = func(what string) {
		if at++; at == n {
			panic(killed{what})
		}
	}
	defer func() {
		s.at = nil
		switch stopped := recover().(type) {
		case nil:
		case killed:
			what = stopped.what
		default:
			panic(stopped)
		}
	}()
	do(s)
	return ""
}

// TestStoppedAnywhere: a setup that ends before or after any change can be taken back to
// the byte, and it can be gone on with.
func TestStoppedAnywhere(t *testing.T) {
	dir := few(t)
	before := snapshot(t, dir)
	points := 0
	for n := 1; ; n++ {
		s := machine(dir, testKey)
		what := stopAt(s, n, func(s *Setup) { _, _ = s.Run(t.Context()) }) // it does not return
		if what == "" {
			break
		}
		points++
		if n%4 == 0 { // go on, and take back all
			run(t, machine(dir, testKey))
			if got := reachable(t, s); len(got) > 0 {
				t.Errorf("stopped before %s, and gone on with: %q", what, got)
			}
		}
		if _, err := machine(dir, testKey).Undo(t.Context()); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatalf("stopped before %s: %v", what, err)
		}
		same(t, "stopped before "+what, before, snapshot(t, dir))
		if t.Failed() {
			return
		}
	}
	if points < 20 {
		t.Errorf("only %d points", points)
	}
	// The last run went through. Taking it back can be stopped as well.
	for n := 1; ; n += 3 {
		what := stopAt(machine(dir, testKey), n, func(s *Setup) { undo(t, s) })
		if what == "" {
			break
		}
		undo(t, machine(dir, testKey))
		same(t, "taking back stopped before "+what, before, snapshot(t, dir))
		run(t, machine(dir, testKey))
		if t.Failed() {
			return
		}
	}
	same(t, "at the end", before, snapshot(t, dir))
}

const killVariable = "TOOLCRIB_TEST_KILL_SETUP"

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(killVariable)); err == nil {
		at := 0
		s := machine(os.Getenv("DIR"), os.Getenv("KEY"))
		s.at = func(string) {
			if at++; at != n {
				return
			}
			if p, err := os.FindProcess(os.Getpid()); err == nil {
				_ = p.Kill()
			}
			select {} // it is on its way
		}
		_, _ = s.Run(context.Background())
		fmt.Println("done")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestKilled: the same with a process that is killed, at some of these points; with
// TOOLCRIB_TEST_ALL=1 at all of them.
func TestKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := few(t)
	before := snapshot(t, dir)
	step := 11
	if os.Getenv("TOOLCRIB_TEST_ALL") != "" {
		step = 1
	}
	kills := 0
	for n := 1; ; n += step {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), killVariable+"="+strconv.Itoa(n), "DIR="+dir, "KEY="+testKey)
		out, err := cmd.CombinedOutput()
		if err == nil && string(out) == "done\n" {
			break
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
			t.Fatalf("it was not killed: %v, %s", err, out)
		}
		kills++
		if _, err := machine(dir, testKey).Undo(t.Context()); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatalf("killed at point %d: %v", n, err)
		}
		same(t, fmt.Sprintf("killed at point %d", n), before, snapshot(t, dir))
		if t.Failed() {
			return
		}
	}
	if kills < 2 {
		t.Errorf("only %d kills", kills)
	}
}

// TestHalfWritten: what a kill leaves beside a file is removed with the undoing.
func TestHalfWritten(t *testing.T) {
	dir := home(t)
	before := snapshot(t, dir)
	s := machine(dir, testKey)
	file := filepath.Join(dir, ".cursor", "mcp.json")
	stopAt(s, 1000, func(s *Setup) { _, _ = s.Run(t.Context()) })
	writeFile(t, rewrite.Beside(file, besideEnding), `{"half": "a tok`)
	undo(t, s)
	same(t, "half written", before, snapshot(t, dir))
}
