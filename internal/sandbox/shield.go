package sandbox

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// Shield names what programs must not reach although it lies in a directory
// that was granted to them: files with passwords, keys, and what makes the
// next git command run a program. A backend covers each such place when a
// program starts, once. What comes into being later, and what somebody else puts
// into the place of what is covered, is not: [Covering.Made] tells of it. A program
// on a layer reaches nothing live, so that neither matters there.
//
// A Shield remembers what it saw, so that a large tree is not read again for
// each program. It is safe for use by many at once.
type Shield struct {
	// WriteGit lets programs write in Git directories, but for the hooks and
	// the config that are there. A program can then still add settings where
	// there were none, which the next git command of a person goes by.
	WriteGit bool
	// Obeyed is what other programs execute or obey later: programs can read it and
	// not write it. Nil: nothing is.
	Obeyed *sensitive.ObeyedSet
	// Own gives the files that we ourselves run or obey outside of every sandbox:
	// obeyed as well, wherever they lie. Nil: there are none.
	Own func() []string
	// Start is where the person started us: her agent and her editor look for their
	// settings there, though a wider directory was granted.
	Start string
	// Home is the person's home directory: where it is granted, programs make
	// nothing at its top. Empty: it is a directory like any other.
	Home string
	// Scratch is where directories lie that nobody works in but programs, until they are
	// removed: nothing is held in these where it is missing. Empty: there are none.
	Scratch string
	// Git reads the settings of repositories: what they point git at is obeyed too.
	// Without Read none are read.
	Git    gitconfig.Source
	hidden *sensitive.List
	outer  *linked.Outer // links in hidden places
	fixed  *sensitive.Set
	most   int // entries of a granted directory that are looked at

	mu      sync.Mutex
	seen    map[string]*sight
	keys    map[keyState]bool // whether a file holds a key
	indexes map[string]*indexSight
	denied  map[string]map[string]*deniedSight // by rules, and by what these call a directory
	inner   map[string]*innerSight             // directories that are obeyed or hidden as a whole
}

// Cover is a place that a backend covers. Those of one grant come sorted, so
// that outer ones are covered before inner ones.
type Cover struct {
	Path string
	Kind CoverKind
	Dir  bool
	Link bool   // a symbolic link, to be pinned itself and not what it leads to
	ID   FileID // what lay there when it was looked at
	// Empty: a hidden directory that rules deny is shown as an empty one, since
	// builds and searches that go through a project stop at one that is shut.
	Empty bool

	unseen bool // hidden because nobody looked into it, and not for its name
}

// CoverKind says how.
type CoverKind uint8

// The kinds of covers.
const (
	Hide CoverKind = iota // neither read nor written
	Fix                   // read, but not written
	Pin                   // used as it is, but not moved away
)

// NewShield reads two lists of patterns: what is hidden, and what can only be
// read. The patterns are those of [files.NewProtection], so that its list
// can be used for both: a place that begins with / or ~/, or a name or the end
// of a path; ! makes an exception to what is hidden. Whatever the lists say,
// Git directories can only be read; see [Shield.WriteGit].
func NewShield(home string, hidden, readOnly []string) (*Shield, error) {
	s := &Shield{most: mostEntries, seen: map[string]*sight{}, keys: map[keyState]bool{}, indexes: map[string]*indexSight{}, inner: map[string]*innerSight{}, denied: map[string]map[string]*deniedSight{}}
	var err error
	if s.hidden, err = sensitive.ParseList(home, hidden...); err != nil {
		return nil, err
	}
	s.outer = &linked.Outer{Dirs: s.hidden.Places, Except: s.hidden.Unled}
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

// within reports whether a path is a directory or lies below it.
func within(path, dir string) bool {
	return path == dir || pathglob.Inside(path, dir)
}

// writable tells whether the innermost grant around a path is for writing.
func writable(path string, dirs []files.Dir) bool {
	var inner files.Dir
	for _, d := range dirs {
		if within(path, d.Path) && len(d.Path) >= len(inner.Path) {
			inner = d
		}
	}
	return inner.Write
}
