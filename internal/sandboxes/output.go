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
	all := filepath.Join(state, "output")
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, fmt.Errorf("making room for long output: %w", err)
	}
	others, err := os.ReadDir(all)
	if err != nil {
		return nil, fmt.Errorf("making room for long output: %w", err)
	}
	for _, o := range others {
		if owner, _, _ := strings.Cut(o.Name(), "-"); !sandbox.OwnerLives(owner) {
			if err := os.RemoveAll(filepath.Join(all, o.Name())); err != nil {
				return nil, fmt.Errorf("removing the output of a process that died: %w", err)
			}
		}
	}
	// One process may open several cribs.
	path, err := os.MkdirTemp(all, sandbox.OwnerName()+"-")
	if err != nil {
		return nil, fmt.Errorf("making room for long output: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return &Output{Root: root, path: path}, nil
}

// Close removes the directory.
func (s *Output) Close() error { return errors.Join(s.Root.Close(), os.RemoveAll(s.path)) }
