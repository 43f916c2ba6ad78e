//go:build amd64 || arm64

package linux

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// What is hidden is covered by one of these: nobody may open them, and nobody
// inside has a capability that would let him. The empty one may be listed.
const (
	coverHome  = "/run/hidden"
	coverFile  = coverHome + "/file"
	coverDir   = coverHome + "/dir"
	coverEmpty = coverHome + "/empty"
)

// cover lays covers over protected places of the granted directories. A place
// under a mount can be neither removed nor renamed, so that covers stay where
// they are.
func (s *script) cover(covers, under []sandbox.Cover) {
	if len(covers)+len(under) == 0 {
		return
	}
	l := label{stepFiles, "making covers"}
	s.mkdir(l, coverHome)
	fd := s.kept(l, unix.SYS_OPENAT, num(unix.AT_FDCWD), s.text(coverFile), num(unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC), num(0))
	s.close(l, fd)
	s.do(l, unix.SYS_MKDIRAT, num(unix.AT_FDCWD), s.text(coverDir), num(0))
	s.do(l, unix.SYS_MKDIRAT, num(unix.AT_FDCWD), s.text(coverEmpty), num(0o555))
	place, tree := s.slot(), s.slot() // closed again and again
	const shut = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	for _, path := range []string{coverFile, coverDir, coverEmpty} {
		// Covered by itself: what is cloned from there is shut as well.
		s.openPlace(l, place, path)
		s.clone(l, tree, path)
		s.setattr(l, tree, "", unix.AT_EMPTY_PATH, shut)
		s.moveMount(l, tree, place)
	}
	s.lay(append(slices.Clone(under), covers...))
}

// lay lays covers over their places, outer ones first.
func (s *script) lay(covers []sandbox.Cover) {
	seen := s.put(make([]byte, 144)) // a struct stat
	place, tree := s.slot(), s.slot()
	for _, c := range covers {
		l := label{stepCover, c.Path}
		s.openPlace(l, place, c.Path)
		if c.ID != (sandbox.FileID{}) {
			// What was looked at must be what is covered: in the meantime
			// something else may have been put in its place.
			s.do(l, unix.SYS_FSTAT, place, at(seen))
			s.do(l, callSame, num(int(c.ID.Device)), num(int(c.ID.Inode))).store = seen
		}
		switch {
		case c.Kind != sandbox.Hide:
			const self = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
			s.do(l, unix.SYS_OPEN_TREE, place, s.text(""), num(self)).keep = uint16(tree.value)
			if c.Kind == sandbox.Fix {
				s.setattr(l, tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY)
			}
		case c.Dir && c.Empty:
			s.clone(l, tree, coverEmpty)
		case c.Dir:
			s.clone(l, tree, coverDir)
		default:
			s.clone(l, tree, coverFile)
		}
		s.moveMount(l, tree, place)
	}
}

// check: each cover must be seen from the root. While they were laid somebody
// outside may have moved a directory to where its covers are not.
func (s *script) check(covers []sandbox.Cover) {
	attributes := s.put(make([]byte, 256)) // a struct statx
	for _, c := range covers {
		l := label{stepCover, c.Path}
		s.do(l, unix.SYS_STATX, num(unix.AT_FDCWD), s.text(c.Path), num(unix.AT_SYMLINK_NOFOLLOW), num(0), at(attributes))
		s.do(l, callMounted).store = attributes
	}
}

// ready looks whether all covers lie where they belong, and reports that.
func (s *script) ready(covers []sandbox.Cover) {
	if len(covers) == 0 {
		return
	}
	s.check(covers)
	report := aReport(reportReady, 0)
	s.do(label{stepFiles, "telling that the covers are laid"}, unix.SYS_WRITE, num(reportAt), at(s.put(report)), num(len(report)))
}

// aReport is a report as it is sent.
func aReport(kind, first uint32) []byte {
	report := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), first)
	return append(report, make([]byte, 8)...)
}

// withFile is a message with a report and the descriptor that the last call gives.
func (s *script) withFile(kind, first uint32) (message arg) {
	rights := s.put(make([]byte, 24)) // a struct cmsghdr and a descriptor
	s.calls[len(s.calls)-1].store = rights + 16
	binary.LittleEndian.PutUint64(s.data[rights:], 20)
	binary.LittleEndian.PutUint32(s.data[rights+8:], unix.SOL_SOCKET)
	binary.LittleEndian.PutUint32(s.data[rights+12:], unix.SCM_RIGHTS)
	report := aReport(kind, first)
	vector := s.put(make([]byte, 16)) // a struct iovec
	s.point(vector, s.put(report))
	binary.LittleEndian.PutUint64(s.data[vector+8:], uint64(len(report)))
	header := s.put(make([]byte, 56)) // a struct msghdr
	s.point(header+16, vector)
	binary.LittleEndian.PutUint64(s.data[header+24:], 1)
	s.point(header+32, rights)
	binary.LittleEndian.PutUint64(s.data[header+40:], 24)
	return at(header)
}

// openPlace opens where a cover goes; no link may lie on the way. The place
// itself may be one: then the link is covered, and cannot be led elsewhere.
func (s *script) openPlace(l label, to arg, path string) {
	s.openat2(l, path, unix.O_NOFOLLOW, strictly)
	s.slots-- // not one of its own: there may be many covers
	s.calls[len(s.calls)-1].keep = uint16(to.value)
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

// covered waits until the covers are laid: before that no byte goes to the
// program. The error is that of the script.
func (r *run) covered(ctx context.Context, s *script, c *child) error {
	if len(r.job.checked()) == 0 {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { _ = c.kill() }) // what comes of it shows at the end
	defer stop()
	told, file, err := receiveReport(r.report)
	for err == nil && told.kind == reportSocket {
		r.network.serve(told.first, file)
		told, file, err = receiveReport(r.report)
	}
	if err == nil && told.kind == reportFailed {
		<-c.ended
		return s.failure(told.first, told.second)
	}
	return nil
}

// maxStarts bounds how often a program is started anew because the place of a
// cover had moved.
const maxStarts = 6

// movedPlace gives the place of a cover that was not there any more, or not
// the one that was looked at.
func movedPlace(err error) (string, bool) {
	failed, ok := errors.AsType[*scriptError](err)
	if !ok || failed.label.step != stepCover {
		return "", false
	}
	switch failed.errno {
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ESTALE, unix.EINVAL: // EINVAL: a directory where a file was
		return failed.label.detail, true
	}
	return "", false
}
