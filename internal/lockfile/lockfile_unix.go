//go:build !windows

package lockfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Try takes the lock file, made if it is missing and create is set. Closing it
// gives it back, and so does the end of the process, however it ends. It gives nil without an error if another process holds it.
func Try(path string, create bool) (*os.File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a lock file: %w", err)
	}
	// flock and not fcntl: it belongs to this opening of the file, so that two
	// holders in one process keep each other out, too.
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	if e := f.Close(); e != nil {
		return nil, errors.Join(err, e)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}
