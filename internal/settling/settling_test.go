package settling

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestTold(t *testing.T) {
	if StillWaits("") != "" || Dropped("", "") != "" || !strings.Contains(Dropped("x", ""), "dropped") || strings.Contains(Dropped("x", "x"), "dropped") {
		t.Error("what is told of the layer that waited is wrong")
	}
}

type waiting bool

func (waiting) Error() string { return "waits" }
func (w waiting) Waits() bool { return bool(w) }

func TestOpen(t *testing.T) {
	for err, want := range map[error]bool{waiting(true): true, waiting(false): false, errors.New("x"): false, fmt.Errorf("y: %w", waiting(true)): true} {
		if Open(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}
