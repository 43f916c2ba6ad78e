//go:build amd64 || arm64

package linux

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// strictly: no symbolic link may lie on the way. A name that was granted must
// not be led elsewhere by whoever can write above it.
const strictly = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// cloneTree makes a detached copy of the mounts at a place.
func cloneTree(path string, recursive bool) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: strictly}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return -1, fmt.Errorf("opening %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	tree, err := openTree(fd, flags)
	if err != nil {
		return -1, fmt.Errorf("copying the mounts of %s: %w", path, err)
	}
	return tree, nil
}

func openTree(fd int, flags uint) (int, error) {
	empty := []byte{0}
	tree, _, errno := unix.Syscall(unix.SYS_OPEN_TREE, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])), uintptr(flags))
	if errno != 0 {
		return -1, errno
	}
	return int(tree), nil
}

// protection is what a mount with all below it must be.
func protection(write, device bool) uint64 {
	set := uint64(unix.MOUNT_ATTR_NOSUID)
	if !write {
		set |= unix.MOUNT_ATTR_RDONLY
	}
	if device {
		return set | unix.MOUNT_ATTR_NOEXEC
	}
	return set | unix.MOUNT_ATTR_NODEV
}

// protect makes it so, and maps the owner of the files.
func protect(tree int, write bool, idmap *os.File) error {
	attr := unix.MountAttr{Attr_set: protection(write, false) | unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(idmap.Fd())}
	return unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr)
}
