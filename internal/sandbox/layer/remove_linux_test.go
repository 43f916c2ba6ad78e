package layer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemoveAll: nothing is left, however deep it is, and whatever rights were taken away.
func TestRemoveAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "layer")
	outside := filepath.Join(t.TempDir(), "outside")
	for _, d := range []string{dir + "/removed-1/removed-2", dir + "/shut/in", outside} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "f"), []byte("x"), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(outside, dir+"/shut/link"), unix.Mkfifo(dir+"/shut/pipe", 0)); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := os.Mkdir(filepath.Join(dir, "shut", strconv.Itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// No path leads to what is in there, and one of them is shut.
	at, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("n", 200)
	for range 3000 {
		if err := unix.Mkdirat(at, name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err = errors.Join(err, unix.Close(at)); err != nil {
			t.Fatal(err)
		}
		at = next
	}
	if err := errors.Join(unix.Mkdirat(at, "last", 0o700), unix.Fchmod(at, 0), unix.Close(at)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"shut/in", "shut", ""} {
		if err := os.Chmod(filepath.Join(dir, d), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	if _, err := os.Stat(filepath.Join(outside, "f")); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
	for what, err := range map[string]error{"nothing": removeAll(dir), "a link": errors.Join(os.Symlink(outside, dir), removeAll(dir)), "a file": errors.Join(os.WriteFile(dir, nil, 0o600), removeAll(dir))} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
