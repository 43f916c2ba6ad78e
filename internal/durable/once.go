package durable

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Once reads a file that only this account may read, and makes it first
// where there is none: of two processes that start together, both get what one
// of them has made. What is longer than most is cut after one byte more.
func Once(file string, most int64, fresh func() []byte) ([]byte, error) {
	text, err := plainfile.Begin(file, most)
	if !errors.Is(err, os.ErrNotExist) {
		return text, err
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(file)+"-*") // for this account alone
	if err != nil {
		return nil, err
	}
	_, err = temp.Write(fresh())
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		// A link is made once.
		if err = os.Link(temp.Name(), file); errors.Is(err, os.ErrExist) {
			err = nil
		}
	}
	if err := errors.Join(err, os.Remove(temp.Name())); err != nil {
		return nil, err
	}
	return plainfile.Begin(file, most)
}
