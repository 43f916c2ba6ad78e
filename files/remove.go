package files

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// Removed says what [Handle.Remove] took away.
type Removed struct {
	Path string // as Real gives it
	Type string // file, directory or link
	Slot string // the directory in the trash that holds it
}

// Remove moves a file, a link or an empty directory to the trash, where it
// lies as "entry" in a directory of its own beside "origin", its old path.
// Nothing is removed without a trash, and no granted directory itself.
func (f *Handle) Remove(name string) (Removed, error) {
	var out Removed
	err := f.at(name, aim{write: true, link: true}, func(s *spot) error {
		if s.info == nil {
			return fs.ErrNotExist
		}
		if s.base == "." || slices.ContainsFunc(f.trees, func(t *tree) bool { return t.open() == nil && os.SameFile(t.info, s.info) }) {
			return refusal.New(refusal.Denied, "a granted directory itself cannot be removed", nil)
		}
		if f.trash == "" {
			return refusal.New(refusal.Unavailable, "nothing can be removed, because no trash is set up to keep it", nil)
		}
		out = Removed{Path: s.path(), Slot: rand.Text()}
		switch mode := s.info.Mode(); {
		case mode.IsDir():
			out.Type = "directory"
			if err := s.empty(); err != nil {
				return err
			}
		case mode&fs.ModeSymlink != 0:
			out.Type = "link"
		case mode.IsRegular():
			out.Type = "file"
		default:
			return failure(name, "it is a device, a pipe or a socket, not a file", fs.ErrInvalid)
		}
		return s.discard(out)
	})
	return out, err
}

// empty checks that there is nothing in a directory, not even what is
// protected and so was never listed.
func (s *spot) empty() error {
	dir, err := openElem(s.here().root, s.base)
	if err != nil {
		return err
	}
	list, err := dir.Open(".")
	if err == nil {
		_, err = list.Readdirnames(1)
		switch {
		case err == nil:
			err = failure(s.name, "the directory is not empty (some entries may be hidden from you)", fs.ErrInvalid)
		case errors.Is(err, io.EOF):
			err = nil
		}
		err = errors.Join(err, list.Close())
	}
	return errors.Join(err, dir.Close())
}

// discard moves the entry to its slot in the trash.
func (s *spot) discard(out Removed) error {
	if err := os.MkdirAll(s.f.trash, 0o700); err != nil {
		return refusal.New(refusal.Unavailable, "the trash cannot be used, so nothing was removed", err)
	}
	trash, err := os.OpenRoot(s.f.trash)
	if err != nil {
		return refusal.New(refusal.Unavailable, "the trash cannot be used, so nothing was removed", err)
	}
	err = trash.Mkdir(out.Slot, 0o700)
	if err == nil {
		err = trash.WriteFile(out.Slot+"/origin", []byte(out.Path+"\n"), 0o600)
	}
	if err == nil {
		var slot *os.Root
		if slot, err = trash.OpenRoot(out.Slot); err == nil {
			if err = moveAt(s.here().root, s.base, slot, "entry"); err != nil {
				err = s.copyOut(slot, err)
			}
			err = errors.Join(err, slot.Close())
		}
	}
	if err == nil {
		err = syncDir(s.here().root)
	} else if gone := trash.RemoveAll(out.Slot); gone != nil {
		err = errors.Join(err, gone)
	}
	return errors.Join(err, trash.Close())
}

// copyOut is for a trash on another disk, or a system that cannot move between
// two open directories: the content is copied, then the entry removed if it is
// still the one that was copied.
func (s *spot) copyOut(slot *os.Root, moved error) error {
	if !errors.Is(moved, errors.ErrUnsupported) {
		return moved
	}
	switch {
	case s.info.IsDir():
	case s.info.Mode()&fs.ModeSymlink != 0:
		target, err := s.here().root.Readlink(s.base)
		if err != nil {
			return err
		}
		if err := slot.WriteFile("entry", []byte(target), 0o600); err != nil {
			return err
		}
	default:
		from, _, err := s.open()
		if err != nil {
			return err
		}
		to, err := slot.OpenFile("entry", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = io.Copy(to, from)
			if err == nil {
				err = to.Sync()
			}
			err = errors.Join(err, to.Close())
		}
		if err := errors.Join(err, from.Close()); err != nil {
			return err
		}
	}
	if !s.still() {
		return errSwapped
	}
	return s.here().root.Remove(s.base)
}
