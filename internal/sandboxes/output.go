package sandboxes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Output is a directory of this process for long output. What a process left
// that died is removed by the next one.
type Output struct {
	Root *os.Root
	path string
}

// OpenOutput makes room for long output.
func OpenOutput(state string) (*Output, error) {
	out, err := ownRoom(filepath.Join(state, "output"))
	if err != nil {
		return nil, fmt.Errorf("making room for long output: %w", err)
	}
	return out, nil
}

// ownRoom makes a directory of this process in one that processes share, and removes there what was left by those
// that died.
func ownRoom(all string) (*Output, error) {
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, err
	}
	others, err := os.ReadDir(all)
	if err != nil {
		return nil, err
	}
	for _, o := range others {
		if owner, _, _ := strings.Cut(o.Name(), "-"); !sandbox.OwnerLives(owner) {
			// What cannot be removed keeps nobody from working: programs made it, and the next process tries again.
			_ = removeAll(filepath.Join(all, o.Name()))
		}
	}
	// One process may open several cribs.
	path, err := os.MkdirTemp(all, sandbox.OwnerName()+"-")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return &Output{Root: root, path: path}, nil
}

// Close removes the directory.
func (s *Output) Close() error { return errors.Join(s.Root.Close(), removeAll(s.path)) }

// removeAll removes a tree of which programs may have made directories that nobody may write.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, os.ErrPermission) {
		return err
	}
	root, failed := os.OpenRoot(path)
	if failed != nil {
		return err
	}
	opened := openUp(root, ".")
	_ = root.Close() // it was only used to look
	return errors.Join(opened, os.RemoveAll(path))
}

// openUp lets the owner into each directory of a tree. A link is not followed. Each level is opened in the one above: a tree of
// ten thousand levels is walked once, and not once for each of them.
func openUp(root *os.Root, dir string) error {
	if err := root.Chmod(dir, 0o700); err != nil {
		return err
	}
	inner, err := root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = inner.Close() }() // it was only used to look
	f, err := inner.Open(".")
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := openUp(inner, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
