//go:build unix

package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBusyFilesAreTriedAgain: another program is in the way for a moment, or for good.
func TestBusyFilesAreTriedAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := New([]Dir{{Path: dir, Write: true}}, Options{Base: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		errno syscall.Errno
		times int
		want  string
	}{
		{syscall.EBUSY, 2, ""}, {syscall.ETXTBSY, 1, ""},
		{syscall.ETXTBSY, 1000, "another program uses it now"}, {syscall.EACCES, 1, "does not permit"},
	} {
		tries := 0
		err := f.at("a", aim{}, func(*spot) error {
			if tries++; tries <= c.times {
				return &fs.PathError{Op: "open", Path: "a", Err: c.errno}
			}
			return nil
		})
		switch {
		case c.want == "" && (err != nil || tries != c.times+1):
			t.Errorf("%v: %v after %d tries", c.errno, err, tries)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || tries > 10):
			t.Errorf("%v: %v after %d tries", c.errno, err, tries)
		}
	}
}
