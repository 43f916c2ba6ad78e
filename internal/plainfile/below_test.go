package plainfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

func TestReadIn(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o600), os.Mkdir(filepath.Join(dir, "sub"), 0o700)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if text, info, err := plainfile.ReadIn(root, "file", 5); err != nil || string(text) != "12345" || info.Size() != 5 {
		t.Errorf("%q, %v", text, err)
	}
	for name, want := range map[string]error{"none": fs.ErrNotExist, "sub": plainfile.ErrOdd} {
		if _, _, err := plainfile.ReadIn(root, name, 5); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := plainfile.ReadIn(root, "file", 4); !errors.Is(err, plainfile.ErrLong) {
		t.Errorf("a long file: %v", err)
	}
	if _, _, err := plainfile.ReadIn(root, "../file", 5); err == nil {
		t.Error("it left its directory")
	}
	for _, create := range []string{"new", "file"} {
		f, _, err := plainfile.OpenIn(root, create, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("x"); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "file")); string(text) != "12345x" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err == nil { // where the system lets us
		for _, flags := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE} {
			if _, _, err := plainfile.OpenIn(root, "link", flags, 0o600); !errors.Is(err, plainfile.ErrLinked) {
				t.Errorf("a link: %v", err)
			}
		}
	}
}
