package files

import (
	"path/filepath"
	"slices"
	"strings"
)

// Dir is a granted directory tree.
type Dir struct {
	Path  string `json:"path"` // absolute and clean
	Write bool   `json:"write,omitempty"`
}

// Meet is the inner of two directories, if one lies in the other; it can be written
// if both can.
func (d Dir) Meet(e Dir) (Dir, bool) {
	switch {
	case !d.Clean() || !e.Clean():
		return Dir{}, false
	case inside(d.Path, e.Path):
		return Dir{Path: d.Path, Write: d.Write && e.Write}, true
	case inside(e.Path, d.Path):
		return Dir{Path: e.Path, Write: d.Write && e.Write}, true
	}
	return Dir{}, false
}

// Clean reports whether a path is the absolute path it looks like; any other
// grants nothing.
func (d Dir) Clean() bool { return filepath.IsAbs(d.Path) && filepath.Clean(d.Path) == d.Path }

// inside reports whether path is dir or below it, by whole path elements:
// /home/ann2 is not inside /home/ann.
func inside(path, dir string) bool {
	if path == dir {
		return true
	}
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	return strings.HasPrefix(path, dir)
}

// Outermost drops what another entry already gives and sorts the rest, so that
// equal grants look equal whatever order they were met in.
func Outermost(dirs []Dir) []Dir {
	var out []Dir
	for i, d := range dirs {
		covered := slices.ContainsFunc(dirs[:i], func(e Dir) bool { return e == d })
		for _, e := range dirs {
			if e != d && inside(d.Path, e.Path) && (e.Write || !d.Write) {
				covered = true
			}
		}
		if !covered {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Dir) int { return strings.Compare(a.Path, b.Path) })
	return out
}
