//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package plugin

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// takeStdout keeps the stream that Toolcrib reads, and has everything else that
// writes to the standard output write to the standard error: this program, what it
// starts, and libraries that took os.Stdout before main began. So the descriptor is
// changed and not only the variable.
func takeStdout() (io.Writer, error) {
	syscall.ForkLock.RLock() // no program that is started meanwhile gets it
	fd, err := syscall.Dup(syscall.Stdout)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("keeping the standard output: %w", err)
	}
	if err := dup2(syscall.Stderr, syscall.Stdout); err != nil {
		return nil, fmt.Errorf("pointing the standard output to the standard error: %w", err)
	}
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(fd), "toolcrib"), nil
}
