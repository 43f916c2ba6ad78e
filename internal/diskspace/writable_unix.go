//go:build linux || darwin

package diskspace

import "syscall"

// writeOK is W_OK of access(2).
const writeOK = 2

func writable(path string) error { return syscall.Access(path, writeOK) }
