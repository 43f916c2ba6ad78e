package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIgnoresCase(t *testing.T) {
	dir := t.TempDir()
	if ignoresCase(dir) {
		t.Error("an empty directory here")
	}
	for _, name := range []string{".env", "123", "both"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "BOTH"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if ignoresCase(dir) {
		t.Error("names in both cases that are two files")
	}
}
