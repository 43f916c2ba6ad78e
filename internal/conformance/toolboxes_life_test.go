package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
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
	t.Run("killed", func(t *testing.T) { killed(t, vars) })
	t.Run("inside", func(t *testing.T) { b.inside(t, env, vars) })
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

// wantRate is how fast one caller is to be through Toolcrib, with everything on that a
// fresh machine has, as a part of the rate without us, for a tool that takes a
// millisecond. It is that of a machine with nothing else to do; on one that is busy,
// three processes wait for their turns where the genuine code is one, so that the
// test fails below leastRate only, and tells what it saw.
const wantRate, leastRate = 0.7, 0.4

// inside calls a toolbox from a Go program, and from a client over MCP.
func (b battery) inside(t *testing.T, env environment, vars []string) {
	const calls, rounds = 400, 5
	file := unraced(t)
	lib := startLibrary(t, file, vars)
	if failed := lib.ask(t, libraryAsks{AtOnce: 1000}).Failed; failed != "" {
		t.Errorf("of a thousand calls at once, some failed: %s", failed)
	}
	toolcrib := filepath.Join(t.TempDir(), "toolcrib"+exeSuffix()) // by its name it is the program
	if err := os.Link(file, toolcrib); err != nil {
		t.Fatal(err)
	}
	s, _ := session(t, toolcrib, vars)
	alone := b.alone(t, env)
	best := 0.0
	for range rounds {
		directly := alone(nil, calls).Seconds
		library := lib.ask(t, libraryAsks{Calls: calls}).Seconds
		begin := time.Now()
		for i := range calls {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "sleep", Arguments: map[string]any{"turn": i}})
			if err != nil || r.IsError {
				t.Fatalf("%v, %+v", err, r)
			}
		}
		overMCP := time.Since(begin).Seconds()
		t.Logf("a call takes %.0f µs by itself, %.0f µs from Go (%.2f of the rate), %.0f µs over MCP (%.2f)",
			directly/calls*1e6, library/calls*1e6, directly/library, overMCP/calls*1e6, directly/overMCP)
		best = max(best, directly/library)
	}
	said := fmt.Sprintf("the best of %d rounds has %.2f of the rate of the genuine code, and is to have %.2f", rounds, best, wantRate)
	if t.Log(said); best < leastRate {
		t.Error(said)
	}
}
