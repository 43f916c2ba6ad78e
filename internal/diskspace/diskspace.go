// Package diskspace tells how much room a disk has. Everybody may import it.
package diskspace

import (
	"os"
	"path/filepath"
)

// Low and Empty are where room is short: below Low a journal and builds may soon
// fail, below Empty they do.
const (
	Low   = 512 << 20
	Empty = 16 << 20
)

// Free gives the bytes that this user can still write where a directory lies, or
// will lie: of one that is missing, that of the nearest that is there.
func Free(dir string) (uint64, error) {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return free(dir)
		}
		dir = filepath.Dir(dir)
	}
}

// Writable says why this account could not write a file: neither the file itself, nor
// another one in its place. Of one that is missing it looks at the nearest directory
// that is there. Nil: it could, or the system does not tell.
func Writable(path string) error {
	if _, err := os.Stat(path); err == nil && writable(path) == nil {
		return nil
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return writable(dir)
		}
	}
}
