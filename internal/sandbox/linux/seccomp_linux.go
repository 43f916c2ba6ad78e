//go:build amd64 || arm64

package linux

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The filter refuses what a confined program has no honest use for and what
// kernel exploits are made of. It is a list of what is denied: a list of what
// is allowed would break programs with every new C library, and the namespaces
// and the missing capabilities already bound what the rest can do.
//
// It is assembled by hand. The filter decides by architecture first: calls
// made through another one, 32-bit ones on a 64-bit kernel among them, would
// have other numbers, and a library that lets them fall through to the default
// of a deny list opens the door that it was to close.

// denied gives EPERM.
func denied() []uint32 {
	return append([]uint32{
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, sysOpenTreeAttr,
		unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
		unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	}, deniedHere()...)
}

// tracing is for debuggers and sanitizers. The kernel asks the filter after a
// tracer has changed a call, so that none of the others comes in by this door; but
// a tracer can let a program go on for a moment that was to be stopped.
func tracing() []uint32 {
	return []uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP}
}

// missing gives ENOSYS, so that programs take the way they had before the call
// was invented: clone3 and openat2 hide their flags from a filter, io_uring
// does by the kernel's hand what a filter would have refused, and the signal of
// a timer or a queue of messages could let a program go on that was stopped.
func missing() []uint32 {
	return []uint32{unix.SYS_TIMER_CREATE, unix.SYS_MQ_NOTIFY, unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_MEMFD_SECRET,
		unix.SYS_IO_SETUP} // of these the machine has few
}

// unaccounted is memory that belongs to no process, so that only a cgroup can
// bound it. Programs use a file in /tmp instead.
func unaccounted() []uint32 { return []uint32{unix.SYS_MEMFD_CREATE, unix.SYS_SHMGET} }

// labels gives EOPNOTSUPP, as a file system without them does, on which cp and
// tar go on. A default access list on a directory would count for every file
// that a person makes there, whatever the umask says, and a filter cannot read
// which label is meant.
func labels() []uint32 {
	return []uint32{unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT}
}

// leases are the commands of fcntl that take one; the second came with 6.19. The
// others choose a signal that the kernel sends, which could let a program go on
// that was stopped.
func leases() []uint32 { return []uint32{unix.F_SETLEASE, 1024 + 16, unix.F_SETSIG, unix.F_NOTIFY} }

// firsts are calls by which a program could slow down the first process of its
// namespace, which has to stop it, and where they take its number.
func firsts() []moded {
	return []moded{
		{unix.SYS_SCHED_SETSCHEDULER, 0}, {unix.SYS_SCHED_SETPARAM, 0}, {unix.SYS_SCHED_SETATTR, 0}, {unix.SYS_SCHED_SETAFFINITY, 0},
		{unix.SYS_PRLIMIT64, 0}, {unix.SYS_SETPRIORITY, 1}, {unix.SYS_IOPRIO_SET, 1},
	}
}

// Requests to a file system (ioctl) are told apart by a letter in their number.
// Those of btrfs and bcachefs make a second copy of a whole directory, in which
// nothing is covered, and need no rights for it. Three of btrfs's letter are for
// all file systems: they copy from one open file to another.
const (
	letterOf       = 0xff00
	btrfsLetter    = 0x9400
	bcachefsLetter = 0xbc00
)

func copying() []uint32 { return []uint32{unix.FICLONE, unix.FICLONERANGE, unix.FIDEDUPERANGE} }

// noSnapshots refuses requests by which a file system copies directories.
func (p *program) noSnapshots() {
	p.equal(unix.SYS_IOCTL, uint8(7+len(copying())))
	p.load(argument32(1))
	for i, request := range copying() {
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, uint8(len(copying())-i+4), 0, request)
	}
	p.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, letterOf)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 2, 0, btrfsLetter)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, bcachefsLetter)
	p.add(unix.BPF_JMP|unix.BPF_JA, 0, 0, 1)
	p.ret(refuse(unix.EPERM))
	p.load(offNumber)
}

// keepsCore has a program believe that it set its own limit of core dumps, which
// stays as it is. Programs lower it to zero, which is right elsewhere; but one is
// the only value by which the kernel leaves the machine's handler of crashes alone.
func (p *program) keepsCore() {
	p.equal(unix.SYS_SETRLIMIT, 4)
	p.load(argument32(0))
	p.equal(unix.RLIMIT_CORE, 1)
	p.ret(refuse(0))
	p.load(offNumber)
	p.equal(unix.SYS_PRLIMIT64, 8)
	p.load(argument32(1))
	p.equal(unix.RLIMIT_CORE, 5)
	p.load(argument32(2)) // the new limit: without one it is only asked for
	p.equal(0, 2)
	p.load(argument32(2) + 4)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, 0)
	p.ret(refuse(0))
	p.load(offNumber)
}

const fixedAddresses = 0x40000 // ADDR_NO_RANDOMIZE

const ioprioUser = 3 // IOPRIO_WHO_USER

const sysOpenTreeAttr = 467 // the same on every architecture

const (
	allow      = unix.SECCOMP_RET_ALLOW
	newSpaces  = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	offNumber  = 0
	offArch    = 4
	offArgs    = 16
	x32Numbers = 0x40000000
)

func refuse(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// filterRules says what a filter is to do besides the lists.
type filterRules struct {
	unixSockets bool // allow socket(AF_UNIX); pairs are always allowed
	debug       bool // allow tracing, and memory in the same places each time
	anonymous   bool // allow memory without an owner: a cgroup counts it
}

// program is a filter under construction.
type program []unix.SockFilter

func (p *program) add(code uint16, jt, jf uint8, k uint32) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }
func (p *program) ret(value uint32)   { p.add(unix.BPF_RET|unix.BPF_K, 0, 0, value) }

// equal goes on with the next instruction if the loaded word is k, else skips.
func (p *program) equal(k uint32, skip uint8) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, skip, k)
}

// only refuses a call unless an argument is one of some values. Arguments the
// kernel takes as int are compared as such: the upper half is ignored by both.
func (p *program) only(call uint32, argument int, errno unix.Errno, values ...uint32) {
	p.equal(call, uint8(3+len(values)))
	p.load(argument32(argument))
	for i, v := range values {
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, uint8(len(values)-i), 0, v)
	}
	p.ret(refuse(errno))
	p.load(offNumber)
}

func argument32(i int) uint32 { return uint32(offArgs + 8*i) } // both architectures are little-endian

// elevating are the bits of a mode that make whoever runs a file its owner or
// its group. A program that could set them on a file in a granted directory of
// root's would leave a way to root for every user of the machine.
const elevating = unix.S_ISUID | unix.S_ISGID

// moded is a call that takes a mode, and where.
type moded struct {
	call uint32
	mode int
}

func modedCalls() []moded {
	return append([]moded{{unix.SYS_FCHMOD, 1}, {unix.SYS_FCHMODAT, 2}, {sysFchmodat2, 2}, {unix.SYS_MKNODAT, 2}}, modedHere()...)
}

const sysFchmodat2 = 452 // the same on every architecture

// creating are flags of open by which it takes a mode.
const creating = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// plain refuses modes with elevating bits. flags is where the flags of an open
// stand, negative for a call that always takes the mode.
func (p *program) plain(call uint32, flags, mode int) {
	if flags < 0 {
		p.equal(call, 4)
	} else {
		p.equal(call, 6)
		p.load(argument32(flags))
		p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 3, creating)
	}
	p.load(argument32(mode))
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, elevating)
	p.ret(refuse(unix.EPERM))
	p.load(offNumber)
}

// filter assembles the whole.
func filter(rules filterRules) program {
	var p program
	p.load(offArch)
	p.equal(auditArch, 1)
	p.add(unix.BPF_JMP|unix.BPF_JA, 0, 0, 1)
	p.ret(refuse(unix.ENOSYS))
	p.load(offNumber)
	p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, x32Numbers)
	p.ret(refuse(unix.ENOSYS))
	deny := func(errno unix.Errno, calls []uint32) {
		for _, call := range calls {
			p.equal(call, 1)
			p.ret(refuse(errno))
		}
	}
	deny(unix.EPERM, denied())
	if !rules.debug {
		deny(unix.EPERM, tracing())
	}
	deny(unix.ENOSYS, missing())
	deny(unix.EOPNOTSUPP, labels())
	if !rules.anonymous {
		deny(unix.ENOSYS, unaccounted())
	}
	families := []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	if rules.unixSockets {
		families = append(families, unix.AF_UNIX)
	}
	p.only(unix.SYS_SOCKET, 0, unix.EAFNOSUPPORT, families...)
	p.only(unix.SYS_SOCKETPAIR, 0, unix.EAFNOSUPPORT, unix.AF_UNIX)
	// Netlink: only what tells the own interfaces.
	p.equal(unix.SYS_SOCKET, 6)
	p.load(argument32(0))
	p.equal(unix.AF_NETLINK, 3)
	p.load(argument32(2))
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, unix.NETLINK_ROUTE)
	p.ret(refuse(unix.EPROTONOSUPPORT))
	p.load(offNumber)
	// Leases: whoever has one makes others wait, or fail, who open the file.
	p.equal(unix.SYS_FCNTL, uint8(4+len(leases())))
	p.load(argument32(1))
	for i, command := range leases() {
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, uint8(len(leases())-i), 0, command)
	}
	p.add(unix.BPF_JMP|unix.BPF_JA, 0, 0, 1)
	p.ret(refuse(unix.EPERM))
	p.load(offNumber)
	p.noSnapshots()
	p.keepsCore()
	for _, c := range firsts() {
		p.equal(c.call, 4)
		p.load(argument32(c.mode))
		p.equal(1, 1)
		p.ret(refuse(unix.EPERM))
		p.load(offNumber)
	}
	// New namespaces by clone.
	p.equal(unix.SYS_CLONE, 4)
	p.load(argument32(0))
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, newSpaces)
	p.ret(refuse(unix.EPERM))
	p.load(offNumber)
	for _, m := range modedCalls() {
		p.plain(m.call, -1, m.mode)
	}
	for _, o := range opensHere() {
		p.plain(o.call, o.mode-1, o.mode)
	}
	// All programs of a user, the first process among them.
	for _, c := range []moded{{unix.SYS_SETPRIORITY, unix.PRIO_USER}, {unix.SYS_IOPRIO_SET, ioprioUser}} {
		p.equal(c.call, 4)
		p.load(argument32(0))
		p.equal(uint32(c.mode), 1)
		p.ret(refuse(unix.EPERM))
		p.load(offNumber)
	}
	personalities := []uint32{0, 8, 0x20000, 0x20008, 0xffffffff}
	if rules.debug {
		personalities = append(personalities, fixedAddresses, 8|fixedAddresses, 0x20000|fixedAddresses, 0x20008|fixedAddresses)
	}
	p.only(unix.SYS_PERSONALITY, 0, unix.EPERM, personalities...)
	p.ret(allow)
	return p
}

// install adds the call that binds the process to the filter. No new
// privileges must be set before.
func (p program) install(s *script) {
	filter := s.put(bytesOf(p))
	prog := make([]byte, 16)
	binary.LittleEndian.PutUint16(prog, uint16(len(p)))
	binary.LittleEndian.PutUint64(prog[8:], uint64(filter))
	at0 := s.put(prog)
	s.fixes = append(s.fixes, at0+8)
	s.do(label{step: stepLock, detail: "the system call filter"}, unix.SYS_SECCOMP, num(unix.SECCOMP_SET_MODE_FILTER), num(0), at(at0))
}
