package durable

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// TryLock takes a lock file if nobody else holds it, and makes it if it is missing
// and create is set. It gives nil without an error if somebody holds it: an
// opening that shares nothing is the lock.
func TryLock(path string, create bool) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file %s: %w", path, err)
	}
	how := uint32(syscall.OPEN_EXISTING)
	if create {
		how = syscall.OPEN_ALWAYS
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, how, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, nil
	}
	if err != nil {
		return nil, &os.PathError{Op: "opening a lock file", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}
