package plainfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := plainfile.Read(file, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := plainfile.Read(file, 4); !errors.Is(err, plainfile.ErrLong) {
		t.Errorf("a file that is too long: %v", err)
	}
	if _, err := plainfile.Read(dir, 5); !errors.Is(err, plainfile.ErrOdd) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := plainfile.Read(filepath.Join(dir, "none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if runtime.GOOS == "linux" { // they say that they are empty, and are not
		if text, err := plainfile.Read("/proc/self/status", 1<<20); err != nil || len(text) == 0 {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// TestReadSettings: what a repository puts where a file of settings should be
// neither holds us up nor fills the memory.
func TestReadSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte("[core]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := plainfile.Settings(file); err != nil || string(text) != "[core]" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := plainfile.Settings(filepath.Join(dir, "gone")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := plainfile.Settings(dir); err == nil || os.IsNotExist(err) {
		t.Errorf("a directory: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	link := filepath.Join(dir, "objects")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	if text, err := plainfile.Settings(link); err == nil {
		t.Errorf("a link to /dev/zero gave %d bytes", len(text))
	}
}
