//go:build amd64 || arm64

package linux

import (
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Landlock is the second lock behind the mounts: should a way around them be
// found, files are still only those below the paths given here.

const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// writeRights leaves out making devices, which nothing in a sandbox needs, and
	// making sockets: a name that two programs see is a way to hand over open files,
	// and those outlive what was covered for whoever opened them.
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockABI asks the kernel; zero means there is none.
func landlockABI() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// handled is what a kernel of this ABI can restrict.
func handled(abi int) (files, scope uint64) {
	files = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	if abi >= 2 {
		files |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		files |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		files |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= scopingABI {
		scope = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return files, scope
}

// scopingABI is the first that keeps abstract sockets and signals inside.
const scopingABI = 6

// confine adds the calls that bind the process to rules. No new privileges
// must be set before.
func (s *script) confine(j *job) {
	if j.landlock == 0 {
		return // a kernel without Landlock: the mounts hold alone
	}
	l := label{step: stepLock, detail: "Landlock"}
	files, scope := handled(j.landlock)
	attr := binary.LittleEndian.AppendUint64(nil, files)
	attr = binary.LittleEndian.AppendUint64(attr, 0)
	attr = binary.LittleEndian.AppendUint64(attr, scope) // a kernel that knows less accepts zeros
	ruleset := s.kept(l, unix.SYS_LANDLOCK_CREATE_RULESET, at(s.put(attr)), num(len(attr)), num(0))
	for _, r := range rules(j) {
		l.detail = "Landlock for " + r.path
		fd := s.kept(l, unix.SYS_OPENAT, num(unix.AT_FDCWD), s.text(r.path), num(unix.O_PATH|unix.O_CLOEXEC), num(0))
		rule := s.put(make([]byte, 12))
		binary.LittleEndian.PutUint64(s.data[rule:], r.rights&files)
		s.calls[len(s.calls)-1].store = rule + 8 // the descriptor belongs into the rule
		s.do(l, unix.SYS_LANDLOCK_ADD_RULE, ruleset, num(unix.LANDLOCK_RULE_PATH_BENEATH), at(rule), num(0))
		s.close(l, fd)
	}
	l.detail = "Landlock"
	s.do(l, unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, num(0))
	s.close(l, ruleset)
}

type rule struct {
	path   string
	rights uint64
}

func rules(j *job) []rule {
	list := []rule{
		{"/", unix.LANDLOCK_ACCESS_FS_READ_DIR}, {"/tmp", privateRights(j, "/tmp", "/var/tmp")}, {"/dev/shm", privateRights(j, "/dev/shm")}, {"/etc", readRights},
		{"/proc", readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE}, {"/dev", readRights},
	}
	for _, b := range j.binds {
		switch {
		case b.device:
			list = append(list, rule{b.target, fileRights})
		case b.write, b.over != nil && b.over.write:
			list = append(list, rule{b.target, writeRights})
		case !strings.HasPrefix(b.target, "/etc/"): // those are below /etc
			list = append(list, rule{b.target, readRights})
		}
	}
	return list
}

// privateRights are those of a directory that no other program sees: sockets can
// be made there, unless something granted lies below it, by any of its names.
func privateRights(j *job, names ...string) uint64 {
	if slices.ContainsFunc(j.binds, func(b bind) bool {
		return (b.write || b.over != nil) && slices.ContainsFunc(names, func(dir string) bool { return b.target == dir || strings.HasPrefix(b.target, dir+"/") })
	}) {
		return writeRights
	}
	return writeRights | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
}
