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
	read := func() ([]byte, error) {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		key, err := io.ReadAll(io.LimitReader(f, size+1))
		if err = errors.Join(err, f.Close()); err == nil && len(key) != size {
			err = fmt.Errorf("%s is not as it was written: remove it", file)
		}
		return key, err
	}
	key, err := read()
	if !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	key = make([]byte, size)
	_, _ = rand.Read(key) // it never fails
	temp, err := os.CreateTemp(state, ".mcp-state-key-*")
	if err != nil {
		return nil, err
	}
	_, err = temp.Write(key)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		// A link is made once: of two processes that start together one wins.
		if err = os.Link(temp.Name(), file); errors.Is(err, os.ErrExist) {
			err = nil
		}
	}
	if err := errors.Join(err, os.Remove(temp.Name())); err != nil {
		return nil, err
	}
	return read()
}
