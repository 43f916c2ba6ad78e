package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// LookAt is [Shield.Look] for a grant, with what that denies: the places of
// Grant.Denied are hidden, those of Grant.Fixed can only be read. Without a
// shield such a grant is refused.
func (s *Shield) LookAt(grant toolcrib.Grant) (*Covering, error) { return s.lookFor(grant, "") }

func (s *Shield) lookFor(grant toolcrib.Grant, workDir string) (*Covering, error) {
	if s == nil {
		if len(grant.Denied)+len(grant.Fixed) > 0 {
			return nil, Unavailable("this sandbox cannot keep places from programs, and rules deny some: choose another backend", nil)
		}
		return &Covering{}, nil
	}
	denied, err := pathglob.NewSet(grant.Denied)
	if err != nil {
		return nil, err
	}
	fixed, err := pathglob.NewSet(grant.Fixed)
	if err != nil {
		return nil, err
	}
	return s.lookAt(grant.Dirs, denied, fixed, workDir)
}

// coverDenied covers what rules deny. It reads only directories in which such a
// place may lie.
func (w *shieldWalk) coverDenied() error {
	if len(w.denied)+len(w.fixed) == 0 {
		return nil
	}
	read := 0
	for _, d := range w.dirs {
		if slices.ContainsFunc(w.dirs, func(o toolcrib.Dir) bool { return o.Path != d.Path && within(d.Path, o.Path) }) {
			continue // seen from the outer one
		}
		if w.denied.Has(elements(d.Path)) {
			return protectedGrant(d.Path)
		}
		for queue := []string{d.Path}; len(queue) > 0; {
			dir := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			if read++; read > maxShieldDirs {
				return Unavailable(fmt.Sprintf("programs cannot be started in %s: it has too many directories to find what rules deny in them. Grant less, or write the rules with a fixed beginning", d.Path), nil)
			}
			below, err := w.coverDeniedIn(dir)
			if err != nil {
				return err
			}
			queue = append(queue, below...)
		}
	}
	return nil
}

// coverDeniedIn covers entries of one directory, and gives those to look into.
func (w *shieldWalk) coverDeniedIn(dir string) (below []string, _ error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil: // its owner could open it up
		w.hide(dir, true)
		return nil, nil //nolint:nilerr // it is hidden instead
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		elems := elements(name)
		link := e.Type()&fs.ModeSymlink != 0
		switch {
		case w.denied.Has(elems) && link:
			w.hideTarget(name)
		case w.denied.Has(elems):
			for _, d := range w.dirs {
				if d.Path == name {
					return nil, protectedGrant(name)
				}
			}
			w.hide(name, e.IsDir())
		case link:
		default:
			if w.fixed.Has(elems) {
				w.found = append(w.found, Cover{Path: name, Kind: Fix, Dir: e.IsDir()})
			}
			if e.IsDir() && (w.denied.Reaches(elems) || w.fixed.Reaches(elems)) {
				below = append(below, name)
			}
		}
	}
	return below, nil
}
