//go:build unix

package sandbox_test

import (
	"os"
	"syscall"
	"testing"
)

// dup makes a copy that stays open when the original is closed, as a started
// program has one.
func dup(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c := os.NewFile(uintptr(fd), f.Name())
	t.Cleanup(func() { c.Close() })
	return c
}
