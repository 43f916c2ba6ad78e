//go:build amd64 || arm64

package linux

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestStanding: a process that fell to another parent while the list was made is not
// missing from it.
func TestStanding(t *testing.T) {
	lists := [][]string{{"1", "2"}, {"1", "3"}, {"1", "3"}, {"1", "3"}}
	next := func() []string {
		now := lists[0]
		if len(lists) > 1 {
			lists = lists[1:]
		}
		return now
	}
	got, err := standing(next, func([]string) bool { return true }, time.Minute)
	if err != nil || !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := standing(next, func([]string) bool { return false }, 30*time.Millisecond); !errors.Is(err, errOpened) {
		t.Errorf("what does not stand still: %q, %v", got, err)
	}
}
