package conformance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// process is a process for as long as it lives: numbers are used again, a
// number with its starting time is not.
type process struct {
	pid     int
	parent  int
	started string
	name    string
	dead    bool // ended, and nobody has asked how
}

// look reads what the kernel says of a process.
func look(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	end := bytes.LastIndexByte(text, ')') // the name may have anything in it
	begin := bytes.IndexByte(text, '(')
	if err != nil || begin < 0 || end < begin {
		return process{}, false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 20 {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return process{pid: pid, parent: parent, started: fields[19], name: string(text[begin+1 : end]), dead: fields[0] == "Z"}, err == nil
}

// descendants are all processes below one.
func descendants(pid int) []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]process{}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := look(n); ok {
				children[p.parent] = append(children[p.parent], p)
			}
		}
	}
	var all []process
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			all = append(all, p)
			next = append(next, p.pid)
		}
	}
	return all
}

// gone waits until none of them lives, and names those that do after all.
func gone(all []process, wait time.Duration) []string {
	for limit := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		var left []string
		for _, p := range all {
			if now, ok := look(p.pid); ok && now.started == p.started && !now.dead {
				left = append(left, fmt.Sprintf("%d (%s)", p.pid, p.name))
			}
		}
		if len(left) == 0 || time.Now().After(limit) {
			return left
		}
	}
}

// marked are all processes that have this in their environment, wherever they
// stand.
func marked(mark string) []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// Those of others cannot be read, and are not meant.
		if text, err := os.ReadFile("/proc/" + e.Name() + "/environ"); err == nil && bytes.Contains(text, []byte(mark)) {
			if p, ok := look(n); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// What is looked for after other tests can be found: a process that outlives
// the one that started it, in a session of its own.
func TestLeftovers(t *testing.T) {
	mark := "leftovers-" + strconv.Itoa(os.Getpid())
	cmd := exec.Command("sh", "-c", "sleep 1000 & sleep 1000 & wait")
	cmd.Env = append(os.Environ(), "TOOLCRIB_TEST_MARK="+mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var below []process
	for limit := time.Now().Add(time.Minute); len(below) < 2 && time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		below = descendants(cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	left := gone(below, 0)
	if len(below) != 2 || len(left) != 2 || len(marked(mark)) != 2 {
		t.Errorf("below %v, left %q, marked %v", below, left, marked(mark))
	}
	for _, p := range below {
		if child, err := os.FindProcess(p.pid); err != nil || child.Kill() != nil {
			t.Errorf("%d cannot be ended", p.pid)
		}
	}
	if left := gone(below, time.Minute); left != nil || gone(marked(mark), time.Minute) != nil {
		t.Errorf("still there: %q", left)
	}
}
