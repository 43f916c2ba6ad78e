package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// Shield names what programs must not reach although it lies in a directory
// that was granted to them: files with passwords, keys, and what makes the
// next git command run a program. A backend covers each such place when a
// program starts. What comes into being later is not covered: whoever could
// make it knows it already.
//
// A Shield remembers what it saw, so that a large tree is not read again for
// each program. It is safe for use by many at once.
type Shield struct {
	// WriteGit lets programs write in Git directories, but for the hooks and
	// the config that are there. A program can then still add settings where
	// there were none, which the next git command of a person goes by.
	WriteGit bool

	hidden *sensitive.List
	fixed  *sensitive.Set

	mu   sync.Mutex
	seen map[string]*sight
	keys map[keyState]bool // whether a file holds a key
}

// Cover is a place that a backend covers. Those of one grant come sorted, so
// that outer ones are covered before inner ones.
type Cover struct {
	Path string
	Kind CoverKind
	Dir  bool
}

// CoverKind says how.
type CoverKind uint8

// The kinds of covers.
const (
	Hide CoverKind = iota // neither read nor written
	Fix                   // read, but not written
	Pin                   // used as it is, but not moved away
)

// The bounds on what a shield looks at and covers.
const (
	maxShieldDirs = 1 << 17
	maxCovers     = 2048
)

// NewShield reads two lists of patterns: what is hidden, and what can only be
// read. The patterns are those of [toolcrib.NewProtection], so that its list
// can be used for both: a place that begins with / or ~/, or a name or the end
// of a path; ! makes an exception to what is hidden. Whatever the lists say,
// Git directories can only be read; see [Shield.WriteGit].
func NewShield(home string, hidden, readOnly []string) (*Shield, error) {
	s := &Shield{seen: map[string]*sight{}, keys: map[keyState]bool{}}
	var err error
	if s.hidden, err = sensitive.ParseList(home, hidden...); err != nil {
		return nil, err
	}
	var fixed []sensitive.Pattern
	for _, text := range readOnly {
		p, err := sensitive.ParsePattern(text)
		if err != nil {
			return nil, err
		}
		fixed = append(fixed, p)
	}
	s.fixed = sensitive.NewSet(fixed...)
	return s, nil
}

// elements cuts a path.
func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// Covers finds what is to be covered below granted directories, now. A nil
// Shield covers nothing.
func (s *Shield) Covers(dirs []toolcrib.Dir) ([]Cover, error) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Cover
	for _, p := range s.hidden.Places {
		for _, name := range placeNames(p) {
			covers, err := coverPlace(name, dirs)
			if err != nil {
				return nil, err
			}
			found = append(found, covers...)
		}
	}
	walk := &shieldWalk{shield: s, dirs: dirs}
	for _, d := range dirs {
		if slices.ContainsFunc(dirs, func(o toolcrib.Dir) bool { return o.Path != d.Path && within(d.Path, o.Path) }) {
			continue // seen from the outer one
		}
		if err := walk.descend(d.Path); err != nil {
			return nil, err
		}
	}
	s.forget(walk.visited)
	return tidy(append(found, walk.found...), dirs)
}

// placeNames: a place may be a link, and what it leads to is meant as well.
func placeNames(place string) []string {
	if target, err := filepath.EvalSymlinks(place); err == nil && target != place {
		return []string{place, target}
	}
	return []string{place}
}

func coverPlace(place string, dirs []toolcrib.Dir) ([]Cover, error) {
	var found []Cover
	for _, d := range dirs {
		if within(d.Path, place) {
			return nil, &toolcrib.Error{Code: toolcrib.Denied, Message: fmt.Sprintf("the granted directory %s is protected from programs", d.Path)}
		}
		if !within(place, d.Path) {
			continue
		}
		if info, err := os.Lstat(place); err == nil && info.Mode()&os.ModeSymlink == 0 {
			if info.Mode().IsRegular() {
				if further, err := hasFurtherNames(place); err != nil || further {
					return nil, furtherName(place)
				}
			}
			found = append(found, Cover{Path: place, Dir: info.IsDir()})
			// Who could rename a directory on the way there would uncover it next time.
			for up := filepath.Dir(place); up != d.Path && within(up, d.Path); up = filepath.Dir(up) {
				found = append(found, Cover{Path: up, Kind: Pin, Dir: true})
			}
		}
	}
	return found, nil
}

func furtherName(file string) error {
	return Unavailable(fmt.Sprintf("the protected file %s has a further name (a hard link), which a program could read it by: remove one of them, or grant less", file), nil)
}

// within reports whether a path is a directory or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// tidy sorts covers, and leaves out what lies below something hidden and what
// cannot be written anyway.
func tidy(list []Cover, dirs []toolcrib.Dir) ([]Cover, error) {
	slices.SortFunc(list, func(a, b Cover) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return int(a.Kind) - int(b.Kind) // what is hidden and fixed is hidden
	})
	var out []Cover
	hidden := ""
	for _, c := range list {
		switch {
		case hidden != "" && within(c.Path, hidden), len(out) > 0 && out[len(out)-1].Path == c.Path, c.Kind != Hide && !writable(c.Path, dirs):
			continue
		case c.Kind == Hide:
			hidden = c.Path
		}
		out = append(out, c)
	}
	if len(out) > maxCovers {
		return nil, Unavailable(fmt.Sprintf("there are %d protected files in the granted directories, and at most %d can be covered: grant less", len(out), maxCovers), nil)
	}
	return out, nil
}

// writable tells whether the innermost grant around a path is for writing.
func writable(path string, dirs []toolcrib.Dir) bool {
	var inner toolcrib.Dir
	for _, d := range dirs {
		if within(path, d.Path) && len(d.Path) >= len(inner.Path) {
			inner = d
		}
	}
	return inner.Write
}
