package shellguard

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestFloor: these are asked about even in a mode that allows everything else.
func TestFloor(t *testing.T) {
	m := shelltest.NewMachine()
	s := shellOn(t, m)
	s.Unasked = func(toolcrib.Call) bool { return true }
	lines := shelltest.Battery(t, "floor.txt")
	for _, e := range lines {
		if len(Floor(e.Command, optionsOn(m))) == 0 {
			t.Errorf("%s:%d (%s): %q is not on the floor", e.File, e.Line, e.Why, e.Command)
			continue
		}
		if v := shelltest.Judge(t, s, e.Command); v.Decision != toolcrib.Ask || v.Rule != "floor" {
			t.Errorf("%s:%d: %q is judged %v by %q", e.File, e.Line, e.Command, v.Decision, v.Rule)
		}
	}
	t.Logf("%d lines on the floor", len(lines))
}

// TestAboveTheFloor: a floor that is everywhere would make the mode useless.
func TestAboveTheFloor(t *testing.T) {
	m := shelltest.NewMachine()
	s := shellOn(t, m)
	s.Unasked = func(toolcrib.Call) bool { return true }
	for _, e := range shelltest.Battery(t, "nofloor.txt") {
		if why := Floor(e.Command, optionsOn(m)); len(why) > 0 {
			t.Errorf("%s:%d: %q is on the floor: %v", e.File, e.Line, e.Command, why)
		}
		if v := shelltest.Judge(t, s, e.Command); v.Decision != toolcrib.Allow {
			t.Errorf("%s:%d: %q is judged %v though nothing but the floor is asked: %s", e.File, e.Line, e.Command, v.Decision, v.Reason)
		}
	}
}

func TestFloorOfUnreadableLines(t *testing.T) {
	long := make([]byte, maxLine+1)
	for i := range long {
		long[i] = 'a'
	}
	for name, line := range map[string]string{"long": string(long), "deep": string(append([]byte("echo "), bytesOf('(', 2000)...))} {
		if len(Floor(line, optionsOn(shelltest.NewMachine()))) == 0 {
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

// TestFloorThroughLinks: removing through a link to a directory of the system is on
// the floor; looking at it is not, nor is removing the link itself.
func TestFloorThroughLinks(t *testing.T) {
	opt := optionsOn(shelltest.NewMachine())
	opt.EvalSymlinks = func(name string) (string, error) {
		return strings.Replace(name, opt.Dir+"/away", "/usr", 1), nil
	}
	for line, on := range map[string]bool{
		"rm -rf away/": true, "rm -rf away/*": true, "find away -delete": true, "chmod -R 777 away/": true,
		"rm away": false, "ls away/": false, "cat away/x": false, "cp x away/": false, "rm -rf near/*": false,
	} {
		if why := Floor(line, opt); (len(why) > 0) != on {
			t.Errorf("%s: %v", line, why)
		}
	}
}
