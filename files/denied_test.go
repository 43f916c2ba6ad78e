package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestDeniedPlaces: what a grant denies is not read, written or listed, by
// whatever path; what it fixes is read and not written.
func TestDeniedPlaces(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secrets/k", "src/a", "notes", "deep/x.KEY"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secrets", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	slash := filepath.ToSlash(dir)
	f, err := New([]Dir{{Path: dir, Write: true}}, Options{Base: dir, Denied: []string{slash + "/secrets/**", "/**/*.key"}, Fixed: []string{slash + "/src/**"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, name := range []string{"secrets/k", "./secrets/../secrets/k", "link/k", dir + "/secrets/k", "deep/x.KEY", "secrets/new", "src/../secrets/k"} {
		if _, _, err := f.ReadFile(name, 100); !errors.Is(err, ErrProtected) {
			t.Errorf("%s is read: %v", name, err)
		}
		if _, err := f.Real(name); !errors.Is(err, ErrProtected) {
			t.Errorf("%s is found: %v", name, err)
		}
	}
	for _, name := range []string{"notes", "src/a"} {
		if text, _, err := f.ReadFile(name, 100); err != nil || string(text) != name {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"secrets/new", "src/a", "src/new", "link/k", "new.key"} {
		if err := f.WriteFile(name, []byte("x"), nil); !errors.Is(err, ErrProtected) {
			t.Errorf("%s is written: %v", name, err)
		}
	}
	if err := f.WriteFile("fine", []byte("x"), nil); err != nil {
		t.Error(err)
	}
	if _, err := f.Real("nothing"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := New([]Dir{{Path: dir}}, Options{Denied: []string{"relative/**"}}); err == nil {
		t.Error("a pattern that means nothing is taken")
	}
}
