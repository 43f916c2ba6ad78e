package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// stateKey is the key that signs what MCP clients carry for us between two
// requests. It is kept, so that an answer that comes after a restart is still
// known to be one to a question of ours. It opens nothing.
func stateKey(state string) ([]byte, error) {
	const size = 32
	file := filepath.Join(state, "mcp-state-key")
	key, err := keptFile(file, size, func() []byte {
		fresh := make([]byte, size)
		_, _ = rand.Read(fresh) // it never fails
		return fresh
	})
	if err == nil && len(key) != size {
		err = fmt.Errorf("%s is not as it was written: remove it", file)
	}
	return key, err
}

// keptFile reads a file that only this account may read, and makes it first
// where there is none: of two processes that start together, both get what one
// of them has made. What is longer than most is cut after one byte more.
func keptFile(file string, most int64, fresh func() []byte) ([]byte, error) {
	text, err := readFirst(file, most)
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
	return readFirst(file, most)
}

// readFirst reads a file, and of a longer one no more than shows that it is.
func readFirst(file string, most int64) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	return text, errors.Join(err, f.Close())
}
