package guard

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestFloor: these are asked about even in a mode that allows everything else.
func TestFloor(t *testing.T) {
	m := newMachine()
	s := m.shell(t)
	s.Unasked = func(toolcrib.Call) bool { return true }
	lines := battery(t, "floor.txt")
	for _, e := range lines {
		if len(Floor(e.command, m.options())) == 0 {
			t.Errorf("%s:%d (%s): %q is not on the floor", e.file, e.line, e.why, e.command)
			continue
		}
		if v := judgeCommand(t, s, e.command); v.Decision != toolcrib.Ask || v.Rule != "floor" {
			t.Errorf("%s:%d: %q is judged %v by %q", e.file, e.line, e.command, v.Decision, v.Rule)
		}
	}
	t.Logf("%d lines on the floor", len(lines))
}

// TestAboveTheFloor: a floor that is everywhere would make the mode useless.
func TestAboveTheFloor(t *testing.T) {
	m := newMachine()
	s := m.shell(t)
	s.Unasked = func(toolcrib.Call) bool { return true }
	for _, e := range battery(t, "nofloor.txt") {
		if why := Floor(e.command, m.options()); len(why) > 0 {
			t.Errorf("%s:%d: %q is on the floor: %v", e.file, e.line, e.command, why)
		}
		if v := judgeCommand(t, s, e.command); v.Decision != toolcrib.Allow {
			t.Errorf("%s:%d: %q is judged %v though nothing but the floor is asked: %s", e.file, e.line, e.command, v.Decision, v.Reason)
		}
	}
}

func TestFloorOfUnreadableLines(t *testing.T) {
	long := make([]byte, maxLine+1)
	for i := range long {
		long[i] = 'a'
	}
	for name, line := range map[string]string{"long": string(long), "deep": string(append([]byte("echo "), bytesOf('(', 2000)...))} {
		if len(Floor(line, newMachine().options())) == 0 {
			t.Errorf("a line that is too %s to be read is not on the floor", name)
		}
	}
}

func bytesOf(c byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = c
	}
	return out
}
