//go:build amd64 || arm64

package linux

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// applied runs a line on a layer over a project, and applies what it changed.
func applied(t *testing.T, s *Sandbox, line, project string) string {
	t.Helper()
	exit, out := onLayer(t, s, line, project)
	if exit.Changes == nil {
		t.Fatalf("%+v\n%s", exit, out)
	}
	if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	return exit.Changes.ID()
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", path, text, err, want)
	}
}

// projectWith is a project with one file.
func projectWith(t *testing.T) (project, file string) {
	t.Helper()
	project = t.TempDir()
	file = filepath.Join(project, "a")
	if err := os.WriteFile(file, []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return project, file
}

// TestAppliedIsTakenBack: by its ID, once, and one command after the other.
func TestAppliedIsTakenBack(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project, file := projectWith(t)
	first := applied(t, s, `echo two > a; mkdir n; echo 1 > n/1`, project)
	second := applied(t, s, `echo three > a; echo 2 > n/2`, project)
	a, err := OpenApplied(layers, first)
	if err != nil {
		t.Fatal(err)
	}
	conflict, ok := errors.AsType[*layer.ConflictError](a.Undo(t.Context()))
	if !ok || !strings.Contains(strings.Join(conflict.Paths, " "), file) || !ok {
		t.Errorf("the first before the second: %v", conflict)
	}
	if err := a.Unchanged(); err == nil {
		t.Error("it counts as unchanged")
	}
	holds(t, file, "three\n")
	for i, id := range []string{second, first} {
		a, err := OpenApplied(layers, id)
		if err != nil {
			t.Fatal(err)
		}
		if text, _, err := a.List(1 << 10); err != nil || !strings.Contains(string(text), "changed "+file) {
			t.Errorf("%s, %v", text, err)
		}
		if r, err := a.Reverse(""); err != nil || len(r.List()) != 3-i && len(r.List()) != 2+i || r.Drop() != nil {
			t.Errorf("%+v, %v", r, err)
		}
		if err := a.Undo(t.Context()); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if err := a.Undo(t.Context()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("again: %v", err)
		}
		if _, err := OpenApplied(layers, id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it can be found: %v", err)
		}
	}
	holds(t, file, "one\n")
	holds(t, filepath.Join(project, "n", "1"), "")
	if left, _ := filepath.Glob(filepath.Join(layers, "*", recordName)); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	for _, id := range []string{"", "..", "../x", ".", "x/y", "none", "x\x00"} {
		if _, err := OpenApplied(layers, id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestAppliedIsKeptBySweeps: also what was applied right before its process was killed,
// and what somebody was about to take back. Only what is too old goes.
func TestAppliedIsKeptBySweeps(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project, file := projectWith(t)
	id := applied(t, s, `echo two > a`, project)
	at := filepath.Join(layers, appliedPrefix+id)
	if err := os.Rename(at, filepath.Join(layers, id)); err != nil { // as if it was killed before it was put aside
		t.Fatal(err)
	}
	if _, err := OpenApplied(layers, id); err != nil {
		t.Error(err)
	}
	open(t, Config{Layers: layers})
	if err := os.WriteFile(filepath.Join(at, undoName), nil, 0o600); err != nil { // as if it was killed before it took anything back
		t.Fatal(err)
	}
	open(t, Config{Layers: layers})
	if cutOff(at) {
		t.Error("it still counts as being taken back")
	}
	lock, err := durable.TryLock(filepath.Join(at, lockName), true)
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	a, err := OpenApplied(layers, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Undo(t.Context()); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("while another process works on it: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "two\n")
	old := time.Now().Add(-keepApplied - time.Hour)
	if err := os.Chtimes(at, old, old); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Layers: layers})
	if _, err := OpenApplied(layers, id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is too old is still there: %v", err)
	}
	holds(t, file, "two\n")
}

// TestKilledUndoIsFinished: the next Toolcrib takes back what a killed one was taking
// back.
func TestKilledUndoIsFinished(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project, file := projectWith(t)
	id := applied(t, s, `echo two > a; echo new > n`, project)
	at := filepath.Join(layers, appliedPrefix+id)
	record := filepath.Join(at, recordName)
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	begun := strings.Replace(string(text), `"done":true`, `"done":false,"undoing":true`, 1)
	for name, content := range map[string]string{record: begun, filepath.Join(at, undoName): ""} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, Config{Layers: layers})
	holds(t, file, "one\n")
	holds(t, filepath.Join(project, "n"), "")
	if _, err := os.Stat(at); !os.IsNotExist(err) {
		t.Errorf("the layer is still there: %v", err)
	}
}

// TestReverseIsWhole: what it would do is read like the changes of a command, by the bytes
// that come back, also where a link leads elsewhere now. It is carried out whole, once, or
// not at all, and nothing of it waits.
func TestReverseIsWhole(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project, file := projectWith(t)
	victim := t.TempDir()
	for path, text := range map[string]string{filepath.Join(project, "d", "f"): "was\n", filepath.Join(victim, "f"): "other\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	id := applied(t, s, `rm -rf d; ln -s `+victim+` d; mv a b; echo new > n`, project)
	a, err := OpenApplied(layers, id)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Reverse("the head\n")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, c := range r.List() {
		kinds[strings.TrimPrefix(c.Path, project+"/")] = map[bool]string{true: "-"}[c.After == nil] + strings.TrimPrefix(c.From, project)
	}
	if want := map[string]string{"a": "/b", "b": "-", "d": "", "d/f": "", "n": "-"}; !maps.Equal(kinds, want) {
		t.Errorf("it would change %v", kinds)
	}
	if text, err := r.Read(filepath.Join(project, "d", "f"), 1, 2); string(text) != "as" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	if shown := r.Show(func(string) bool { return true }); !strings.HasPrefix(shown, "the head\n") || !strings.Contains(shown, "+was") {
		t.Errorf("shown %s", shown)
	}
	if !r.Whole() || r.Others() || r.ID() != "" || r.Earlier() != "" {
		t.Error("it counts as what it is not")
	}
	if _, err := r.Keep(t.Context()); err == nil {
		t.Error("it waits")
	}
	if err := r.Apply(t.Context(), func(path string) bool { return path != file }); err == nil || !strings.Contains(err.Error(), "as a whole") {
		t.Errorf("a part: %v", err)
	}
	if _, err := os.Stat(filepath.Join(project, "n")); err != nil {
		t.Errorf("a part was taken back: %v", err)
	}
	if err := r.Apply(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(project, "d", "f"), "was\n")
	holds(t, filepath.Join(victim, "f"), "other\n")
	holds(t, file, "one\n")
	if info, err := os.Lstat(filepath.Join(project, "d")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	if err := r.Apply(t.Context(), func(string) bool { return true }); toolcrib.CodeOf(err) != toolcrib.CodeConflict {
		t.Errorf("again: %v", err)
	}
}

// TestReverseIsLed: where links and settings led others when the command had ended, a
// person is asked about taking back, too.
func TestReverseIsLed(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project, file := projectWith(t)
	exit, out := onLayer(t, s, `echo two > a`, project)
	c, ok := exit.Changes.(*changeSet)
	if !ok {
		t.Fatalf("%+v\n%s", exit, out)
	}
	c.layer.unled = "nobody knows"
	if err := c.Apply(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	a, err := OpenApplied(layers, c.ID())
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Reverse("")
	if err != nil {
		t.Fatal(err)
	}
	if list := r.List(); len(list) != 1 || list[0].Path != file || list[0].Led == nil || list[0].Led.Decision != toolcrib.Ask {
		t.Errorf("%+v", list)
	}
	if err := r.Drop(); err != nil {
		t.Error(err)
	}
}
