//go:build amd64 || arm64

package linux

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is what happens in a forked process. Of the threads of the runtime
// only one is there, locks of the others stay locked, and so there may be no
// allocation, no growing of the stack, no signal handler and no race detector:
// only raw system calls.

// birth is a script made ready to be carried out, and all memory it needs.
type birth struct {
	calls  []call
	data   []byte // what its pointers point to
	slots  [maxSlots]uintptr
	report [4]uint32
	status uint32
	teller int    // the descriptor of the report, as it was sent
	keeper int    // a pidfd of the process that forks
	gate   [2]int // a pipe: the child waits for a byte
	poll   pollFD
	byte   [1]byte
	now    unix.Timespec // zero
	action [64]byte      // a zero struct sigaction: the default
	all    [8]byte       // all signals
}

// pollFD is struct pollfd.
type pollFD struct {
	fd              int32
	events, revents int16
}

const (
	maxSlots = 512
	reportAt = 3 // the descriptor of the report
	keeperAt = 4 // the pidfd of the keeper, once the streams are in their places
)

// What stands first in a report; then come the index and the error of the call
// that failed, or the wait status.
const (
	reportFailed = 1
	reportEnded  = 2
	reportReady  = 3 // no end yet: the covers are laid
	reportSocket = 5 // no end yet: a socket of the network of the program comes along; then comes which one
)

// fork gives birth. The child waits until there is a byte in the gate, so that
// its user can be mapped first.
//
//go:norace
//go:noinline
func (b *birth) fork(flags uintptr) (pid uintptr, errno syscall.Errno) {
	var before [8]byte
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&b.all)), uintptr(unsafe.Pointer(&before)), 8, 0, 0)
	pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		b.live()
	}
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&before)), 0, 8, 0, 0)
	return pid, errno
}

// live is the child. Signals stay blocked until the script unblocks them for
// the program; the handlers of the runtime must never run.
//
//go:norace
//go:nosplit
func (b *birth) live() {
	for sig := uintptr(1); sig <= 64; sig++ {
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&b.action)), 0, 8, 0, 0)
	}
	b.tie(uintptr(b.keeper))
	_, _, _ = syscall.RawSyscall(unix.SYS_DUP3, uintptr(b.teller), reportAt, unix.O_CLOEXEC)
	_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, uintptr(b.gate[1]), 0, 0)
	if n, _, _ := syscall.RawSyscall(unix.SYS_READ, uintptr(b.gate[0]), uintptr(unsafe.Pointer(&b.byte)), 1); n != 1 {
		b.end(125) // whoever was to open the gate is gone
	}
	for i := 0; i < len(b.calls); i++ {
		c := &b.calls[i]
		if c.number == callFork {
			pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno != 0 {
				b.fail(i, errno)
			}
			if pid != 0 {
				b.tend(pid)
			}
			continue
		}
		var args [6]uintptr
		for k := range args {
			args[k] = uintptr(c.args[k])
			if c.kinds[k] == kindSlot {
				args[k] = b.slots[c.args[k]&(maxSlots-1)]
			}
		}
		if c.number == callTie {
			b.tie(args[0])
			continue
		}
		if c.number == callSame {
			stat := (*[2]uint64)(unsafe.Pointer(&b.data[c.store])) // begins with the device and the inode
			if uintptr(stat[0]) != args[0] || uintptr(stat[1]) != args[1] {
				b.fail(i, syscall.ESTALE)
			}
			continue
		}
		if c.number == callMounted {
			if statx := (*[2]uint64)(unsafe.Pointer(&b.data[c.store])); statx[1]&unix.STATX_ATTR_MOUNT_ROOT == 0 { // its attributes stand second
				b.fail(i, syscall.ESTALE)
			}
			continue
		}
		result, _, errno := syscall.RawSyscall6(uintptr(c.number), args[0], args[1], args[2], args[3], args[4], args[5])
		if errno != 0 {
			if uint16(errno) != c.tolerate && c.tolerate != anyError {
				b.fail(i, errno)
			}
			i += int(c.skip)
			continue
		}
		if c.keep != 0 {
			b.slots[c.keep&(maxSlots-1)] = result
		}
		if c.store != 0 {
			*(*int32)(unsafe.Pointer(&b.data[c.store])) = int32(result)
		}
	}
	b.fail(len(b.calls), syscall.ENOEXEC) // a script that starts no program
}

// fail reports and ends.
//
//go:norace
//go:nosplit
func (b *birth) fail(index int, errno syscall.Errno) {
	b.report[0], b.report[1], b.report[2] = reportFailed, uint32(index), uint32(errno)
	b.tell()
	b.end(125)
}

// tie has the kernel end this process when the keeper ends. The keeper may
// have ended before the kernel was told, and that is looked at afterwards: one
// of the two catches it.
//
//go:norace
//go:nosplit
func (b *birth) tie(keeper uintptr) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	b.poll.fd, b.poll.events, b.poll.revents = int32(keeper), unix.POLLIN, 0
	n, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&b.poll)), 1, uintptr(unsafe.Pointer(&b.now)), 0, 0, 0)
	if errno != 0 || n != 0 {
		b.end(125)
	}
}

//go:norace
//go:nosplit
func (b *birth) end(code uintptr) {
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, code, 0, 0)
	}
}

//go:norace
//go:nosplit
func (b *birth) tell() {
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, reportAt, uintptr(unsafe.Pointer(&b.report)), 16)
}

// tend is the life of the first process of the namespace: it buries whatever
// falls to it, and when the program has ended it tells and ends, and the
// kernel ends everything else.
//
//go:norace
//go:nosplit
func (b *birth) tend(program uintptr) {
	for fd := range uintptr(3) {
		_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	}
	for {
		pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&b.status)), 0, 0, 0, 0)
		if errno != 0 && errno != syscall.EINTR {
			b.fail(len(b.calls), errno)
		}
		if errno == 0 && pid == program {
			b.report[0], b.report[1] = reportEnded, b.status
			b.tell()
			b.end(0)
		}
	}
}
