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

// leases are the commands of fcntl that take one; the second came with 6.19.
func leases() []uint32 { return []uint32{unix.F_SETLEASE, 1024 + 16} }

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
	p.call("ioctl", uint8(7+len(copying())))
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
	p.call("setrlimit", 4)
	p.load(argument32(0))
	p.equal(unix.RLIMIT_CORE, 1)
	p.ret(refuse(0))
	p.load(offNumber)
	p.call("prlimit64", 8)
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
	anonymous   bool // allow memory without an owner: a cgroup counts it
}

// program is a filter under construction.
type program struct {
	list    []unix.SockFilter
	at      int // the architecture's place in the table
	numbers map[string][2]int32
}

func (p *program) add(code uint16, jt, jf uint8, k uint32) {
	p.list = append(p.list, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }
func (p *program) ret(value uint32)   { p.add(unix.BPF_RET|unix.BPF_K, 0, 0, value) }

// call goes on with the next instruction if the call is the named one, else skips. It
// is for calls that every architecture has.
func (p *program) call(name string, skip uint8) {
	if !p.has(name, skip) {
		panic("this architecture has no call " + name) // a test builds every filter
	}
}

// has is call for one that an architecture may lack: then nothing is added.
func (p *program) has(name string, skip uint8) bool {
	number, known := p.numbers[name]
	if !known {
		panic("the table has no call " + name)
	}
	if number[p.at] < 0 {
		return false
	}
	p.equal(uint32(number[p.at]), skip)
	return true
}

// equal goes on with the next instruction if the loaded word is k, else skips.
func (p *program) equal(k uint32, skip uint8) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, skip, k)
}

// only refuses a call unless an argument is one of some values. Arguments the
// kernel takes as int are compared as such: the upper half is ignored by both.
func (p *program) only(call string, argument int, errno unix.Errno, values ...uint32) {
	p.call(call, uint8(3+len(values)))
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

// creating are flags of open by which it takes a mode.
const creating = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// plain refuses modes with elevating bits. flags is where the flags of an open
// stand, negative for a call that always takes the mode.
func (p *program) plain(call string, flags, mode int) {
	skip := uint8(4)
	if flags >= 0 {
		skip = 6
	}
	if !p.has(call, skip) {
		return
	}
	if flags >= 0 {
		p.load(argument32(flags))
		p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 3, creating)
	}
	p.load(argument32(mode))
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, elevating)
	p.ret(refuse(unix.EPERM))
	p.load(offNumber)
}

// filter assembles the whole.
func filter(a arch, rules filterRules) program {
	p := program{at: a.at, numbers: numbers()}
	p.load(offArch)
	p.equal(a.audit, 1)
	p.add(unix.BPF_JMP|unix.BPF_JA, 0, 0, 1)
	p.ret(refuse(unix.ENOSYS))
	p.load(offNumber)
	p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, x32Numbers)
	p.ret(refuse(unix.ENOSYS))
	deny := func(errno unix.Errno, calls []string) {
		for _, call := range calls {
			if p.has(call, 1) {
				p.ret(refuse(errno))
			}
		}
	}
	deny(unix.EPERM, denied())
	deny(unix.ENOSYS, missing())
	deny(unix.EOPNOTSUPP, labels())
	if !rules.anonymous {
		deny(unix.ENOSYS, unaccounted())
	}
	families := []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	if rules.unixSockets {
		families = append(families, unix.AF_UNIX)
	}
	p.only("socket", 0, unix.EAFNOSUPPORT, families...)
	p.only("socketpair", 0, unix.EAFNOSUPPORT, unix.AF_UNIX)
	// Netlink: only what tells the own interfaces.
	p.call("socket", 6)
	p.load(argument32(0))
	p.equal(unix.AF_NETLINK, 3)
	p.load(argument32(2))
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, unix.NETLINK_ROUTE)
	p.ret(refuse(unix.EPROTONOSUPPORT))
	p.load(offNumber)
	// Leases: whoever has one makes others wait, or fail, who open the file.
	p.call("fcntl", uint8(4+len(leases())))
	p.load(argument32(1))
	for i, command := range leases() {
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, uint8(len(leases())-i), 0, command)
	}
	p.add(unix.BPF_JMP|unix.BPF_JA, 0, 0, 1)
	p.ret(refuse(unix.EPERM))
	p.load(offNumber)
	p.noSnapshots()
	p.keepsCore()
	// New namespaces by clone.
	p.call("clone", 4)
	p.load(argument32(0))
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, newSpaces)
	p.ret(refuse(unix.EPERM))
	p.load(offNumber)
	for _, m := range modedCalls() {
		p.plain(m.call, -1, m.mode)
	}
	for _, o := range opens() {
		p.plain(o.call, o.mode-1, o.mode)
	}
	// Debuggers want memory in the same places each time.
	p.only("personality", 0, unix.EPERM, 0, 8, 0x20000, 0x20008, 0xffffffff, fixedAddresses, 8|fixedAddresses, 0x20000|fixedAddresses, 0x20008|fixedAddresses)
	p.ret(allow)
	return p
}

// install adds the call that binds the process to the filter. No new
// privileges must be set before.
func (p program) install(s *script) {
	filter := s.put(bytesOf(p.list))
	prog := make([]byte, 16)
	binary.LittleEndian.PutUint16(prog, uint16(len(p.list)))
	binary.LittleEndian.PutUint64(prog[8:], uint64(filter))
	at0 := s.put(prog)
	s.fixes = append(s.fixes, at0+8)
	s.do(label{step: stepLock, detail: "the system call filter"}, unix.SYS_SECCOMP, num(unix.SECCOMP_SET_MODE_FILTER), num(0), at(at0))
}
