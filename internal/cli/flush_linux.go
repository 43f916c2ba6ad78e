package cli

import (
	"os"
	"syscall"
)

// unread drops what was typed into a terminal before it was asked for: a y
// typed ahead is no answer to a question that nobody has seen.
func unread(f *os.File) {
	const tcflsh, input = 0x540b, 0
	// What cannot be dropped is read as an answer, as it would be elsewhere.
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), tcflsh, input)
}
