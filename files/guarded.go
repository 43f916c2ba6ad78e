package files

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// Search is which files a program reads that goes through a tree.
type Search struct {
	Names []string // patterns for the last element of the name; none: all
}

// maxSearched bounds how many entries are looked at.
const maxSearched = 50_000

// ErrMany says that a tree has too many files to look at them all.
var ErrMany = errors.New("there are too many files to look at")

// FirstGuarded finds a file below a directory that is out of reach, and that a
// program which goes through the tree by itself would read all the same. Empty: there
// is none. The settings of git in a Git directory do not count: they are kept from
// being written.
func (f *Handle) FirstGuarded(ctx context.Context, dir string, s Search) (string, error) {
	var found atomic.Pointer[string]
	var count atomic.Int64
	tell := func(name string) error {
		found.CompareAndSwap(nil, &name)
		return fs.SkipAll
	}
	err := f.walk(ctx, dir, &walk{all: true, visit: func(d *Folder) error {
		if d.Err != nil {
			return d.Err
		}
		if d.depth > 0 && (d.barred || d.dir.in(f.places().idSet)) {
			return tell(d.Path)
		}
		if count.Add(int64(len(d.Entries))) > maxSearched {
			return ErrMany
		}
		if d.git { // what was committed is no file any more
			d.Entries = slices.DeleteFunc(d.Entries, func(e Entry) bool { return e.Name == "objects" && e.Type.IsDir() })
		}
		for _, e := range d.Entries {
			if _, runs := gitPart(e.Name); !e.barred || d.git && runs && !d.bars(e.Name) {
				continue
			}
			if e.Type.IsDir() || s.reads(e.Name) {
				return tell(path.Join(d.Path, e.Name))
			}
		}
		return nil
	}}, nil)
	if name := found.Load(); name != nil {
		return *name, nil
	}
	return "", err
}

// reads reports whether a file of that name is read. Letter case never matters.
func (s Search) reads(name string) bool {
	return len(s.Names) == 0 || slices.ContainsFunc(s.Names, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
		return ok || err != nil
	})
}

// FirstNamed finds the first of some files that is out of reach. Their names are
// relative to a directory, without links, as git has them. Empty: there is none.
func (f *Handle) FirstNamed(dir string, names []string) (string, error) {
	var around []string
	if err := f.at(dir, aim{}, func(s *spot) error {
		around = pathglob.Elements(filepath.ToSlash(s.path()))
		return nil
	}); err != nil {
		return "", err
	}
	near, known := f.places().near(around), map[string]bool{}
	for _, name := range names {
		elems := strings.Split(name, "/")
		may := near || len(f.denied) > 0
		for _, elem := range elems {
			is, ok := known[elem]
			if !ok {
				is = f.guard.list.May(elem) || f.leads().may(elem)
				known[elem] = is
			}
			may = may || is
		}
		if !may {
			continue
		}
		switch err := f.Check(filepath.Join(dir, filepath.FromSlash(name)), false, true); {
		case errors.Is(err, ErrProtected), refusal.Is(err, refusal.Denied):
			return name, nil
		case err != nil:
			return "", err
		}
	}
	return "", nil
}
