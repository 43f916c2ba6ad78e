//go:build amd64 || arm64

package linux

import (
	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// What is hidden is covered by one of these: nobody may open them, and nobody
// inside has a capability that would let him.
const (
	coverHome = "/run/hidden"
	coverFile = coverHome + "/file"
	coverDir  = coverHome + "/dir"
)

// cover lays covers over protected places of the granted directories. A place
// under a mount can be neither removed nor renamed, so that covers stay where
// they are.
func (s *script) cover(covers []sandbox.Cover) {
	if len(covers) == 0 {
		return
	}
	l := label{stepFiles, "making covers"}
	s.mkdir(l, coverHome)
	fd := s.kept(l, unix.SYS_OPENAT, num(unix.AT_FDCWD), s.text(coverFile), num(unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC), num(0))
	s.close(l, fd)
	s.do(l, unix.SYS_MKDIRAT, num(unix.AT_FDCWD), s.text(coverDir), num(0))
	place, tree := s.slot(), s.slot()
	const shut = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	for _, path := range []string{coverFile, coverDir} {
		// Covered by itself: what is cloned from there is shut as well.
		s.openPlace(l, place, path)
		s.clone(l, tree, path)
		s.setattr(l, tree, "", unix.AT_EMPTY_PATH, shut)
		s.moveMount(l, tree, place)
	}
	for _, c := range covers {
		l.detail = "covering " + c.Path
		found := s.openPlace(l, place, c.Path)
		first := len(s.calls)
		switch {
		case c.Kind != sandbox.Hide:
			const self = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
			s.do(l, unix.SYS_OPEN_TREE, place, s.text(""), num(self)).keep = uint16(tree.value)
			if c.Kind == sandbox.Fix {
				s.setattr(l, tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY)
			}
		case c.Dir:
			s.clone(l, tree, coverDir)
		default:
			s.clone(l, tree, coverFile)
		}
		s.moveMount(l, tree, place)
		// What is gone by now needs no cover.
		s.calls[found].tolerate, s.calls[found].skip = uint16(unix.ENOENT), uint16(len(s.calls)-first)
	}
}

// openPlace opens where a cover goes; no link may lie on the way. It gives the
// index of the call.
func (s *script) openPlace(l label, to arg, path string) int {
	s.openat2(l, path, strictly)
	s.slots-- // not one of its own: there may be many covers
	s.calls[len(s.calls)-1].keep = uint16(to.value)
	return len(s.calls) - 1
}

func (s *script) clone(l label, to arg, path string) {
	const flags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC
	s.do(l, unix.SYS_OPEN_TREE, num(unix.AT_FDCWD), s.text(path), num(flags)).keep = uint16(to.value)
}

// moveMount attaches a mount and closes both descriptors.
func (s *script) moveMount(l label, tree, to arg) {
	s.do(l, unix.SYS_MOVE_MOUNT, tree, s.text(""), to, s.text(""), num(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
	s.close(l, tree)
	s.close(l, to)
}
