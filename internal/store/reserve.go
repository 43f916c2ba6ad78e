package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// reserveBytes is room for the ends of some hundred calls.
const reserveBytes = 256 << 10

// reserve is a file that is there to be removed: on a full disk it makes room
// for the ends of calls that have happened. All processes share one.
type reserve struct{ path string }

func newReserve(dir string) reserve { return reserve{filepath.Join(dir, "reserve")} }

// fill makes the reserve if it is missing. Its content is random, because a
// file system that compresses would keep no room for zeros.
func (r reserve) fill() error {
	if _, err := os.Stat(r.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	content := make([]byte, reserveBytes)
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(content)
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was quicker
	}
	if err == nil {
		_, err = f.Write(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keeping room on the disk: %w", err), removeIfThere(r.path))
	}
	return nil
}

// free makes room and reports whether there was any to make.
func (r reserve) free() bool { return os.Remove(r.path) == nil }
