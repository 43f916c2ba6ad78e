package diskspace

import (
	"errors"
	"strings"
	"syscall"
)

// Full reports whether something failed because a disk is full: as systems say it, and
// as the database of the journal does.
func Full(err error) bool {
	if err == nil {
		return false
	}
	const windowsFull, windowsHandleFull = syscall.Errno(112), syscall.Errno(39)
	return errors.Is(err, syscall.ENOSPC) || onWindows && (errors.Is(err, windowsFull) || errors.Is(err, windowsHandleFull)) ||
		strings.Contains(err.Error(), "database or disk is full")
}
