package linked_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/linked"
)

// TestKeep: an answer about many directories is kept for a while, but not if a
// link of it went away; one about few never is.
func TestKeep(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := func(name string) string {
		path := filepath.Join(root, name)
		if err := os.Symlink("x", path); err != nil {
			t.Skip("no links here: ", err)
		}
		return path
	}
	all := func(string, string) bool { return true }
	m := &linked.Memory{Link: all, Enter: all, Keep: time.Hour}
	first := link("a")
	if got := m.Links(root); !slices.Equal(got, []string{first}) {
		t.Fatalf("%q", got)
	}
	second := link("b")
	if got := m.Links(root); !slices.Equal(got, []string{first, second}) {
		t.Errorf("with few directories: %q", got)
	}
	for i := range 1100 {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprint("d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.Links(root)
	third := link("c")
	if got := m.Links(root); !slices.Equal(got, []string{first, second}) {
		t.Errorf("kept: %q", got)
	}
	if err := os.Rename(first, filepath.Join(root, "d1", "moved")); err != nil {
		t.Fatal(err)
	}
	if got := m.Links(root); !slices.Equal(got, []string{second, third, filepath.Join(root, "d1", "moved")}) {
		t.Errorf("after one moved: %q", got)
	}
}
