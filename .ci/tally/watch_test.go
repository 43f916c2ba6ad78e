package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestPlayed is what the tests below watch: it hangs or works, as a variable says.
func TestPlayed(t *testing.T) {
	switch os.Getenv("TALLY_PLAY") {
	case "hang":
		t.Run("ended", func(*testing.T) {})
		t.Run("inner", func(*testing.T) { time.Sleep(time.Hour) })
	case "poll":
		for begin := time.Now(); time.Since(begin) < time.Hour; time.Sleep(100 * time.Millisecond) {
		}
	case "work":
		for begin := time.Now(); time.Since(begin) < 3*time.Second; {
		}
	case "child":
		program, err := exec.LookPath("sh")
		if err != nil {
			t.Skip(err)
		}
		if err := exec.Command(program, "-c", "i=0; end=$(($(date +%s)+4)); while [ $(date +%s) -lt $end ]; do i=$((i+1)); done").Run(); err != nil {
			t.Error(err)
		}
	}
}

// watched plays a part and gives what it printed and its exit status. A part that is not
// ended in good time fails the test.
func watched(t *testing.T, part string, silence time.Duration) (string, int) {
	t.Helper()
	var out strings.Builder
	w := newWatch(silence)
	w.look, w.out = silence/50, &out
	t.Setenv("TALLY_PLAY", part)
	type end struct {
		status int
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		status, err := w.run(os.Args[0], "-test.run=^TestPlayed$", "-test.v=test2json")
		ended <- end{status, err}
	}()
	select {
	case e := <-ended:
		if e.err != nil {
			t.Fatal(e.err)
		}
		return out.String(), e.status
	case <-time.After(5 * time.Minute):
		t.Fatal("it was not ended")
	}
	return "", 0
}

// TestHangingTestIsEndedByName, whether it sleeps or polls.
func TestHangingTestIsEndedByName(t *testing.T) {
	for part, want := range map[string]string{"hang": "Running: TestPlayed/inner\n", "poll": "Running: TestPlayed\n"} {
		out, status := watched(t, part, 2*time.Second)
		if status == 0 || !strings.Contains(out, want) || !strings.Contains(out, "goroutine ") && runtime.GOOS != "windows" {
			t.Errorf("%s ended with %d:\n%s", part, status, out)
		}
	}
}

// TestWorkingTestIsLeftAlone: it prints nothing for longer than is allowed, but it, or a
// program that it started, works.
func TestWorkingTestIsLeftAlone(t *testing.T) {
	if _, _, known := active(os.Getpid()); !known {
		t.Skip("nobody can tell here whether a process works")
	}
	for _, part := range []string{"work", "child"} {
		if out, status := watched(t, part, time.Second); status != 0 || !strings.Contains(out, "PASS: TestPlayed") {
			t.Errorf("%s ended with %d:\n%s", part, status, out)
		}
	}
}

// TestStatusIsPassedOn: a failed test stays one.
func TestStatusIsPassedOn(t *testing.T) {
	w := newWatch(time.Minute)
	var out strings.Builder
	w.out = &out
	if status, err := w.run(os.Args[0], "-test.nosuchflag"); err != nil || status != 2 {
		t.Errorf("%d, %v: %s", status, err, out.String())
	}
}

// TestRunningTestsAreKnown by the lines that the testing package prints.
func TestRunningTestsAreKnown(t *testing.T) {
	w := newWatch(time.Minute)
	var out strings.Builder
	w.out = &out
	for _, part := range []string{"\x16=== RUN   TestA\n=== RUN   TestA/x\n=== PAUSE TestA/x\n", "=== RUN   TestB", "\nnoise\n=== CONT  TestA/x\n", "    --- PASS: TestA/x (0.00s)\n\x16--- PASS: TestB (0.00s)\n"} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(w.running, " "); got != "TestA" {
		t.Errorf("running: %s", got)
	}
}
