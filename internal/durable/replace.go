package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Point is a moment of a replacement at which a test can stop it.
type Point string

// The points, in order.
const (
	Made    Point = "the new file is made"
	Half    Point = "half of it is written"
	Written Point = "all of it is written"
	Synced  Point = "it is on the disk"
	Renamed Point = "it has its name"
	Done    Point = "the name is on the disk"
)

// Replacement replaces files. The zero value does, for any number of writers at
// once; the last one wins.
type Replacement struct {
	// Locked says that the caller holds a lock, so that one temporary name is
	// enough: what a crash leaves there is removed by the next replacement.
	Locked bool
	// At is told about each point. Nil: nobody wants to know.
	At func(Point)
	// SyncDir flushes a directory, and reports whether that can be relied on.
	// Nil: as the system can. Tests have their own.
	SyncDir func(dir string) (flushed bool, err error)
}

// Replace puts data into a file with this mode, which is made if it is missing.
func Replace(path string, data []byte, mode fs.FileMode) error {
	_, err := Replacement{}.Write(path, data, mode)
	return err
}

// ReplaceLocked is Replace for whoever holds a lock on the file.
func ReplaceLocked(path string, data []byte, mode fs.FileMode) error {
	_, err := Replacement{Locked: true}.Write(path, data, mode)
	return err
}

// Write does it, and reports whether the change is sure to outlast a power cut:
// not every system can flush a directory.
func (r Replacement) Write(path string, data []byte, mode fs.FileMode) (flushed bool, err error) {
	temp, err := r.temporary(path)
	if err != nil {
		return false, fmt.Errorf("writing %s: %w", path, err)
	}
	err = r.fill(temp, data, mode)
	if err == nil {
		r.reached(Synced)
		err = rename(temp.Name(), path)
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("writing %s: %w", path, err), removeIfThere(temp.Name()))
	}
	r.reached(Renamed)
	sync := r.SyncDir
	if sync == nil {
		sync = syncDir
	}
	if flushed, err = sync(filepath.Dir(path)); err != nil {
		return false, fmt.Errorf("flushing the directory of %s: %w", path, err)
	}
	r.reached(Done)
	return flushed, nil
}

// temporary makes the new file, beside the old one so that a rename is enough.
func (r Replacement) temporary(path string) (*os.File, error) {
	if !r.Locked {
		return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	}
	temp := path + ".new"
	if err := removeIfThere(temp); err != nil {
		return nil, fmt.Errorf("removing what a crash left: %w", err)
	}
	return os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
}

// fill writes, sets the mode, flushes and closes.
func (r Replacement) fill(f *os.File, data []byte, mode fs.FileMode) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	r.reached(Made)
	half := len(data) / 2
	if _, err := f.Write(data[:half]); err != nil {
		return err
	}
	r.reached(Half)
	if _, err := f.Write(data[half:]); err != nil {
		return err
	}
	r.reached(Written)
	return errors.Join(chmod(f, mode), f.Sync())
}

func (r Replacement) reached(p Point) {
	if r.At != nil {
		r.At(p)
	}
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
