//go:build unix

package sandboxes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestTally: what its owner has shut is opened and counted, links are not followed, and what is too deep is told without
// walking down to its end.
func TestTally(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	inner := filepath.Join(dir, "a", "b")
	big := make([]byte, 1000)
	if err := errors.Join(os.MkdirAll(inner, 0o700), os.WriteFile(filepath.Join(inner, "f"), big, 0o600), os.WriteFile(filepath.Join(outside, "f"), big, 0o600),
		os.Symlink(outside, filepath.Join(dir, "out")), os.Symlink(filepath.Join(outside, "f"), filepath.Join(dir, "file")),
		os.Chmod(inner, 0o300), os.Chmod(filepath.Dir(inner), 0o600), os.Chmod(dir, 0), os.Chmod(outside, 0o300)); err != nil {
		t.Fatal(err)
	}
	if got := tallied(dir, 100); got.bytes != 1000 || got.count != 5 || got.blind {
		t.Errorf("%+v", got)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, inner: 0o700, filepath.Dir(inner): 0o700, outside: 0o300} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	deep := filepath.Join(dir, strings.Repeat("d/", deepest+1))
	if err := os.MkdirAll(filepath.Join(deep, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := tallied(dir, 10_000); !got.blind {
		t.Errorf("%+v", got)
	}
	// Who comes next begins with nothing, or nobody could tell what it writes.
	s := &Scratch{}
	_, stop := s.hold(t.Context(), dir)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "f")); err != nil {
		t.Errorf("what a link led to: %v", err)
	}
	if err := os.Chmod(outside, 0o700); err != nil { // else it cannot be removed
		t.Error(err)
	}
	if got := tallied(filepath.Join(dir, "none"), 10); *got != (tally{most: 10}) {
		t.Errorf("%+v", got)
	}
}

// TestHoldDeep: a command that nests directories is ended before long.
func TestHoldDeep(t *testing.T) {
	dir := t.TempDir()
	s := &Scratch{}
	ctx, stop := s.hold(t.Context(), dir)
	if err := os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", deepest+2)), 0o700); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
	if err := stop(); err == nil || !strings.Contains(err.Error(), "one in the other") {
		t.Error(err)
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
		if got := tallied(dir, 100); got.bytes != 1000 || got.count != 3 || got.blind {
			t.Errorf("%+v", got)
		}
		if err := os.Chmod(filepath.Join(dir, shut), 0o300); err != nil {
			t.Fatal(err)
		}
		if got := tallied(dir, 100); got.bytes != 1000 && !got.blind {
			t.Errorf("%s: %+v", shut, got)
		}
	}
}
