package files

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// ErrChanged says that a file is not what it was when it was last looked at.
var ErrChanged = errors.New("changed meanwhile")

// Stamp tells one state of a file from another. The zero Stamp is that of
// nothing: no file there.
type Stamp struct {
	Sum     [sha256.Size]byte
	Size    int64
	ModTime time.Time
}

// StampOf is the stamp of a content.
func StampOf(data []byte) Stamp { return Stamp{Sum: sha256.Sum256(data), Size: int64(len(data))} }

// Same reports whether two stamps are of the same content.
func (s Stamp) Same(t Stamp) bool { return s.Sum == t.Sum && s.Size == t.Size }

// Real gives the absolute path that a name leads to: inside a granted
// directory, after links. Neither the entry nor the directories on the way to
// it need exist.
func (f *Handle) Real(name string) (string, error) {
	var path string
	err := f.at(name, aim{maybe: true}, func(s *spot) error {
		path = s.path()
		return nil
	})
	return path, err
}

// Check tells whether a name is within reach, to be read or to be written; link: a
// link at its end is meant itself. Nothing need be there, and nothing is done.
func (f *Handle) Check(name string, write, link bool) error {
	return f.at(name, aim{write: write, link: link, maybe: true}, (*spot).checked)
}

// checked looks at what was found once more: it may be a protected file by another name.
func (s *spot) checked() error {
	if s.info == nil || !s.info.Mode().IsRegular() || s.to.link {
		return nil
	}
	if _, names, ok := keyOf(s.info); ok && names < 2 {
		return nil
	}
	file, _, err := s.open()
	switch {
	case err == nil:
		return file.Close()
	case errors.Is(err, ErrProtected), errors.Is(err, errSwapped):
		return err
	}
	return nil // who cannot open it learns that by opening it
}

// Stat tells what a name stands for, after links.
func (f *Handle) Stat(name string) (fs.FileInfo, error) { return f.stat(name, aim{}) }

// Lstat tells what a name stands for; a link at its end is told of itself.
func (f *Handle) Lstat(name string) (fs.FileInfo, error) { return f.stat(name, aim{link: true}) }

func (f *Handle) stat(name string, to aim) (fs.FileInfo, error) {
	var info fs.FileInfo
	err := f.at(name, to, func(s *spot) error {
		info = s.info
		return nil
	})
	return info, err
}

// Open opens a regular file for reading. Directories, devices, FIFOs and
// sockets are refused, and never waited for.
func (f *Handle) Open(name string) (*os.File, fs.FileInfo, error) {
	var file *os.File
	var info fs.FileInfo
	err := f.at(name, aim{}, func(s *spot) error {
		var err error
		file, info, err = s.open()
		return err
	})
	return file, info, err
}

func (s *spot) open() (*os.File, fs.FileInfo, error) {
	if err := s.regular(); err != nil {
		return nil, nil, err
	}
	file, err := s.here().root.OpenFile(s.base, os.O_RDONLY|openFlags, 0)
	if err != nil {
		if !s.still() {
			err = errSwapped
		}
		return nil, nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !os.SameFile(s.info, info) || !info.Mode().IsRegular():
		// The name stood for something else by the time it was opened, a link
		// perhaps: what was opened was never judged.
		err = errSwapped
	case s.f.hardLinked(file, info):
		err = protected(s.name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// still reports whether the name stands for what it did.
func (s *spot) still() bool {
	info, err := s.here().root.Lstat(s.base)
	return err == nil && os.SameFile(info, s.info)
}

func (s *spot) regular() error {
	switch {
	case s.info.IsDir():
		return failure(s.name, "it is a directory", fs.ErrInvalid)
	case !s.info.Mode().IsRegular():
		return failure(s.name, "it is a device, a pipe or a socket, not a file", fs.ErrInvalid)
	}
	return nil
}

// ReadFile reads a whole file that has at most that many bytes.
func (f *Handle) ReadFile(name string, most int64) ([]byte, Stamp, error) {
	var data []byte
	var stamp Stamp
	err := f.at(name, aim{}, func(s *spot) error {
		file, info, err := s.open()
		if err != nil {
			return err
		}
		data, err = readAtMost(file, info.Size(), most)
		if err == nil && int64(len(data)) > most {
			err = failure(name, fmt.Sprintf("it is larger than %d bytes", most), nil)
		}
		stamp = StampOf(data)
		stamp.ModTime = info.ModTime()
		return errors.Join(err, file.Close())
	})
	return data, stamp, err
}

// readAtMost reads one byte more than allowed at most, so that a file that
// grows, or has no true size, ends too.
func readAtMost(file *os.File, size, most int64) ([]byte, error) {
	if size > most {
		return make([]byte, most+1), nil
	}
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(file, most+1))
	return b.Bytes(), err
}

// Stamp reads a file to its end and gives its stamp; the zero Stamp if there
// is none.
func (f *Handle) Stamp(name string) (Stamp, error) {
	var stamp Stamp
	err := f.at(name, aim{}, func(s *spot) error {
		var err error
		stamp, err = s.stamp()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{}, nil
	}
	return stamp, err
}

func (s *spot) stamp() (Stamp, error) {
	file, info, err := s.open()
	if err != nil {
		return Stamp{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	return Stamp{Sum: [sha256.Size]byte(sum.Sum(nil)), Size: n, ModTime: info.ModTime()}, errors.Join(err, file.Close())
}

// WriteFile replaces a file as one step: who reads it sees the old content or
// the new one, also after a crash. Missing parents are made, the mode is kept.
// If was is given, the file must still have that content, or not be there for
// the zero Stamp; else the error is [ErrChanged].
//
// A file with several names gets a content of its own under this one.
func (f *Handle) WriteFile(name string, data []byte, was *Stamp) error {
	return f.write(name, data, func() (io.Reader, error) { return bytes.NewReader(data), nil }, was)
}

// write replaces a file by what content gives. Head is how it begins: all of it, or more than a
// key has.
func (f *Handle) write(name string, head []byte, content func() (io.Reader, error), was *Stamp) error {
	return f.at(name, aim{write: true, parents: true, data: head}, func(s *spot) error {
		if s.info != nil {
			if err := s.regular(); err != nil {
				return err
			}
			if s.info.Mode().Perm()&0o222 == 0 {
				return failure(name, "the file is marked as read-only", fs.ErrPermission)
			}
		}
		if err := s.becomesKey(s.here().elems(s.base)); err != nil {
			return err
		}
		from, err := content()
		if err != nil {
			return err
		}
		dir := s.here().root
		temp := ".toolcrib-" + rand.Text() + ".tmp"
		made, err := s.fill(temp, from)
		if err == nil {
			if now, lerr := dir.Lstat(temp); lerr != nil || !os.SameFile(now, made) {
				err = failure(name, "another file was put in its place while it was written; call again", ErrChanged)
			} else {
				err = s.place(temp, was)
			}
		}
		if err != nil {
			if gone := dir.Remove(temp); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
			return err
		}
		if s.info == nil {
			if err := s.noGitMade(s.base); err != nil {
				return err
			}
		}
		return syncDir(dir)
	})
}

// fill writes the new content to the disk under a name of its own.
func (s *spot) fill(temp string, from io.Reader) (fs.FileInfo, error) {
	perm := fs.FileMode(0o666)
	if s.info != nil {
		perm = 0o600 // until it has the mode of the old one
	}
	file, err := s.here().root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, from)
	if err == nil && s.info != nil {
		if err = keepOwner(file, s.info); err == nil {
			err = file.Chmod(s.info.Mode().Perm())
		}
	}
	if err == nil {
		err = file.Sync()
	}
	info, serr := file.Stat()
	return info, errors.Join(err, serr, file.Close())
}

// place puts the new content where the old one is, if that is still as it
// was. Renaming replaces a link that was put there meanwhile, it never follows
// one.
func (s *spot) place(temp string, was *Stamp) error {
	dir := s.here().root
	if s.info == nil {
		if was != nil && *was != (Stamp{}) {
			return failure(s.name, "the file is gone since it was read", ErrChanged)
		}
		err := dir.Link(temp, s.base) // unlike renaming, this replaces nothing
		switch {
		case err == nil:
			return dir.Remove(temp)
		case !errors.Is(err, fs.ErrExist):
			if _, lerr := dir.Lstat(s.base); errors.Is(lerr, fs.ErrNotExist) {
				return dir.Rename(temp, s.base) // a file system without hard links
			}
		}
		return errSwapped
	}
	if was != nil {
		now, err := s.stamp()
		if err != nil {
			return err
		}
		if err := unchanged(s.name, now, was); err != nil {
			return err
		}
	}
	return dir.Rename(temp, s.base)
}

// unchanged refuses a content that is not the one a change was made for.
func unchanged(name string, now Stamp, was *Stamp) error {
	switch {
	case was == nil:
		return nil
	case *was == (Stamp{}):
		return failure(name, "the file exists by now", ErrChanged)
	case !now.Same(*was):
		return failure(name, "the file changed since it was read; read it again", ErrChanged)
	}
	return nil
}
