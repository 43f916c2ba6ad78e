package linked

import (
	"os"
	"syscall"
	"time"
)

// dirState tells whether a directory is as it was, by the time of its last
// change, which no program can set back.
type dirState struct {
	device, inode uint64
	at            syscall.Timespec
}

func stateOf(dir string) (dirState, error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(dir, &st); err != nil {
		return dirState{}, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return dirState{}, errNoDir
	}
	return dirState{uint64(st.Dev), st.Ino, st.Ctim}, nil //nolint:unconvert // the width of Dev differs
}

func (s dirState) changed() time.Time { return time.Unix(s.at.Unix()) }

// openDir neither follows a link nor waits for a pipe that was put there.
func openDir(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
