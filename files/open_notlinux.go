//go:build !linux

package files

import (
	"errors"
	"io/fs"
	"os"
)

// openDir is an open directory on a walk.
type openDir struct {
	root *os.Root
}

func startDir(root *os.Root) (openDir, error) {
	next, err := root.OpenRoot(".")
	return openDir{next}, err
}

func (d openDir) openDir(name string) (openDir, error) {
	next, err := openElem(d.root, name)
	return openDir{next}, err
}

func (d openDir) close() {
	if d.root != nil {
		_ = d.root.Close() // it was only read
	}
}

// in reports whether the directory is one of those known by identity.
func (d openDir) in(s idSet) bool {
	info, err := d.root.Stat(".")
	return err != nil || s.has(info)
}

func (d openDir) info(e Entry) fs.FileInfo {
	if !e.barred || !e.Type.IsRegular() {
		return nil
	}
	info, err := d.root.Lstat(e.Name)
	if err != nil {
		return nil
	}
	return info
}

func (d openDir) read([]byte) ([]Entry, error) {
	dir, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	list, err := dir.ReadDir(-1)
	entries := make([]Entry, len(list))
	for i, e := range list {
		entries[i] = Entry{Name: e.Name(), Type: e.Type()}
	}
	return entries, errors.Join(err, dir.Close())
}

// Stream is an open file of a [Folder].
type Stream struct {
	Size int64
	file *os.File
}

// Read reads as an io.Reader does.
func (s *Stream) Read(p []byte) (int, error) { return s.file.Read(p) }

// ReadAt reads as an io.ReaderAt does.
func (s *Stream) ReadAt(p []byte, off int64) (int, error) { return s.file.ReadAt(p, off) }

// Close ends the use of the file.
func (s *Stream) Close() error { return s.file.Close() }

func (d openDir) open(f *Handle, name string) (*Stream, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	is := func(l *lead) bool { return !l.written && os.SameFile(l.info, info) }
	if l := f.leads().known(is, func(as string) bool { return d.holdsKey(name, as) }); l != nil {
		return nil, l.refuse(name)
	}
	s := &spot{f: f, name: name, base: name, info: info, levels: []level{{tree: &tree{}, root: d.root}}}
	file, info, err := s.open()
	if err != nil {
		return nil, err
	}
	return &Stream{Size: info.Size(), file: file}, nil
}

func (d openDir) holdsKey(name, as string) bool { return holdsKey(d.root, name, as) }

// moveAt cannot rename between two open directories here.
func moveAt(*os.Root, string, *os.Root, string) error { return errors.ErrUnsupported }
