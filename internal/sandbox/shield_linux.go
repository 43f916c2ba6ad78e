package sandbox

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dirState tells whether a directory is the same as before. The time is that
// of its last change, which no program can set back.
type dirState struct {
	device, inode uint64
	changed       int64
}

func stateOf(dir string) (dirState, error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return dirState{}, &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return dirState{}, fs.ErrNotExist // it was one a moment ago
	}
	return dirState{device: st.Dev, inode: st.Ino, changed: st.Ctim.Nano()}, nil
}

// settled: a kernel tells times in steps of some milliseconds. What changed
// just now may change again within the same step.
func (d dirState) settled() bool {
	return time.Now().UnixNano()-d.changed > int64(time.Second)
}

func (d dirState) number() FileID { return FileID{Device: d.device, Inode: d.inode} }

// idAt asks for the rest of it, if the directory is still there. Otherwise nothing
// will be taken for it later.
func (d dirState) idAt(dir string) FileID {
	if facts, err := factsOf(dir); err == nil && facts.id.Number() == d.number() {
		return facts.id
	}
	return d.number()
}

// fileFacts is what is asked of a file, a directory or a link.
type fileFacts struct {
	id                 FileID
	dir, link, regular bool
	names              uint64
	size, changed      int64
}

func factsOf(path string) (fileFacts, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return fileFacts{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	kind := st.Mode & unix.S_IFMT
	return fileFacts{
		id: identify(unix.AT_FDCWD, path, &st), dir: kind == unix.S_IFDIR, link: kind == unix.S_IFLNK, regular: kind == unix.S_IFREG,
		names: uint64(st.Nlink), size: int64(st.Size), changed: st.Ctime.Sec*int64(time.Second) + int64(st.Ctime.Nsec),
	}, nil
}

// identify gives what tells a file from all others, also from those that are gone.
func identify(dir int, name string, st *unix.Statx_t) FileID {
	id := FileID{Device: unix.Mkdev(st.Dev_major, st.Dev_minor), Inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 && (st.Dev_major != 0 || keepsBirth(dir, name)) {
		id.Born = st.Btime.Sec*int64(time.Second) + int64(st.Btime.Nsec)
	}
	return id
}

// keepsBirth tells whether a file system without a device of its own tells the time
// of birth and no program can change it. Layers of a container are none: there a file
// is born anew when it is first written.
func keepsBirth(dir int, name string) bool {
	const zfs, bcachefs = 0x2fc12fc1, 0xca451a4e
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }() // it was only looked at
	var on unix.Statfs_t
	if unix.Fstatfs(fd, &on) != nil {
		return false
	}
	switch on.Type {
	case unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, zfs, bcachefs:
		return true
	}
	return false
}

// readEntries reads a directory that must be the one whose state is known. The
// standard library does not give the numbers of files, and asks for each name.
func readEntries(dir string, state dirState, most int) ([]entry, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // it was only read
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Dev != state.device || st.Ino != state.inode {
		return nil, fs.ErrNotExist // another one by now
	}
	var list []entry
	buffer := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, buffer)
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: dir, Err: err}
		}
		if n <= 0 {
			return list, nil
		}
		for rest := buffer[:n]; len(rest) > 0; {
			var e entry
			var ok bool
			if e, rest, ok = nextEntry(rest); !ok {
				return nil, &fs.PathError{Op: "readdir", Path: dir, Err: unix.EIO}
			}
			if e.kind == fs.ModeIrregular { // the file system does not say
				facts, err := os.Lstat(dir + "/" + e.name)
				if err != nil {
					continue // it went away
				}
				e.kind = facts.Mode().Type()
			}
			if e.name != "." && e.name != ".." {
				list = append(list, e)
			}
		}
		if len(list) > most {
			return nil, errCrowded
		}
	}
}

// nextEntry reads a struct linux_dirent64.
func nextEntry(text []byte) (e entry, rest []byte, ok bool) {
	const name = 19
	if len(text) < name {
		return e, nil, false
	}
	size := int(binary.NativeEndian.Uint16(text[16:]))
	if size <= name || size > len(text) {
		return e, nil, false
	}
	e.inode = binary.NativeEndian.Uint64(text)
	before, _, _ := bytes.Cut(text[name:size], []byte{0})
	e.name = string(before)
	switch text[18] {
	case unix.DT_REG:
	case unix.DT_DIR:
		e.kind = fs.ModeDir
	case unix.DT_LNK:
		e.kind = fs.ModeSymlink
	case unix.DT_SOCK:
		e.kind = fs.ModeSocket
	case unix.DT_FIFO:
		e.kind = fs.ModeNamedPipe
	case unix.DT_CHR, unix.DT_BLK:
		e.kind = fs.ModeDevice
	default:
		e.kind = fs.ModeIrregular
	}
	return e, text[size:], true
}

// noWait opens a pipe without waiting for somebody at its other end.
const noWait = unix.O_NONBLOCK

// fileState tells whether a file is the same as before, by the time that no
// program can set back.
type fileState struct {
	dirState
	size int64
}

// stateOfFile does not wait for what is no file.
func stateOfFile(file string) (state fileState, regular bool, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(file, &st); err != nil {
		return fileState{}, false, &fs.PathError{Op: "lstat", Path: file, Err: err}
	}
	return fileState{dirState{device: st.Dev, inode: st.Ino, changed: st.Ctim.Nano()}, st.Size}, st.Mode&unix.S_IFMT == unix.S_IFREG, nil
}
