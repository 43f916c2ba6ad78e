package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	noFollow         = 0
	sharingViolation = syscall.Errno(32)
)

// chmod: the rights of a file come from the profile it lies in.
func chmod(*os.File, fs.FileMode) error { return nil }

// rename tries for a while: a file that somebody reads at this moment cannot be
// replaced here.
func rename(from, to string) error {
	var err error
	for range 100 {
		err = os.Rename(from, to)
		if !errors.Is(err, sharingViolation) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// syncDir: directories cannot be flushed here, so nothing is sure.
func syncDir(string) (flushed bool, err error) { return false, nil }
