//go:build !windows

package upgrade

import (
	"errors"
	"os"
	"path/filepath"
)

// exchange: the old program gets its second name first, then the new one takes the
// place in one step. Killed anywhere, the file is one of the two.
func (p *place) exchange(fresh, old string) error {
	kept := filepath.Join(p.dir, "old")
	if err := keepCopy(p.file, kept); err != nil {
		return err
	}
	if err := os.Rename(kept, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, p.file); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(p.file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
