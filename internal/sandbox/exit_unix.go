//go:build unix

package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
)

// ExitOf tells how a process ended. A signal gives the code a shell would
// give, 128 and its number, so that a code alone never looks like success.
func ExitOf(status syscall.WaitStatus) toolcrib.Exit {
	if status.Signaled() {
		return toolcrib.Exit{Code: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal())}
	}
	return toolcrib.Exit{Code: status.ExitStatus()}
}

// Killed is the exit of a program that was ended by us.
func Killed() toolcrib.Exit {
	return toolcrib.Exit{Code: 128 + int(unix.SIGKILL), Signal: unix.SignalName(unix.SIGKILL)}
}
