package telemetry

import (
	"io/fs"
	"path/filepath"
)

// SizeOf is how many bytes the files of a directory have; negative: nobody knows.
func SizeOf(dir string) (n int64) {
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err == nil { // else it has gone meanwhile
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		return -1
	}
	return n
}
