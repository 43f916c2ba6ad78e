//go:build unix

package plainfile

import "syscall"

// noWait opens a pipe without waiting for somebody at its other end.
const noWait = syscall.O_NONBLOCK

const dirOnly = syscall.O_DIRECTORY
