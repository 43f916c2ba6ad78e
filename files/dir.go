package files

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Dir is a granted directory tree.
type Dir struct {
	Path  string `json:"path"` // absolute and clean
	Write bool   `json:"write,omitempty"`
}

// Meet is the inner of two directories, if one lies in the other; it can be written
// if both can.
func (d Dir) Meet(e Dir) (Dir, bool) { return d.meet(e, pathglob.Here()) }

func (d Dir) meet(e Dir, names pathglob.Names) (Dir, bool) {
	switch {
	case !d.Clean() || !e.Clean():
		return Dir{}, false
	case names.Inside(d.Path, e.Path):
		return Dir{Path: d.Path, Write: d.Write && e.Write}, true
	case names.Inside(e.Path, d.Path):
		return Dir{Path: e.Path, Write: d.Write && e.Write}, true
	}
	return Dir{}, false
}

// Clean reports whether a path is the absolute path it looks like; any other
// grants nothing.
func (d Dir) Clean() bool { return filepath.IsAbs(d.Path) && filepath.Clean(d.Path) == d.Path }

// Outermost drops what another entry already gives and sorts the rest, so that
// equal grants look equal whatever order they were met in.
func Outermost(dirs []Dir) []Dir { return outermost(dirs, pathglob.Here()) }

func outermost(dirs []Dir, names pathglob.Names) []Dir {
	var out []Dir
	covers := func(e, d Dir) bool { return names.Inside(d.Path, e.Path) && (e.Write || !d.Write) }
	for i, d := range dirs {
		covered := false
		for k, e := range dirs {
			if k != i && covers(e, d) && (k < i || !covers(d, e)) { // of two that are one the first stays
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
