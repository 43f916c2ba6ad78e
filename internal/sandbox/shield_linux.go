package sandbox

import (
	"io/fs"
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

// hasFurtherNames tells whether a file can be reached by another name too.
func hasFurtherNames(file string) (bool, error) {
	var st unix.Stat_t
	if err := unix.Lstat(file, &st); err != nil {
		return false, &fs.PathError{Op: "lstat", Path: file, Err: err}
	}
	return st.Nlink > 1, nil
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
