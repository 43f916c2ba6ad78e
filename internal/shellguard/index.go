package shellguard

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/toolcrib/toolcrib/internal/gitindex"
)

// git looks into submodules when it compares the index with the work tree, by
// starting itself there, under settings that stand in the submodule. An index
// that may hold one makes the guard ask.

// checkIndex says why an index is not known to be without submodules.
func (s *Guard) checkIndex(file string) error {
	data, err := s.plainFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot be read", Quote(file))
	}
	if why := submodules(data); why != "" {
		return fmt.Errorf("%s %s", Quote(file), why)
	}
	return nil
}

// submodules says what about an index is not plain; empty if it only has
// files and links. The other half of a split index is not read here, and what
// a sparse one leaves out is not either.
func submodules(data []byte) string {
	index, err := gitindex.Read(data, gitindex.SHA1)
	switch {
	case err != nil:
		return err.Error()
	case len(index.Links)+index.Unnamed > 0:
		return "has a submodule, whose own settings may make git start a program"
	case index.Shared != "", index.Sparse:
		return gitindex.ErrOdd.Error()
	}
	return ""
}
