//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keeps an open from waiting on a FIFO that was put where a file
// was, and from taking a terminal.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// fileKey is the identity of a file.
type fileKey struct{ dev, ino uint64 }

// keyOf gives the identity of a file and how many names it has.
func keyOf(info fs.FileInfo) (key fileKey, links uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileKey{}, 0, false
	}
	return fileKey{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink), true //nolint:unconvert // the widths differ from system to system
}

// namesOf tells how many names an open file has.
func namesOf(_ *os.File, info fs.FileInfo) (names uint64, ok bool) {
	_, names, ok = keyOf(info)
	return names, ok
}

// keepOwner gives a file the owner of the one it replaces. Only root can give
// files away; for anyone else the new file is theirs, as with every editor
// that replaces files.
func keepOwner(file *os.File, old fs.FileInfo) error {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if err := file.Chown(int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// syncDir makes a change of names survive a power cut.
func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // some file systems have nothing to sync here
	}
	return errors.Join(err, d.Close())
}
