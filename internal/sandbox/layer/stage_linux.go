package layer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// clean has the upper half hold nothing that does not belong into a live tree: no
// attributes of the overlay, no sockets, pipes and whiteouts, and every directory
// with the permissions that the command gave it. Of one that is live already only its
// content is taken out, for which it has to be open.
func (s *Set) clean(accept func(Change) bool) error {
	for _, path := range s.leftOut {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, c := range slices.Backward(s.Changes) { // what is in a directory before the directory
		if c.ModeOnly && c.After.Mode.IsDir() && c.After.Mode.Perm()&0o700 != 0o700 {
			if err := unix.Chmod(s.File(c), unixMode(c.After.Mode)|0o700); err != nil {
				return err
			}
		}
		if !c.After.Exists() || c.ModeOnly || !accept(c) {
			continue
		}
		if err := s.cleanOne(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) cleanOne(c Change) error {
	path := s.File(c)
	if c.After.Mode&fs.ModeSymlink != 0 {
		return nil // it has neither
	}
	err := stripped(path)
	if errors.Is(err, unix.EACCES) { // who may not write a file may not change its attributes
		if err = unix.Chmod(path, unixMode(c.After.Mode)|0o200); err == nil {
			err = errors.Join(stripped(path), unix.Chmod(path, unixMode(c.After.Mode)))
		}
	}
	if err != nil || !c.After.Mode.IsDir() {
		return err
	}
	return unix.Chmod(path, unixMode(c.After.Mode)) // it may have been opened to be read
}

// copyStage copies what the steps of a tree put in place onto its file system.
func (s *Set) copyStage(ctx context.Context, rec *record, tree int) error {
	k := &copier{ctx: ctx, links: map[identity]string{}}
	for i := range rec.Steps {
		st := &rec.Steps[i]
		if st.Tree != tree || st.Action == mode || !strings.HasPrefix(st.Aside, UpperName+"/") {
			continue
		}
		to := filepath.Join(rec.Trees[tree].Stage, st.Aside)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := k.copy(filepath.Join(rec.Trees[tree].dir, st.Aside), to); err != nil {
			return err
		}
		e, err := place{unix.AT_FDCWD, to}.entry()
		if err != nil {
			return err
		}
		st.New, st.NewTime = e.id, e.mtime.UnixNano()
	}
	return nil
}

// copier copies files with their permissions, times, attributes and further names.
type copier struct {
	ctx   context.Context
	links map[identity]string // where a file with further names was copied to
	left  *allowance          // nil: there is no bound
}

func (k *copier) copy(from, to string) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	e, err := place{unix.AT_FDCWD, from}.entry()
	if err != nil {
		return err
	}
	if first, known := k.links[e.id]; known && !e.Mode.IsDir() {
		return os.Link(first, to)
	}
	if e.Links > 1 && !e.Mode.IsDir() {
		k.links[e.id] = to
	}
	if err := k.left.take(e.Size); err != nil {
		return err
	}
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		err = os.Symlink(e.Target, to)
	case e.Mode.IsDir():
		err = opened(from, func() error { return k.copyDir(from, to) })
	case e.Mode.IsRegular():
		err = readable(from, e, func() error { return k.copyFile(from, to) })
	default:
		return fmt.Errorf("%s is neither a file, a directory nor a link", from)
	}
	if err != nil {
		return err
	}
	return k.attributes(from, to, e)
}

// readable does something with a file that a command may have taken the right away to read.
func readable(path string, e Entry, do func() error) error {
	if e.Mode.Perm()&0o400 != 0 {
		return do()
	}
	if err := unix.Chmod(path, unixMode(e.Mode)|0o400); err != nil {
		return err
	}
	return errors.Join(do(), unix.Chmod(path, unixMode(e.Mode)))
}

func (k *copier) copyDir(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := k.copy(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (k *copier) copyFile(from, to string) (err error) {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return copyData(out, in, info.Size())
}

// copyData copies what a file holds and leaves its holes, which would fill a disk.
func copyData(out, in *os.File, size int64) error {
	for at := int64(0); at < size; {
		data, err := in.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // nothing but a hole is left
		}
		if err != nil {
			return err
		}
		end, err := in.Seek(data, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if _, err := in.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := out.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(out, in, end-data); err != nil {
			return err
		}
		at = end
	}
	return out.Truncate(size)
}

// attributes gives a copy the owner, the attributes, the permissions and the time of
// what was copied, in the order in which none of them undoes another.
func (k *copier) attributes(from, to string, e Entry) error {
	if os.Geteuid() == 0 {
		if err := os.Lchown(to, int(e.Owner.UID), int(e.Owner.GID)); err != nil {
			return err
		}
	}
	if e.Mode&fs.ModeSymlink == 0 {
		if err := copyXattrs(from, to); err != nil {
			return err
		}
		if err := unix.Chmod(to, unixMode(e.Mode)); err != nil {
			return err
		}
	}
	times := []unix.Timespec{unix.NsecToTimespec(e.mtime.UnixNano()), unix.NsecToTimespec(e.mtime.UnixNano())}
	return unix.UtimesNanoAt(unix.AT_FDCWD, to, times, unix.AT_SYMLINK_NOFOLLOW)
}

func copyXattrs(from, to string) error {
	list, err := xattrs(from)
	if err != nil {
		return err
	}
	for _, name := range list {
		size, err := unix.Lgetxattr(from, name, nil)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		buf := make([]byte, size)
		if size, err = unix.Lgetxattr(from, name, buf); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if err := unix.Lsetxattr(to, name, buf[:size], 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// xattrs lists the attributes of a user that a file has.
func xattrs(path string) ([]string, error) {
	buf := make([]byte, 512) // most have none
	size, err := unix.Llistxattr(path, buf)
	if errors.Is(err, unix.ERANGE) {
		buf = make([]byte, 64<<10) // the most that the kernel gives
		size, err = unix.Llistxattr(path, buf)
	}
	if errors.Is(err, unix.ENOTSUP) || err == nil && size == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for name := range strings.SplitSeq(string(buf[:size]), "\x00") {
		if strings.HasPrefix(name, "user.") {
			out = append(out, name)
		}
	}
	return out, nil
}
