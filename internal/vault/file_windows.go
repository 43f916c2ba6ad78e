package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	// hasRights: the rights of a file come from the profile it lies in.
	hasRights        = false
	noFollow         = 0
	sharingViolation = syscall.Errno(32)
)

func owner(fs.FileInfo) (who uint32, ours bool) { return 0, true }

func links(fs.FileInfo) uint64 { return 1 }

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
func syncDir(string) (durable bool, err error) { return false, nil }

// tryLock takes the lock, or gives nil without an error if another has it: an
// opening that shares nothing is the lock.
func tryLock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("opening the vault's lock: %w", err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the vault's lock: %w", err)
	}
	return os.NewFile(uintptr(h), path), nil
}
