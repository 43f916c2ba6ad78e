//go:build unix

package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// heldOptions has the files of these names covered for programs.
func heldOptions(t *testing.T, busy bool, names ...string) files.Options {
	t.Helper()
	return files.Options{
		Kept: filepath.Join(t.TempDir(), "kept"), Trash: filepath.Join(t.TempDir(), "trash"),
		Held: func(path string) bool {
			for _, n := range names {
				if filepath.Base(path) == n {
					return true
				}
			}
			return false
		},
		Busy: func(string) bool { return busy },
	}
}

// TestHeldStays: a file that programs find covered stays the same file, with
// its mode, and nothing else lies beside it at any time.
func TestHeldStays(t *testing.T) {
	g := newGrounds(t)
	path := g.put(t, "in/.mcp.json", "{}\n")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	f := g.open(t, heldOptions(t, false, ".mcp.json"), "w in")
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Lstat(g.in)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{\"much\": \"longer\"}\n", "", "{}\n", strings.Repeat("x", 1<<20)} {
		_, was, err := f.ReadFile(".mcp.json", 1<<21)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.WriteFile(".mcp.json", []byte(text), &was); err != nil {
			t.Fatal(err)
		}
		if got := g.read(t, "in/.mcp.json"); got != text {
			t.Errorf("it holds %d bytes, want %d", len(got), len(text))
		}
	}
	after, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("it is another file, or of another mode: %v, %v", after, err)
	}
	// A second name, made and taken away, would show in the directory's time.
	if now, err := os.Lstat(g.in); err != nil || !now.ModTime().Equal(dir.ModTime()) {
		t.Errorf("there was something beside it: %v", err)
	}
	stale := files.StampOf([]byte("other"))
	if err := f.WriteFile(".mcp.json", nil, &stale); !errors.Is(err, files.ErrChanged) {
		t.Errorf("a write over something unknown: %v", err)
	}
	if err := f.WriteFile(".mcp.json", nil, &files.Stamp{}); !errors.Is(err, files.ErrChanged) {
		t.Errorf("a write where nothing was to be: %v", err)
	}
}

// TestHeldNew: a new file of such a name is made under that name alone; where a
// placeholder lies, somebody has to wait.
func TestHeldNew(t *testing.T) {
	g := newGrounds(t)
	f := g.open(t, heldOptions(t, true, ".mcp.json", "tasks.json", "twice"), "w in")
	if err := f.WriteFile("tasks.json", []byte("new"), &files.Stamp{}); err != nil || g.read(t, "in/tasks.json") != "new" {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(g.in, "tasks.json")); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	hold := filepath.Join(g.in, ".mcp.json")
	if err := errors.Join(os.Mkdir(hold, 0o755), os.Chmod(hold, 0o755|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	err := f.WriteFile(".mcp.json", []byte("new"), nil)
	if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "while a command runs") {
		t.Errorf("a write over a placeholder: %v", err)
	}
	for _, name := range []string{".mcp.json", "tasks.json"} {
		if _, err := f.Remove(name); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
			t.Errorf("%s was removed while a command runs: %v", name, err)
		}
	}
	if _, err := f.Remove("a.txt"); err != nil {
		t.Error(err)
	}
	g.put(t, "in/twice", "old")
	if err := os.Link(filepath.Join(g.in, "twice"), filepath.Join(g.in, "second")); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile("twice", []byte("new"), nil); err == nil || g.read(t, "in/second") != "old" || g.read(t, "in/twice") != "old" {
		t.Errorf("a file with two names was written: %v", err)
	}
	idle := g.open(t, heldOptions(t, false, "tasks.json"), "w in")
	if _, err := idle.Remove("tasks.json"); err != nil {
		t.Error(err)
	}
}
