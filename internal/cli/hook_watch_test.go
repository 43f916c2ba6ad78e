package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stuckHook is a hook whose judging never comes to an end: os.Args[1] says how, os.Args[2]
// how long it may take.
func stuckHook() {
	limit, err := time.ParseDuration(os.Args[2])
	if err != nil {
		panic(err)
	}
	c := &command{err: os.Stderr}
	c.boundHook(limit)
	c.err = io.Discard // as hooks have it
	c.watch.recording(os.Args[1] == "records")
	switch os.Args[1] {
	case "waits", "records":
		select {}
	case "spins": // on every processor, and more
		for range 2 * runtime.GOMAXPROCS(0) {
			go func() {
				for n := 0; ; n++ {
					spun = n
				}
			}()
		}
		for n := 0; ; n++ {
			spun = n
		}
	case "fills": // as a value does that is doubled again and again
		text := "x"
		for kept := []string{}; ; kept = append(kept, text) {
			text += text
			if len(text) > 1<<26 {
				text = text[:1<<20]
			}
		}
	case "leaps": // beyond every bound at once
		kept := make([]byte, 3<<30)
		for i := range kept {
			kept[i] = 1
		}
	case "ends":
		fmt.Println("yes")
		os.Exit(0)
	}
}

var spun int // so that no loop is left out

// TestStuckHookRefuses: a hook that does not come to an end, in whatever way, ends with
// the status that blocks, and soon. Nobody but the watch of the process itself sees to it.
func TestStuckHookRefuses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ how, limit, want string }{
		{"waits", "300ms", "took longer than 300ms"},
		{"spins", "300ms", "took longer than 300ms"},
		{"fills", "5m", "too much memory"},
		{"leaps", "5m", "memory"},
	} {
		for _, processors := range []string{"1", "8"} {
			if c.how == "leaps" && runtime.GOOS != "linux" {
				continue // only there a bound of the kernel counts
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			cmd := exec.CommandContext(ctx, self, c.how, c.limit)
			cmd.Args[0] = "stuckhook"
			cmd.Env = append(os.Environ(), "GOMAXPROCS="+processors)
			var told strings.Builder
			cmd.Stderr = &told
			err := cmd.Run()
			cancel()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitBlocked || !strings.Contains(told.String(), c.want) {
				t.Errorf("%s on %s processors: %v, %.300s", c.how, processors, err, told.String())
			}
		}
	}
	late := exec.CommandContext(t.Context(), self, "records", "300ms")
	late.Args[0] = "stuckhook"
	var told strings.Builder
	late.Stderr = &told
	if exit, ok := errors.AsType[*exec.ExitError](late.Run()); !ok || exit.ExitCode() != exitFailed || !strings.Contains(told.String(), "could not record") {
		t.Errorf("a call that is done is refused: %v, %s", exit, told.String())
	}
	cmd := exec.CommandContext(t.Context(), self, "ends", "5m")
	cmd.Args[0] = "stuckhook"
	if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != "yes" {
		t.Errorf("one that answers is refused: %v, %s", err, out)
	}
}

// TestHookWaitsForAPerson: while somebody is asked at the desk nothing is judged, and that
// time does not count.
func TestHookWaitsForAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		w := watchHook(judgeTime, 1<<60, func(string, bool) {
			ended = true
			runtime.Goexit()
		})
		time.Sleep(judgeTime / 2)
		w.asking(true)
		time.Sleep(hookTime)
		if ended {
			t.Fatal("a person who thinks is not waited for")
		}
		w.asking(false)
		time.Sleep(judgeTime + time.Second)
		if !ended {
			t.Fatal("judging goes on without an end")
		}
	})
}
