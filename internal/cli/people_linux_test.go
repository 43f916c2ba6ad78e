package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// told is a stream that one goroutine writes and another one reads.
type told struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *told) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *told) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// A journal that is followed tells each call once, as it ends, and ends in good order.
func TestJournalFollow(t *testing.T) {
	home := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var out, errs told
	status := make(chan int, 1)
	go func() {
		c := &command{in: io.NopCloser(strings.NewReader("")), out: &out, err: &errs, dir: home, environ: []string{"TOOLCRIB_HOME=" + home, "HOME=" + home}}
		status <- c.run(ctx, []string{"journal", "--follow", "-o", "jsonl"})
	}()
	for _, expression := range []string{"1+1", "2+2"} {
		runCLI(t, home, "call", "evaluate_expression", "expression="+expression)
		for deadline := time.Now().Add(time.Minute); !strings.Contains(out.String(), expression); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s was never told: %s\n%s", expression, out.String(), errs.String())
			}
		}
	}
	stop()
	if s := <-status; s != 0 {
		t.Errorf("status %d", s)
	}
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, out.String())
	}
}

// A person is not told the same with every command; a command that looks for mistakes tells it.
func TestWarningsOnceADay(t *testing.T) {
	s := newSite(t)
	s.toolcrib("config", "set", "permissions.deny", "[no_such_tool_at_all]")
	first := onTerminal(t, s, "call", "evaluate_expression", "expression=1")
	if !strings.Contains(first, "no_such_tool_at_all") {
		t.Fatalf("it is not told at all: %s", first)
	}
	if again := onTerminal(t, s, "call", "evaluate_expression", "expression=1"); strings.Contains(again, "no_such_tool_at_all") {
		t.Errorf("it is told again: %s", again)
	}
	if check := onTerminal(t, s, "config", "check"); !strings.Contains(check, "no_such_tool_at_all") {
		t.Errorf("config check does not tell it: %s", check)
	}
}
