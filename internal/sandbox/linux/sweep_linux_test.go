//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
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

// TestStuckLayersAreListedAndDropped: a layer that cannot be read or put in order is listed
// with the reason, and can be dropped as any other.
func TestStuckLayersAreListedAndDropped(t *testing.T) {
	project, layers := keptProject(t)
	s := open(t, Config{Layers: layers})
	write := func(text string, names ...string) {
		if err := os.WriteFile(filepath.Join(names...), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func() string {
		exit, _ := inSession(t, s, project, `echo 1 > a`)
		keepOf(t, exit)
		return filepath.Join(layers, ListKept(layers)[0].Dir)
	}
	for name, make := range map[string]func() (dir string){
		"a record that is none": func() string { dir := waiting(); write("{", dir, keptName); return dir },
		"marks that are none":   func() string { dir := waiting(); write("{", dir, marksName); return dir },
		"a record of steps":     func() string { dir := waiting(); write("{", dir, recordName); return dir },
		"half applied": func() string {
			dir := halfApplied(t, s, layers, `date +%N > x`, project)
			write("{", dir, recordName)
			return dir
		},
		"half taken back": func() string {
			id := applied(t, s, `date +%N > x`, project)
			dir := filepath.Join(layers, appliedPrefix+id)
			write("", dir, undoName)
			write("{", dir, recordName)
			return dir
		},
		"without its directory": func() string {
			dir := halfApplied(t, s, layers, `date +%N > x`, project)
			if err := os.Rename(project, project+".away"); err != nil {
				t.Fatal(err)
			}
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := make()
			defer os.Rename(project+".away", project) //nolint:errcheck // most have not moved it
			list := ListKept(layers)
			if len(list) != 1 || list[0].Stuck == "" || list[0].Dir != filepath.Base(dir) || !strings.HasPrefix(list[0].ID, keptPrefix) || list[0].At.IsZero() {
				t.Fatalf("listed: %+v", list)
			}
			own, err := durable.TryLock(filepath.Join(dir, lockName), false)
			if err != nil || own == nil {
				t.Fatal(err)
			}
			if err := DropKept(t.Context(), layers, list[0]); err == nil || !strings.Contains(err.Error(), "works on") {
				t.Errorf("dropped while somebody works on it: %v", err)
			}
			if err := own.Close(); err != nil {
				t.Fatal(err)
			}
			if notes := s.sweepLayers(); len(notes) != 1 || !strings.Contains(notes[0], "toolcrib layers drop") {
				t.Errorf("told %q", notes)
			}
			if err := DropKept(t.Context(), layers, list[0]); err != nil {
				t.Fatal(err)
			}
			if err := DropKept(t.Context(), layers, list[0]); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("again: %v", err)
			}
			if list, notes := ListKept(layers), s.sweepLayers(); len(list)+len(notes) != 0 {
				t.Errorf("%+v, %q", list, notes)
			}
		})
	}
}

// TestWaitingLayerWithoutItsDirectoryIsDropped: it cannot be opened, and the error says what
// helps.
func TestWaitingLayerWithoutItsDirectoryIsDropped(t *testing.T) {
	project, layers := keptProject(t)
	exit, _ := inSession(t, open(t, Config{Layers: layers}), project, `echo 1 > a`)
	id := keepOf(t, exit)
	if err := os.RemoveAll(project); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenKept(t.Context(), layers, id, ""); err == nil || !strings.Contains(err.Error(), "toolcrib layers drop "+id) {
		t.Errorf("told %v", err)
	}
	listed := ListKept(layers)[0]
	for _, dir := range []string{"", ".", "..", "../layers", "none", "applying"} {
		other := listed
		other.Dir = dir
		if err := DropKept(t.Context(), layers, other); err == nil {
			t.Errorf("%q was dropped", dir)
		}
	}
	if err := DropKept(t.Context(), layers, listed); err != nil || len(ListKept(layers)) != 0 {
		t.Errorf("%v, %+v", err, ListKept(layers))
	}
}

// TestListDropsWhatWaitedTooLong: also while no sandbox is opened.
func TestListDropsWhatWaitedTooLong(t *testing.T) {
	project, layers := keptProject(t)
	exit, _ := inSession(t, open(t, Config{Layers: layers}), project, `echo 1 > a`)
	keepOf(t, exit)
	k, err := readKept(filepath.Join(layers, ListKept(layers)[0].Dir))
	if err != nil {
		t.Fatal(err)
	}
	k.rec.At = k.rec.At.Add(-keepWaiting - time.Hour)
	if err := k.write(); err != nil {
		t.Fatal(err)
	}
	if list := ListKept(layers); len(list) != 0 {
		t.Errorf("it still waits: %+v", list)
	}
	if _, err := os.Lstat(k.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
