package upgrade

import (
	"errors"
	"os"
)

// exchange: Windows lets a program that runs be renamed, and not replaced. Between
// the two steps there is no program under the name; if the second fails, the first
// is taken back.
func (p *place) exchange(fresh, old string) error {
	if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(p.file, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, p.file); err != nil {
		return errors.Join(err, os.Rename(old, p.file))
	}
	return nil
}
