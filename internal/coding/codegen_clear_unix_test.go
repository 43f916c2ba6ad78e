//go:build unix

package coding

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestCleared: what a program has shut is removed too, and what a link leads to stays.
func TestCleared(t *testing.T) {
	top := t.TempDir()
	dir, outside := filepath.Join(top, "try"), filepath.Join(top, "outside")
	inner := filepath.Join(dir, "a", "b")
	if err := errors.Join(os.MkdirAll(inner, 0o700), os.MkdirAll(outside, 0o700), os.WriteFile(filepath.Join(outside, "f"), nil, 0o600),
		os.WriteFile(filepath.Join(inner, "f"), nil, 0o600), os.Symlink(outside, filepath.Join(dir, "a", "out")),
		os.Chmod(inner, 0), os.Chmod(filepath.Dir(inner), 0)); err != nil {
		t.Fatal(err)
	}
	cleared(dir)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	if _, err := os.Stat(filepath.Join(outside, "f")); err != nil {
		t.Error(err)
	}
}
