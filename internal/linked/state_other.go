//go:build !linux

package linked

import (
	"os"
	"path/filepath"
	"time"
)

// dirState tells whether a directory is as it was, by a time that programs can
// set back.
type dirState struct{ at int64 }

func stateOf(dir string) (dirState, error) {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = errNoDir
	}
	if err != nil {
		return dirState{}, err
	}
	return dirState{info.ModTime().UnixNano()}, nil
}

func (s dirState) changed() time.Time { return time.Unix(0, s.at) }

// openDir asks for a directory: a pipe that was put there is not waited for.
func openDir(dir string) (*os.File, error) { return os.Open(dir + string(filepath.Separator) + ".") }
