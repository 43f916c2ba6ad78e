package lockfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Try takes the lock file, made if it is missing and create is set. Closing it
// gives it back, and so does the end of the process, however it ends. It gives nil without an error if another process holds it: an opening that
// shares nothing is the lock.
func Try(path string, create bool) (*os.File, error) {
	const sharingViolation = syscall.Errno(32)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("opening a lock file: %w", err)
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
