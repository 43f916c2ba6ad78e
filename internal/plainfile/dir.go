package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// AsDir are flags to open a directory with. Whoever opens a pipe as one gets an
// error and does not wait for somebody at its other end.
const AsDir = os.O_RDONLY | noWait | dirOnly

// OpenDir opens a directory, also over links.
func OpenDir(path string) (*os.File, error) { return os.OpenFile(path, AsDir, 0) }

// ReadDir lists a directory by names, as [os.ReadDir] does.
func ReadDir(path string) ([]fs.DirEntry, error) {
	dir, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	list, err := dir.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, errors.Join(err, dir.Close())
}
