package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stays tells that a file is not given what it had, and keeps that in a file beside it, or
// beside the record: its secrets go from the vault now, and are nowhere else.
func (s *Setup) stays(b *book, f *fileRecord, u *Undone, why string) error {
	if len(f.Before) == 0 {
		u.Kept = append(u.Kept, f.Path+": "+why)
		return nil
	}
	dir := filepath.Dir(f.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = b.dir
	}
	name, err := spare(filepath.Join(dir, filepath.Base(f.Path)+".before-setup"), f.Before)
	if err != nil {
		return fmt.Errorf("keeping what %s held before: %w", f.Path, err)
	}
	u.Kept = append(u.Kept, fmt.Sprintf("%s: %s; what it held before is in %s, secrets included", f.Path, why, name))
	return nil
}

// spare writes a file of a name that is free, which only this account reads.
func spare(path string, data []byte) (name string, err error) {
	for i := 1; ; i++ {
		if name = path; i > 1 {
			name = fmt.Sprintf("%s-%d", path, i)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && i < 100 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		return name, errors.Join(err, f.Sync(), f.Close())
	}
}
