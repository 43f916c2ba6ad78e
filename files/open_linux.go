package files

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// On Linux a walk goes by file descriptors, because a tree of many small files
// costs little but system calls and os.Root makes several for each open. It
// keeps what os.Root guarantees by the same means: the first directory is
// opened through the os.Root; from there on every entry is opened by openat
// with a single name out of the listing of its open parent, which holds no
// slash and is neither "." nor "..", and with O_NOFOLLOW. So each step goes
// exactly one level down and never through a link, whatever is renamed
// meanwhile; /proc and full paths are not used.

// openDir is an open directory on a walk.
type openDir struct {
	fd   int
	file *os.File // of the start; it owns the descriptor then
	ok   bool
}

const (
	dirFlags  = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC | syscall.O_NONBLOCK
	fileFlags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC | syscall.O_NONBLOCK | syscall.O_NOCTTY
	pathFlags = 0x200000 | syscall.O_NOFOLLOW | syscall.O_CLOEXEC // O_PATH, which syscall does not name
)

func startDir(root *os.Root) (openDir, error) {
	file, err := root.Open(".")
	if err != nil {
		return openDir{}, err
	}
	return openDir{fd: int(file.Fd()), file: file, ok: true}, nil
}

// openat opens one entry of an open directory.
func openat(dir int, name string, flags int) (int, error) {
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
		return -1, fs.ErrInvalid
	}
	for {
		fd, err := syscall.Openat(dir, name, flags, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}

func (d openDir) openDir(name string) (openDir, error) {
	fd, err := openat(d.fd, name, dirFlags)
	return openDir{fd: fd, ok: err == nil}, err
}

func (d openDir) close() {
	switch {
	case d.file != nil:
		_ = d.file.Close() // it was only read
	case d.ok:
		_ = syscall.Close(d.fd)
	}
}

func statKey(st *syscall.Stat_t) fileKey { return fileKey{uint64(st.Dev), st.Ino} } //nolint:unconvert // the width of Dev differs

// in reports whether the directory is one of those known by identity.
func (d openDir) in(s idSet) bool {
	if len(s.keys) == 0 {
		return false
	}
	var st syscall.Stat_t
	return syscall.Fstat(d.fd, &st) != nil || s.keys[statKey(&st)]
}

func (d openDir) info(e Entry) fs.FileInfo {
	if !e.barred || !e.Type.IsRegular() {
		return nil
	}
	fd, err := openat(d.fd, e.Name, pathFlags)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), e.Name)
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	return info
}

// read lists the directory with getdents.
func (d openDir) read(buf []byte) ([]Entry, error) {
	var entries []Entry
	for {
		n, err := syscall.ReadDirent(d.fd, buf)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return entries, err
		}
		entries = d.parse(entries, string(buf[:n]))
	}
}

// parse reads linux_dirent64 records: inode and offset of 8 bytes each, the
// record's length in 2, the type in 1, and the name up to a NUL. The names
// stay parts of the one text.
func (d openDir) parse(entries []Entry, text string) []Entry {
	const head = 19
	if entries == nil {
		entries = make([]Entry, 0, len(text)/32+1)
	}
	for len(text) > head {
		size := int(binary.NativeEndian.Uint16([]byte{text[16], text[17]}))
		if size < head || size > len(text) {
			break
		}
		name, kind := text[head:size], text[18]
		if end := strings.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		text = text[size:]
		if name != "." && name != ".." {
			entries = append(entries, Entry{Name: name, Type: d.typeOf(name, kind)})
		}
	}
	return entries
}

func (d openDir) typeOf(name string, kind byte) fs.FileMode {
	switch kind {
	case syscall.DT_REG:
		return 0
	case syscall.DT_DIR:
		return fs.ModeDir
	case syscall.DT_LNK:
		return fs.ModeSymlink
	case syscall.DT_UNKNOWN: // some file systems do not say
		if fd, err := openat(d.fd, name, pathFlags); err == nil {
			var st syscall.Stat_t
			err = syscall.Fstat(fd, &st)
			_ = syscall.Close(fd)
			if err == nil && st.Mode&syscall.S_IFMT != 0 {
				return d.typeOf(name, byte(st.Mode>>12))
			}
		}
	}
	return fs.ModeIrregular
}

// Stream is an open file of a [Folder].
type Stream struct {
	Size int64
	fd   int
}

// Read reads as an io.Reader does.
func (s *Stream) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(s.fd, p)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// ReadAt reads as an io.ReaderAt does.
func (s *Stream) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := syscall.Pread(s.fd, p[n:], off+int64(n))
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return n, err
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}

// Close ends the use of the file.
func (s *Stream) Close() error {
	fd := s.fd
	s.fd = -1
	return syscall.Close(fd)
}

func (d openDir) open(f *Handle, name string) (*Stream, error) {
	fd, err := openat(d.fd, name, fileFlags)
	if err != nil {
		return nil, err
	}
	var st syscall.Stat_t
	err = syscall.Fstat(fd, &st)
	switch {
	case err != nil:
	case st.Mode&syscall.S_IFMT != syscall.S_IFREG:
		err = failure(name, "it is not a file", fs.ErrInvalid)
	case f.places().keys[statKey(&st)], st.Nlink > 1 && f.mayBeLinked(statKey(&st)):
		err = protected(name)
	case f.leads().keys[statKey(&st)]: // a further name of what a protected link leads to
		is := func(l *lead) bool { key, _, ok := keyOf(l.info); return ok && key == statKey(&st) && !l.written }
		if l := f.leads().known(is, func(as string) bool { return d.holdsKey(name, as) }); l != nil {
			err = l.refuse(name)
		}
	}
	if err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return &Stream{Size: st.Size, fd: fd}, nil
}

// holdsKey is holdsKey for an entry of this directory.
func (d openDir) holdsKey(name, as string) bool {
	fd, err := openat(d.fd, name, fileFlags)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && sensitive.HoldsKey(as, nil, false)
	}
	var st syscall.Stat_t
	err = syscall.Fstat(fd, &st)
	file := &Stream{fd: fd}
	defer func() { _ = file.Close() }() // it was only read
	switch {
	case err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR:
		return false
	case err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG:
		return sensitive.HoldsKey(as, nil, false)
	}
	return textHoldsKey(as, file)
}

func (f *Handle) mayBeLinked(key fileKey) bool {
	l := f.linked()
	return l.partly || l.keys[key]
}

// moveAt renames an entry of one open directory into another. It unwraps to
// errors.ErrUnsupported where only a copy can do it.
func moveAt(from *os.Root, name string, to *os.Root, as string) error {
	src, err := from.Open(".")
	if err != nil {
		return err
	}
	dst, err := to.Open(".")
	if err != nil {
		return errors.Join(err, src.Close())
	}
	err = syscall.Renameat(int(src.Fd()), name, int(dst.Fd()), as)
	if errors.Is(err, syscall.EXDEV) {
		err = errors.ErrUnsupported
	}
	return errors.Join(err, src.Close(), dst.Close())
}
