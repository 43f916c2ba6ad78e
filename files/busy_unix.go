//go:build unix

package files

import (
	"errors"
	"syscall"
)

// busy reports whether another program is in the way at this moment: one that runs
// from the file, or something that is mounted there.
func busy(err error) bool {
	return errors.Is(err, syscall.ETXTBSY) || errors.Is(err, syscall.EBUSY)
}
