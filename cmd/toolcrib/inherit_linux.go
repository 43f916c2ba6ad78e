package main

import "golang.org/x/sys/unix"

// keepInherited keeps what whoever started us has left open from all programs
// that we start. A kernel that cannot do it (before 5.11) leaves that to the
// sandboxes, which close what they do not hand out.
func keepInherited() { _ = unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) }
