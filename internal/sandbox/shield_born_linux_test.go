package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// again makes directories until one has the number of one that is gone; empty if
// others were quicker to take the number.
func again(t *testing.T, in string, number uint64) string {
	t.Helper()
	coarse := func() int64 { // by which births are told
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
			t.Fatal(err)
		}
		return now.Nano()
	}
	for began := coarse(); coarse() == began; time.Sleep(time.Millisecond) {
		continue // the old one may have been made in this step of the clock
	}
	for i := range 200 {
		dir := filepath.Join(in, fmt.Sprint("n", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Ino == number {
			return dir
		}
	}
	return ""
}

// TestSameNumber: what a program makes where a person removed something is not
// taken for what was there before, though it has its number.
func TestSameNumber(t *testing.T) {
	for range 50 { // other tests make files meanwhile
		if sameNumber(t) {
			return
		}
	}
	t.Skip("numbers of what was removed do not come back here")
}

// sameNumber reports whether the number came back.
func sameNumber(t *testing.T) bool {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "lib/.git/HEAD", "lib/.git/objects/x", "lib/.git/refs/x", "lib/.git/config")
	git := filepath.Join(top, "lib", ".git")
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, git, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		t.Skip("this file system does not tell when something was made")
	}
	s := shield(t, "", nil, nil)
	covering, err := s.Look([]files.Dir{{Path: top, Write: true}})
	if err != nil {
		t.Fatal(err)
	}
	if len(covering.Covers) == 0 {
		t.Fatal("nothing is covered")
	}
	if err := os.RemoveAll(git); err != nil {
		t.Fatal(err)
	}
	dir := again(t, filepath.Join(top, "lib"), st.Ino)
	if dir == "" {
		return false
	}
	if err := os.Rename(dir, git); err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "lib/.git/HEAD", "lib/.git/objects/x", "lib/.git/refs/x")
	if err := os.WriteFile(filepath.Join(git, "config"), []byte("[core]\n\tfsmonitor = touch x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range covering.Covers {
		if c.Path == git && sandbox.IsAt(git, c.ID) {
			t.Error("it is taken for what was covered")
		}
	}
	return true
}
