package kit

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLeaves: a process that outlives the program is found.
func TestLeaves(t *testing.T) {
	hold := filepath.Join(t.TempDir(), "hold")
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(hold, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close() // and the process ends
	r := Run(t.Context(), Config{Start: program("leaves a process", "KIT_HOLD="+hold), Patience: time.Minute, End: time.Minute})
	if c := find(t, r, "no process behind"); c.State != Failed || !strings.Contains(c.Why, "(process ") {
		t.Errorf("%+v", c)
	}
}
