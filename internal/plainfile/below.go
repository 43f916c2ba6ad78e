package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// ErrLinked is the error of a link in the place of a file.
var ErrLinked = errors.New("it is a link")

// OpenIn opens an ordinary file below a directory, with further flags such as
// os.O_RDWR. It goes over no link and waits at no pipe, also where one takes the
// place of the file meanwhile.
func OpenIn(root *os.Root, name string, flags int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flags&os.O_CREATE != 0:
		flags |= os.O_EXCL // it goes over no link either
	case err != nil:
		return nil, nil, err
	default:
		if err := ordinary(name, before); err != nil {
			return nil, nil, err
		}
		flags &^= os.O_CREATE
	}
	f, err := root.OpenFile(name, flags|noWait, mode)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = ordinary(name, info)
	}
	if err == nil && before != nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%s: another file took its place: %w", name, ErrOdd)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func ordinary(name string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w", name, ErrLinked)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", name, ErrOdd)
	}
	return nil
}

// ReadIn reads an ordinary file below a directory that is at most that long. See
// [OpenIn].
func ReadIn(root *os.Root, name string, most int64) (text []byte, info fs.FileInfo, err error) {
	f, info, err := OpenIn(root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_ = f.SetReadDeadline(time.Now().Add(time.Second))
	if info.Size() > most {
		return nil, info, fmt.Errorf("%s: %w", name, ErrLong)
	}
	if text, err = io.ReadAll(io.LimitReader(f, most+1)); err == nil && int64(len(text)) > most {
		return nil, info, fmt.Errorf("%s: %w", name, ErrLong)
	}
	return text, info, err
}
