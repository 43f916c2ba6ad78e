//go:build !windows

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestLockOnNothing: a lock file that was removed or replaced while somebody
// waited for it keeps nobody out, so only the file that has the name counts.
func TestLockOnNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	for name, then := range map[string]func() error{
		"removed":  func() error { return os.Remove(path) },
		"replaced": func() error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := then(); err != nil {
			t.Fatal(err)
		}
		if held, err := hold(f, path); held || err != nil {
			t.Errorf("%s: %v, %v", name, held, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLockFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if err := os.Symlink("elsewhere", path); err != nil {
		t.Fatal(err)
	}
	if f, err := TryLock(path, true); f != nil || !errors.Is(err, ErrLink) {
		t.Errorf("%v, %v", f, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the link was followed")
	}
}
