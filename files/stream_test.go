package files_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// TestWriteFrom: content that comes in pieces is there as a whole, or not at all.
func TestWriteFrom(t *testing.T) {
	dir := t.TempDir()
	f, err := files.New([]files.Dir{{Path: dir, Write: true}}, files.Options{Base: dir, Protected: protection(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	long := strings.Repeat("0123456789abcdef", sensitive.MaxKey/16+1000)
	for _, text := range []string{"", "short", long[:sensitive.MaxKey], long[:sensitive.MaxKey+1], long} {
		for _, name := range []string{"new/file", "file"} {
			n, err := f.WriteFrom(name, iotest.HalfReader(strings.NewReader(text)))
			got, rerr := os.ReadFile(filepath.Join(dir, name))
			if err != nil || rerr != nil || n != int64(len(text)) || string(got) != text {
				t.Errorf("%d bytes: wrote %d, read %d; %v, %v", len(text), n, len(got), err, rerr)
			}
		}
	}
	// What breaks off changes nothing, and its error is told as it is.
	broken := errors.New("the connection broke")
	for _, text := range []string{"", "short", long} {
		for _, name := range []string{"file", "none"} {
			if _, err := f.WriteFrom(name, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))); !errors.Is(err, broken) {
				t.Errorf("%d bytes: %v", len(text), err)
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(got) != long {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	// A long text is held to the same rules as a short one.
	for _, name := range []string{"../out", "/etc/out", ".env", ".git/config", "new"} {
		if _, err := f.WriteFrom(name, strings.NewReader(long)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
