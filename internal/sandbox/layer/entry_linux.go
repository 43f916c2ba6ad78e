package layer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// place is a directory that is open, and a name in it. Links are never followed.
type place struct {
	dir  int
	name string
}

// entry looks at a place. Nothing there is the zero Entry.
func (p place) entry() (Entry, error) {
	var st unix.Stat_t
	switch err := unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return Entry{}, nil
	case err != nil:
		return Entry{}, fmt.Errorf("looking at %q: %w", p.name, err)
	}
	e := entryOf(&st)
	if e.Mode&fs.ModeSymlink != 0 {
		var err error
		if e.Target, err = readlink(p); err != nil {
			return Entry{}, err
		}
	}
	return e, nil
}

// special is a permission that has another number here.
type special struct {
	unix uint32
	mode fs.FileMode
}

func specialBits() [3]special {
	return [3]special{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}}
}

func entryOf(st *unix.Stat_t) Entry {
	e := Entry{
		Mode: fs.FileMode(st.Mode & 0o777), Links: uint64(st.Nlink), Owner: Owner{UID: st.Uid, GID: st.Gid}, //nolint:unconvert // the width of Nlink differs
		id: identity{Device: uint64(st.Dev), Inode: st.Ino}, mtime: time.Unix(st.Mtim.Unix()), ctime: time.Unix(st.Ctim.Unix()), //nolint:unconvert // the width of Dev differs
	}
	for _, b := range specialBits() {
		if st.Mode&b.unix != 0 {
			e.Mode |= b.mode
		}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Size = st.Size
	case unix.S_IFDIR:
		e.Mode |= fs.ModeDir
	case unix.S_IFLNK:
		e.Mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		e.Mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		e.Mode |= fs.ModeSocket
	case unix.S_IFCHR:
		e.Mode |= fs.ModeDevice | fs.ModeCharDevice
		if st.Rdev == 0 {
			e.Target = whiteout
		}
	default:
		e.Mode |= fs.ModeDevice
	}
	return e
}

// whiteout marks an Entry that stands for "nothing is here" in the upper half. It
// is no name that a link could lead to.
const whiteout = "\x00whiteout"

func (e Entry) whiteout() bool { return e.Mode&fs.ModeCharDevice != 0 && e.Target == whiteout }

// is tells whether a file is the one that a step names. A file may lie on another device
// than the top of its tree, without another mount (on an overlay over several file systems,
// in a subvolume of btrfs), and no number of a device outlives a restart of the machine.
func (e Entry) is(id identity) bool { return e.id.Inode == id.Inode }

// same tells whether nobody has changed what was seen.
func (e Entry) same(now Entry) bool {
	return e.id == now.id && e.ctime.Equal(now.ctime) && e.Mode == now.Mode && e.Size == now.Size
}

// moved is same for what was renamed since, which changes its ctime.
func (e Entry) moved(now Entry) bool {
	return e.id == now.id && e.Mode == now.Mode && e.Size == now.Size && (e.Mode.IsDir() || e.mtime.Equal(now.mtime)) && e.Target == now.Target
}

func readlink(p place) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(p.dir, p.name, buf)
		if err != nil {
			return "", fmt.Errorf("reading the link %q: %w", p.name, err)
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// unixMode is what chmod takes.
func unixMode(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	for _, b := range specialBits() {
		if m&b.mode != 0 {
			mode |= b.unix
		}
	}
	return mode
}

// openRoot opens the top of a tree.
func openRoot(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, fmt.Errorf("opening %s: %w", path, err)
	}
	return fd, nil
}

// openBelow opens a directory below one that is open. No link may lie on the way,
// and no other file system.
func openBelow(dir int, rel string) (int, error) {
	if rel == "" {
		rel = "."
	}
	return unix.Openat2(dir, rel, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	})
}

// openToLook opens a directory to see what is in it. One that can be read and not searched
// can be opened, but not even its list could be had through the descriptor.
func openToLook(p place) (int, error) {
	fd, err := openBelow(p.dir, p.name)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(fd, ".", &st, 0); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// names lists an open directory.
func names(dir int) ([]string, error) {
	again, err := openBelow(dir, ".") // with an offset of its own
	if err != nil {
		return nil, fmt.Errorf("listing a directory: %w", err)
	}
	defer unix.Close(again) //nolint:errcheck // it was only read
	var out []string
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(again, buf)
		if err != nil {
			return nil, fmt.Errorf("listing a directory: %w", err)
		}
		if n == 0 {
			return out, nil
		}
		for rest := buf[:n]; len(rest) > 0; {
			used, _, found := unix.ParseDirent(rest, -1, nil)
			out = append(out, found...)
			rest = rest[used:]
		}
	}
}

// overlayPrefix begins the attributes that the kernel puts on files of a layer.
const overlayPrefix = "user.overlay."

// opaque tells whether a directory of the upper half hides what lies below it.
func opaque(dir int) (bool, error) {
	buf := make([]byte, 8)
	n, err := unix.Fgetxattr(dir, overlayPrefix+"opaque", buf)
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading an attribute: %w", err)
	}
	// "x" says that the directory may hold whiteouts in the form of attributes,
	// which this format never makes.
	return string(buf[:n]) == "y", nil
}

// stripped removes the attributes of the overlay from a file, so that they are
// never seen outside.
func stripped(path string) error {
	list, err := xattrs(path)
	if err != nil {
		return err
	}
	for _, name := range list {
		if strings.HasPrefix(name, overlayPrefix) {
			if err := unix.Lremovexattr(path, name); err != nil {
				return fmt.Errorf("removing %s: %w", name, err)
			}
		}
	}
	return nil
}
