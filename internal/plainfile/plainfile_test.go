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
