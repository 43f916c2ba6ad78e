package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/inplace"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// A program that runs in a sandbox finds some files covered, so that it can only
// read them or not even that. A cover lies on the file itself: who puts another
// file in its place takes the cover off in every program that runs, and who puts
// the new content under a second name first shows it to programs that may open
// it by that. So such files are written in place.

// real is the whole real path of the entry.
func (s *spot) real() string {
	l := s.here()
	return filepath.VolumeName(l.tree.real) + string(filepath.Separator) + filepath.Join(append(slices.Clip(l.way), s.base)...)
}

// isHeld reports whether programs may have the entry covered.
func (s *spot) isHeld() bool { return s.f.held != nil && s.f.held(s.real()) }

// overwrite gives a covered file a new content.
func (s *spot) overwrite(data []byte, was *Stamp) error {
	if s.info == nil {
		return s.begun(data, was)
	}
	file, err := s.here().root.OpenFile(s.base, os.O_RDWR|openFlags, 0)
	if err != nil {
		if !s.still() {
			err = errSwapped
		}
		return err
	}
	return errors.Join(s.refill(file, data, was), file.Close())
}

func (s *spot) refill(file *os.File, data []byte, was *Stamp) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(s.info, info) || !info.Mode().IsRegular():
		return errSwapped
	case s.f.hardLinked(file, info):
		return protected(s.name)
	}
	if names, ok := namesOf(file, info); !ok || names > 1 {
		return failure(s.name, "other programs obey this file, and it has further names (hard links) by which a command could change it; make it a file of its own first (cp it, and mv the copy over it)", fs.ErrInvalid)
	}
	if s.f.kept.Pending(s.real()) {
		if _, err := s.f.Mend(); err != nil {
			return err
		}
		return errSwapped
	}
	old, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	if err := unchanged(s.name, StampOf(old), was); err != nil {
		return err
	}
	return s.f.kept.Write(s.real(), file, old, data, false)
}

// begun makes a covered file that is not there. It is made under its own name:
// a program that could open it there could make it as well.
func (s *spot) begun(data []byte, was *Stamp) error {
	if was != nil && *was != (Stamp{}) {
		return failure(s.name, "the file is gone since it was read", ErrChanged)
	}
	dir := s.here().root
	file, err := dir.OpenFile(s.base, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return errSwapped
	}
	if err != nil {
		return err
	}
	err = s.f.kept.Write(s.real(), file, nil, data, true)
	if err != nil {
		err = errors.Join(err, dir.Remove(s.base))
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = syncDir(dir)
	}
	return err
}

// placeholder reports whether the entry is an empty directory that only keeps a
// place while a program runs.
func (s *spot) placeholder() bool {
	return s.info.IsDir() && s.info.Mode()&fs.ModeSticky != 0 && s.isHeld() && s.empty() == nil
}

// errRunning says that something has to wait for the programs that run.
func errRunning(name, why string) error {
	return refusal.New(refusal.Unavailable, shown(name)+" "+why+"; wait until it has ended or end it (stop_command), and call again", nil)
}

// Mend puts back what was there before writes that were cut off, as by a power
// cut, in the granted directories. It tells what it did.
func (f *Handle) Mend() ([]string, error) { return f.kept.Mend(mender{f}) }

type mender struct{ f *Handle }

func (m mender) Open(path string) (*os.File, error) {
	var file *os.File
	err := m.f.at(path, aim{write: true}, func(s *spot) error {
		if s.info == nil {
			return fs.ErrNotExist
		}
		if err := s.regular(); err != nil {
			return err
		}
		var err error
		file, err = s.here().root.OpenFile(s.base, os.O_RDWR|openFlags, 0)
		if err != nil {
			return err
		}
		if info, err := file.Stat(); err != nil || !os.SameFile(info, s.info) || s.real() != path {
			return errors.Join(err, errSwapped, file.Close())
		}
		return nil
	})
	if _, refused := errors.AsType[*refusal.Error](err); refused {
		err = inplace.ErrElsewhere
	}
	return file, err
}

func (m mender) Remove(path string) error {
	return m.f.at(path, aim{write: true}, func(s *spot) error { return s.here().root.Remove(s.base) })
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
