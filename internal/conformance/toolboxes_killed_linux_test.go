package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

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
