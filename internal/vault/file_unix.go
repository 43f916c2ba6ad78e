//go:build !windows

package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const (
	// hasRights: files have an owner and a mode that say who reads them.
	hasRights = true
	noFollow  = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
)

func owner(info fs.FileInfo) (who uint32, ours bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, int(st.Uid) == os.Geteuid()
}

func links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Nlink) //nolint:unconvert // it has another type on other systems
}

func rename(from, to string) error { return os.Rename(from, to) }

func syncDir(dir string) (durable bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	return err == nil, err
}

// tryLock takes the lock, or gives nil without an error if another has it.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, notSafe("%s is a link", path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the vault's lock: %w", err)
	}
	held, err := holdLock(f, path)
	if held {
		return f, nil
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return nil, err
}

func holdLock(f *os.File, path string) (bool, error) {
	// flock belongs to this opening of the file, so that two vaults in one
	// process keep each other out as well.
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("locking the vault: %w", err)
	}
	mine, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("looking at the vault's lock: %w", err)
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, named) {
		return false, nil // somebody removed it: this is a lock on nothing
	}
	if err != nil {
		return false, fmt.Errorf("looking at the vault's lock: %w", err)
	}
	if err := checkFile(path, mine); err != nil {
		return false, err
	}
	return true, nil
}
