//go:build amd64 || arm64

package linux

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A script is a list of system calls that a new process makes between its
// birth and the program it becomes. It is written here, in Go, and carried out
// by a process that was forked and has no runtime any more, so it may contain
// nothing but calls, numbers, pointers into its own data, and results of
// earlier calls.
//
// That is much faster than starting an executable of ours in the namespaces,
// which has to initialize every package it was linked with first.
type script struct {
	calls  []call
	data   []byte   // what pointers point to; the first byte is not used
	fixes  []uint32 // where in data an offset stands that has to become a pointer
	labels []label  // one for each call
	slots  int
}

// call is one system call in the form in which it is sent.
type call struct {
	number   uint32
	kinds    [6]uint8 // of the arguments
	tolerate uint16   // this error is none; then skip calls are left out
	skip     uint16
	keep     uint16 // the slot for the result, zero for none
	store    uint32 // where in data to put the result as well, zero for nowhere
	args     [6]uint64
}

// anyError is tolerated by a call that a program can be started without.
const anyError = 0xffff

// The kinds of arguments.
const (
	kindNumber = iota
	kindData   // an offset in data
	kindSlot   // the result of an earlier call
	kindFile   // the number of a file that was sent along
)

// callFork is not a system call: the first process of the namespace forks the
// program, which goes on with the script, and tends it.
const callFork = 0xffff0001

// callTie is not one either: the process is to die with the keeper from here
// on. A change of rights undoes it, so it is called again after each.
const callTie = 0xffff0002

// callSame is not one either: it fails with ESTALE if the struct stat in store
// is not of the device and inode that it is given.
const callSame = 0xffff0003

// callMounted is not one either: it fails with ESTALE if the struct statx in
// store is not of something that is mounted.
const callMounted = 0xffff0004

// label says what a call is for.
type label struct{ step, detail string }

// arg is an argument under construction.
type arg struct {
	kind  uint8
	value uint64
}

func num(n int) arg        { return arg{kindNumber, uint64(n)} }
func file(n int) arg       { return arg{kindFile, uint64(n)} }
func at(offset uint32) arg { return arg{kindData, uint64(offset)} }

// put adds bytes to the data, aligned so that it can hold any structure.
func (s *script) put(b []byte) uint32 {
	for len(s.data) == 0 || len(s.data)%8 != 0 {
		s.data = append(s.data, 0)
	}
	offset := uint32(len(s.data))
	s.data = append(s.data, b...)
	return offset
}

func (s *script) text(t string) arg { return at(s.put(append([]byte(t), 0))) }

// pointers adds an array of pointers to texts, as argv is one.
func (s *script) pointers(texts []string) arg {
	offsets := make([]uint32, len(texts))
	for i, t := range texts {
		offsets[i] = s.put(append([]byte(t), 0))
	}
	array := s.put(make([]byte, 8*(len(texts)+1)))
	for i, o := range offsets {
		s.point(array+uint32(8*i), o)
	}
	return at(array)
}

// point puts a pointer to an offset of the data into the data.
func (s *script) point(from, to uint32) {
	binary.LittleEndian.PutUint64(s.data[from:], uint64(to))
	s.fixes = append(s.fixes, from)
}

// do adds a call. The result can be changed until the next is added.
func (s *script) do(l label, number uint32, args ...arg) *call {
	c := call{number: number}
	for i, a := range args {
		c.kinds[i], c.args[i] = a.kind, a.value
	}
	s.calls = append(s.calls, c)
	s.labels = append(s.labels, l)
	return &s.calls[len(s.calls)-1]
}

// slot gives a place for results that nothing else uses.
func (s *script) slot() arg {
	s.slots++
	return arg{kindSlot, uint64(s.slots)}
}

// kept is do for a call whose result is needed later.
func (s *script) kept(l label, number uint32, args ...arg) arg {
	to := s.slot()
	s.do(l, number, args...).keep = uint16(to.value)
	return to
}

func (s *script) close(l label, fd arg) { s.do(l, unix.SYS_CLOSE, fd) }

func (s *script) mount(l label, source, target, kind string, flags int, options string) {
	opts := num(0)
	if options != "" {
		opts = s.text(options)
	}
	s.do(l, unix.SYS_MOUNT, s.text(source), s.text(target), s.text(kind), num(flags), opts)
}

func (s *script) prctl(l label, args ...int) *call {
	list := make([]arg, 5)
	for i := range list {
		list[i] = num(0)
		if i < len(args) {
			list[i] = num(args[i])
		}
	}
	return s.do(l, unix.SYS_PRCTL, list...)
}

// mkdir makes a directory; one that is there already is as good.
func (s *script) mkdir(l label, path string) {
	s.do(l, unix.SYS_MKDIRAT, num(unix.AT_FDCWD), s.text(path), num(0o755)).tolerate = uint16(unix.EEXIST)
}

func (s *script) symlink(l label, target, path string) {
	s.do(l, unix.SYS_SYMLINKAT, s.text(target), num(unix.AT_FDCWD), s.text(path))
}

func (s *script) writeFile(l label, path, content string) {
	fd := s.kept(l, unix.SYS_OPENAT, num(unix.AT_FDCWD), s.text(path), num(unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC), num(0o444))
	if content != "" {
		s.do(l, unix.SYS_WRITE, fd, at(s.put([]byte(content))), num(len(content)))
	}
	s.close(l, fd)
}

// openat2 opens a place without reading it.
func (s *script) openat2(l label, path string, flags, resolve uint64) arg {
	how := make([]byte, 24)
	binary.LittleEndian.PutUint64(how, unix.O_PATH|unix.O_CLOEXEC|flags)
	binary.LittleEndian.PutUint64(how[16:], resolve)
	return s.kept(l, unix.SYS_OPENAT2, num(unix.AT_FDCWD), s.text(path), at(s.put(how)), num(len(how)))
}

// setattr is mount_setattr.
func (s *script) setattr(l label, fd arg, path string, flags int, set uint64) {
	attr := make([]byte, 32)
	binary.LittleEndian.PutUint64(attr, set)
	s.do(l, unix.SYS_MOUNT_SETATTR, fd, s.text(path), num(flags), at(s.put(attr)), num(len(attr)))
}
