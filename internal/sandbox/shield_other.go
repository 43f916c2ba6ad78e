//go:build !linux

package sandbox

import (
	"io/fs"
	"os"
)

// dirState is never the same here: directories are read each time.
type dirState struct{}

func stateOf(dir string) (dirState, error) {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist // it was one a moment ago
	}
	return dirState{}, err
}

func (dirState) settled() bool { return false }

// hasFurtherNames is not known here: there is no backend that covers files.
func hasFurtherNames(string) (bool, error) { return false, nil }

const noWait = 0

// fileState is never the same here either.
type fileState struct{ dirState }

func stateOfFile(file string) (state fileState, regular bool, err error) {
	info, err := os.Lstat(file)
	return fileState{}, err == nil && info.Mode().IsRegular(), err
}
