package hub

import (
	"errors"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestFaultLog: a broken file is told once, not at every save of another one, and again
// after it was mended.
func TestFaultLog(t *testing.T) {
	a, b := toolcrib.LoadError{Box: "a", Err: errors.New("x")}, toolcrib.LoadError{Box: "b", Err: errors.New("x")}
	var l FaultLog
	for i, step := range []struct {
		faults []toolcrib.LoadError
		news   int
	}{
		{[]toolcrib.LoadError{a}, 1}, {[]toolcrib.LoadError{a}, 0}, {nil, 0}, {[]toolcrib.LoadError{a, b}, 1},
		{[]toolcrib.LoadError{b}, 0}, {[]toolcrib.LoadError{b}, 0}, {[]toolcrib.LoadError{b}, 0}, {[]toolcrib.LoadError{a, b}, 1},
	} {
		if got := l.News(step.faults); len(got) != step.news {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
