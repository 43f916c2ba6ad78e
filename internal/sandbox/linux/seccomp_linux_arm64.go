package linux

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// deniedHere are calls that only this architecture has.
func deniedHere() []uint32 { return nil }

func modedHere() []moded { return nil }

// opensHere take a mode right after their flags.
func opensHere() []moded { return []moded{{unix.SYS_OPENAT, 3}} }
