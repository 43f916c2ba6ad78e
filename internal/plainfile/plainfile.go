// Package plainfile reads files that anybody may have put where they are. It
// imports nothing of ours. Its one invariant: it opens no pipe and no device to
// wait at, and it always comes to an end.
package plainfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// The errors of what is no ordinary file, and of a longer one.
var (
	ErrOdd  = errors.New("it is not an ordinary file")
	ErrLong = errors.New("the file is too long")
)

// MaxSettings is the largest file that is read to judge a command.
const MaxSettings = 64 << 20

// Open opens a file to read. It waits at no pipe; what it opens may be one.
func Open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|noWait, 0) }

// Begin reads a file, and of one that is longer than most one byte more, which
// shows that it is.
func Begin(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	return text, errors.Join(err, f.Close())
}

// Settings reads a file of a repository, which may come from anyone.
func Settings(path string) ([]byte, error) { return Read(path, MaxSettings) }

// Read reads a file that is at most that long.
func Read(path string, most int64) (text []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a device may do something
		return nil, fmt.Errorf("%s: %w", path, ErrOdd)
	}
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// It may be another one by now, and some of the kernel's files say that they
	// are ordinary and have nothing to read yet. No other one knows of waiting.
	_ = f.SetReadDeadline(time.Now().Add(time.Second))
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, ErrOdd)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s: %w", path, ErrLong)
	}
	var all bytes.Buffer
	all.Grow(int(info.Size()) + bytes.MinRead) // it is not copied while it is read
	if _, err := all.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(all.Len()) > most {
		return nil, fmt.Errorf("%s: %w", path, ErrLong)
	}
	return all.Bytes(), nil
}
