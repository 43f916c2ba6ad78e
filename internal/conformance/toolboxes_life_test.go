package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestGenuineToolboxesLife: a thousand calls at once; the process of a toolbox is
// killed in mid-call; and how fast one caller is.
func TestGenuineToolboxesLife(t *testing.T) {
	f := genuine(t)
	env := f.with(t, f.base, "odd")
	b := battery{dir: t.TempDir(), config: map[string]map[string]any{"odd-tools": {}}}
	vars := b.home(t, map[string]environment{"field": env}, "")
	t.Run("at-once", func(t *testing.T) { atOnce(t, vars) })
	t.Run("killed", func(t *testing.T) { killed(t, vars) })
	t.Run("rate", func(t *testing.T) { b.rate(t, env, vars) })
}

func atOnce(t *testing.T, vars []string) {
	s, _ := session(t, toolcribPath(t), vars)
	const calls = 1000
	var all sync.WaitGroup
	got := make([]reply, calls)
	for i := range calls {
		all.Go(func() {
			got[i] = callMCP(t, s, "echo", json.RawMessage(fmt.Sprintf(`{"text":"call %d","count":%d}`, i, i%12)))
		})
	}
	all.Wait()
	for i, r := range got {
		if i%12 == 11 {
			if r.Error != "ValueError: Tool input validation failed for 'echo' in ToolBox 'odd-tools'" {
				t.Fatalf("call %d: %+v", i, r)
			}
		} else if r.Error != "" || r.Result.(map[string]any)["text"] != fmt.Sprintf("call %d", i) {
			t.Fatalf("call %d: %+v", i, r)
		}
	}
}

// hostOf finds the process that serves a toolbox below another process.
func hostOf(t testing.TB, pid int, entry string) int {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		host := 0
		for _, p := range descendants(pid) {
			line, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
			if err == nil && bytes.Contains(line, []byte("\x00--opm\x00"+entry+"\x00")) && strings.HasPrefix(p.name, "python") {
				host = p.pid
			}
		}
		if host != 0 {
			return host
		}
		if time.Now().After(limit) {
			t.Fatalf("nobody serves %s", entry)
		}
	}
}

func killed(t *testing.T, vars []string) {
	if runtime.GOOS != "linux" {
		return // processes are not found elsewhere
	}
	s, pid := session(t, toolcribPath(t), vars)
	if r := callMCP(t, s, "echo", json.RawMessage(`{"text":"begin"}`)); r.Error != "" {
		t.Fatalf("before: %+v", r)
	}
	first := hostOf(t, pid, "odd-tools")
	answer := make(chan reply, 1)
	go func() { answer <- callMCP(t, s, "sleep", json.RawMessage(`{"seconds":600}`)) }()
	for limit := time.Now().Add(time.Minute); !atWork(first) && time.Now().Before(limit); {
		time.Sleep(20 * time.Millisecond)
	}
	host, err := os.FindProcess(first)
	if err == nil {
		err = host.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-answer:
		if !strings.Contains(r.Error, "was lost while it was at work") || !strings.Contains(r.Error, "whether it was done is not known") {
			t.Errorf("the caller is told %+v", r)
		}
	case <-time.After(time.Minute):
		t.Fatal("the caller is not told")
	}
	if r := callMCP(t, s, "echo", json.RawMessage(`{"text":"again"}`)); r.Error != "" {
		t.Errorf("afterwards: %+v", r)
	}
	if second := hostOf(t, pid, "odd-tools"); second == first {
		t.Error("it is the same process")
	}
	if left := gone([]process{{pid: first}}, 10*time.Second); len(left) > 0 {
		t.Errorf("what was killed is still there: %v", left)
	}
}

// atWork reports whether a process has a thread that sleeps for a tool: threads come
// with calls.
func atWork(pid int) bool {
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	return err == nil && len(tasks) > 2
}

// leastRate is how fast one caller is at least through Toolcrib, with everything on
// that a fresh machine has, as a part of the rate without us, for a tool that takes a
// millisecond.
const leastRate = 0.7

func (b battery) rate(t *testing.T, env environment, vars []string) {
	const calls, rounds = 400, 5
	file := build(t, "github.com/toolcrib/toolcrib/cmd/toolcrib") // without the race detector, as people have it
	s, _ := session(t, file, vars)
	best := 0.0
	for range rounds {
		alone := b.direct(t, env, nil, calls).Seconds
		if r := callMCP(t, s, "sleep", json.RawMessage(`{"seconds":0}`)); r.Error != "" {
			t.Fatalf("%+v", r)
		}
		begin := time.Now()
		for i := range calls {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "sleep", Arguments: map[string]any{"turn": i}})
			if err != nil || r.IsError {
				t.Fatalf("%v, %+v", err, r)
			}
		}
		through := time.Since(begin).Seconds()
		t.Logf("a call takes %.0f µs directly and %.0f µs through Toolcrib: %.2f of the rate", alone/calls*1e6, through/calls*1e6, alone/through)
		best = max(best, alone/through)
	}
	if best < leastRate {
		t.Errorf("the best of %d rounds has %.2f of the rate of the genuine code, want %.2f", rounds, best, leastRate)
	}
}
