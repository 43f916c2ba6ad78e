package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/rewrite"
)

// besideEnding ends the names under which new texts lie beside their files for a
// moment. What a kill leaves there is found by it.
const besideEnding = ".toolcrib-setup"

// errUnchanged: the file is as wanted.
var errUnchanged = errors.New("it is so already")

// where follows the links of a file of a person, and refuses what setup leaves alone:
// a file that is not theirs, that they closed to writing, or that links lead to out of
// their home directory.
func (m Machine) where(file string) (string, error) {
	at, err := filepath.EvalSymlinks(file)
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Lstat(file); err == nil {
			return "", fmt.Errorf("%s is a link to a file that is not there", file)
		}
		dir, rest, _, err := linked.Trace(file)
		if err != nil {
			return "", err
		}
		at = filepath.Join(append([]string{dir}, rest...)...)
		return at, m.inHome(file, at)
	}
	if err != nil {
		return "", err
	}
	if err := m.inHome(file, at); err != nil {
		return "", err
	}
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a plain file", file)
	case !ours(info):
		return "", fmt.Errorf("%s belongs to another account", file)
	case info.Mode().Perm()&0o200 == 0:
		return "", fmt.Errorf("%s is closed to writing (mode %04o); 'chmod u+w' opens it, if it is yours to change", file, info.Mode().Perm())
	}
	return at, nil
}

// inHome refuses what links lead out of the home directory. Where no link is, the
// client's own variables say where its file is.
func (m Machine) inHome(file, at string) error {
	if m.everywhere || at == filepath.Clean(file) {
		return nil
	}
	home, err := filepath.EvalSymlinks(m.Home)
	if err != nil {
		return err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil && filepath.Join(dir, filepath.Base(file)) == at && !linked.Within(file, m.Home) {
		return nil // it is named by a variable, and only its directory is reached by a link
	}
	if !linked.Within(at, home) {
		return fmt.Errorf("%s is a link that leads out of your home directory, to %s", file, at)
	}
	return nil
}

// change changes a file and keeps in the record how to take that back. It reports
// false if the file is as wanted already.
func (b *book) change(m Machine, file string, edits []edit, to func(text []byte) ([]byte, error)) (changed bool, err error) {
	return b.changeBy(m, file, func(text []byte) ([]byte, []edit, error) {
		after, err := to(text)
		return after, edits, err
	})
}

// changeBy is change where only the text of the file says which edits are made.
func (b *book) changeBy(m Machine, file string, to func(text []byte) ([]byte, []edit, error)) (changed bool, err error) {
	at, err := m.where(file)
	if err != nil {
		return false, err
	}
	err = rewrite.Recorded(at, besideEnding, func(before []byte, there bool) ([]byte, error) {
		after, edits, err := to(before)
		if err != nil {
			return nil, err
		}
		if there && string(after) == string(before) || !there && len(after) == 0 {
			return nil, errUnchanged
		}
		f := b.fileOf(at, before, there)
		f.States = append(f.States, digest(after))
		f.Edits = append(f.Edits, edits...)
		if err := b.save(); err != nil {
			return nil, err
		}
		changed = true
		b.reached(at)
		return after, nil
	})
	if errors.Is(err, errUnchanged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	b.reached(at + " done")
	return changed, nil
}

// fileOf gives the record of a file as it is now: the last one, or a new one if
// somebody else changed the file since.
func (b *book) fileOf(at string, text []byte, there bool) *fileRecord {
	for _, f := range slices.Backward(b.Files) {
		if f.Path != at {
			continue
		}
		if f.has(text, there) {
			return f
		}
		break
	}
	f := &fileRecord{Path: at, Missing: !there, Before: text}
	if !there {
		for dir := filepath.Dir(at); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); err == nil {
				break
			}
			f.Dirs = append([]string{dir}, f.Dirs...)
		}
	} else if info, err := os.Stat(at); err == nil {
		f.Mode = info.Mode().Perm()
	}
	b.Files = append(b.Files, f)
	return f
}
