//go:build !windows

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// TryLock takes a lock file if nobody else holds it, and makes it if it is missing
// and create is set. It gives nil without an error if somebody holds it.
func TryLock(path string, create bool) (*os.File, error) {
	flags := os.O_RDWR | noFollow
	if create {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		err = ErrLink
	}
	if err != nil {
		return nil, fmt.Errorf("opening the lock file %s: %w", path, err)
	}
	held, err := hold(f, path)
	if held {
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// hold locks an open file. flock and not fcntl: it belongs to this opening of the
// file, so that two holders in one process keep each other out, too.
func hold(f *os.File, path string) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("locking %s: %w", path, err)
		}
		break
	}
	mine, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("looking at the lock file: %w", err)
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, named) {
		return false, nil // somebody removed it: this would be a lock on nothing
	}
	if err != nil {
		return false, fmt.Errorf("looking at the lock file: %w", err)
	}
	return true, nil
}
