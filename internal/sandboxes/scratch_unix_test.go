//go:build unix

package sandboxes

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestScratch: each purpose has a directory of its own, which is there until it is dropped, and what a process left that
// died goes when the next one begins.
func TestScratch(t *testing.T) {
	all := filepath.Join(t.TempDir(), "scratch")
	stale := filepath.Join(all, "1.1-x", "1", "shut")
	if err := errors.Join(os.MkdirAll(stale, 0o700), os.Chmod(stale, 0)); err != nil {
		t.Fatal(err)
	}
	s := &Scratch{Dir: all}
	ann := toolcrib.Caller{Subject: "ann", Session: "1"}
	seen := map[string]bool{}
	for _, c := range []toolcrib.Caller{ann, {Subject: "bob", Session: "1"}, {Subject: "ann", Session: "2"}, {Subject: "ann", Session: "1", Organisation: "o"}} {
		for _, name := range []string{"a", "b", "../x"} {
			at, err := s.Make(c, name)
			again, err2 := s.Make(c, name)
			if err := errors.Join(err, err2); err != nil || at != again || seen[at] || filepath.Dir(filepath.Dir(at)) != all {
				t.Fatalf("%v %s: %s, %s, %v", c, name, at, again, err)
			}
			seen[at] = true
		}
	}
	if _, err := os.Lstat(filepath.Join(all, "1.1-x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left is there: %v", err)
	}
	at, err := s.Make(ann, "a")
	if err != nil {
		t.Fatal(err)
	}
	// Somebody puts a link in its place: it is neither given nor followed.
	if err := errors.Join(os.Remove(at), os.Symlink(t.TempDir(), at)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Make(ann, "a"); err == nil {
		t.Errorf("a link is given: %s", got)
	}
	s.Drop(ann, "a")
	if _, err := os.Lstat(at); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(all); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := (&Scratch{}).Make(ann, "a"); err == nil {
		t.Error("one without a place")
	}
}

// TestOpenUp: directories that their owner cannot enter are opened, and links are left alone.
func TestOpenUp(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	inner := filepath.Join(dir, "a", "b")
	if err := errors.Join(os.MkdirAll(inner, 0o700), os.Symlink(outside, filepath.Join(dir, "a", "out")), os.Chmod(outside, 0o755), os.Chmod(inner, 0), os.Chmod(filepath.Dir(inner), 0)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(openUp(root, "."), root.Close()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{inner: 0o700, outside: 0o755} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestScratchIsCounted: whatever a command does to its directories, what lies in them is counted, or it is told that it
// cannot be.
func TestScratchIsCounted(t *testing.T) {
	for _, shut := range []string{".", "inner", "inner/deep"} {
		dir := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "inner", "deep"), 0o700), os.WriteFile(filepath.Join(dir, "inner", "deep", "x"), make([]byte, 1000), 0o600)); err != nil {
			t.Fatal(err)
		}
		s := &Scratch{}
		if bytes, count, hidden := s.used(dir); bytes != 1000 || count != 4 || hidden {
			t.Errorf("%d bytes, %d, %v", bytes, count, hidden)
		}
		if err := os.Chmod(filepath.Join(dir, shut), 0o300); err != nil {
			t.Fatal(err)
		}
		// Root reads it all the same.
		if bytes, _, hidden := s.used(dir); bytes != 1000 && !hidden {
			t.Errorf("%s: %d bytes, %v", shut, bytes, hidden)
		}
		if err := os.Chmod(filepath.Join(dir, shut), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
