//go:build amd64 || arm64

package linux

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// halfApplied applies a line, and has it look as if the process had been killed right
// before the end.
func halfApplied(t *testing.T, s *Sandbox, layers, line, project string) (dir string) {
	t.Helper()
	id := applied(t, s, line, project)
	dir = filepath.Join(layers, id)
	if err := os.Rename(filepath.Join(layers, appliedPrefix+id), dir); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, recordName)
	text, err := os.ReadFile(record)
	if err != nil || !strings.Contains(string(text), `"done":true`) {
		t.Fatalf("%.200s, %v", text, err)
	}
	if err := os.WriteFile(record, []byte(strings.Replace(string(text), `"done":true`, `"done":false`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestNobodyRecoversWhileSomebodyApplies: what was cut off is put back only by who may
// apply changes, since both may be about the same directory.
func TestNobodyRecoversWhileSomebodyApplies(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project, file := projectWith(t)
	halfApplied(t, s, layers, `echo two > a`, project)
	applying, err := durable.TryLock(filepath.Join(layers, "applying"), true)
	if err != nil || applying == nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if list := sweep(ctx, layers); len(list) != 1 || list[0].err == nil {
		t.Errorf("it recovered: %+v", list)
	}
	holds(t, file, "two\n")
	if err := applying.Close(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var undone atomic.Int32
	for range 8 {
		all.Go(func() {
			for _, one := range sweep(t.Context(), layers) {
				if one.err != nil {
					t.Error(one.err)
				}
				undone.Add(1)
			}
		})
	}
	all.Wait()
	holds(t, file, "one\n")
	if undone.Load() != 1 {
		t.Errorf("%d have taken it back", undone.Load())
	}
}

// TestNothingIsAppliedToWhatIsHalfApplied: who applies changes puts back first what a
// killed process left, also if it came after the sandbox was opened.
func TestNothingIsAppliedToWhatIsHalfApplied(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project, file := projectWith(t)
	id := applied(t, s, `echo 1 > before`, project)
	dir := halfApplied(t, s, layers, `echo two > a; echo 1 > half`, project)
	applied(t, s, `echo 1 > other`, project)
	holds(t, file, "one\n")
	holds(t, filepath.Join(project, "half"), "")
	holds(t, filepath.Join(project, "other"), "1\n")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the layer is still there: %v", err)
	}
	halfApplied(t, s, layers, `echo three > a`, project)
	a, err := OpenApplied(layers, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Undo(t.Context()); err != nil { // so does who takes changes back
		t.Fatal(err)
	}
	holds(t, file, "one\n")
}
