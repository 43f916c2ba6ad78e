//go:build unix

package app

import "syscall"

// nonBlocking keeps a pipe that stands where a file should be from holding us up.
const nonBlocking = syscall.O_NONBLOCK
