package files

import (
	"errors"
	"syscall"
)

const (
	sharingViolation = syscall.Errno(32)
	lockViolation    = syscall.Errno(33)
)

// busy reports whether another program is in the way at this moment: it has the file
// open, and does not share it. Scanners for viruses do that to every new file.
func busy(err error) bool {
	return errors.Is(err, sharingViolation) || errors.Is(err, lockViolation)
}
