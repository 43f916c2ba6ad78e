package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// maxSearched bounds how many entries are looked at.
const maxSearched = 50_000

// ErrMany says that a tree has too many files to look at them all.
var ErrMany = errors.New("there are too many files to look at")

// FirstGuarded finds a file below a directory that is out of reach, and that a
// program which goes through the tree by itself would read all the same. Empty: there
// is none. The settings of git in a Git directory do not count: they are kept from
// being written.
func (f *Handle) FirstGuarded(ctx context.Context, dir string, s Search) (string, error) {
	l := &looking{r: s.compile(f, dir), most: int64(cmp.Or(s.Most, maxSearched))}
	err := f.look(ctx, dir, "", 0, l)
	if name := l.found.Load(); name != nil {
		return *name, nil
	}
	return "", err
}

// looking is what one look through a tree has come to.
type looking struct {
	r     *reading
	most  int64
	count atomic.Int64
	found atomic.Pointer[string]
}

func (l *looking) tell(name string) error {
	l.found.CompareAndSwap(nil, &name)
	return fs.SkipAll
}

// look goes through a directory that a search has come to by a path of its own.
func (f *Handle) look(ctx context.Context, dir, as string, depth int, l *looking) error {
	var mu sync.Mutex
	var links []string
	err := f.walk(ctx, dir, &walk{all: true, visit: func(d *Folder) error {
		if d.Err != nil {
			return d.Err
		}
		if d.depth > 0 && (d.barred && !l.r.some || d.dir.in(f.places().idSet)) {
			return l.tell(path.Join(as, d.Path))
		}
		if d.git { // what was committed is no file any more
			d.Entries = slices.DeleteFunc(d.Entries, func(e Entry) bool { return e.Name == "objects" && e.Type.IsDir() })
		}
		rules := l.r.ignoreRules(d)
		d.Entries = slices.DeleteFunc(d.Entries, func(e Entry) bool {
			return !l.r.reads(path.Join(as, d.Path, e.Name), e.Name, e.Type, rules)
		})
		if l.count.Add(int64(len(d.Entries))) > l.most {
			return ErrMany
		}
		for i, e := range d.Entries {
			switch {
			case d.gitSetting(e):
				d.Entries[i].barred = false // nor does what is in it
			case l.r.Whole && e.Type&fs.ModeSymlink != 0:
				mu.Lock()
				links = append(links, path.Join(d.Path, e.Name))
				mu.Unlock()
			case f.guards(d, e) && (!e.Type.IsDir() || !l.r.some):
				return l.tell(path.Join(as, d.Path, e.Name))
			}
		}
		return nil
	}}, nil)
	for _, link := range links {
		if err != nil || l.found.Load() != nil {
			break
		}
		err = f.lookBehind(ctx, filepath.Join(dir, filepath.FromSlash(link)), path.Join(as, link), depth, l)
	}
	return err
}

// mostLinks bounds how many links to directories lead on from each other.
const mostLinks = 4

// lookBehind looks at what a link leads to, for a program that follows it. Where it leads
// out of what was granted, that program stops as well.
func (f *Handle) lookBehind(ctx context.Context, link, as string, depth int, l *looking) error {
	if !l.r.reads(as, path.Base(as), 0, nil) && !f.behindDir(link) {
		return nil // its name is not meant, and nothing is below it
	}
	info, err := f.Stat(link)
	if err == nil && !info.IsDir() {
		err = f.Check(link, false, false)
	}
	dir := err == nil && info.IsDir()
	switch {
	case errors.Is(err, ErrProtected), refusal.Is(err, refusal.Denied):
		return l.tell(as)
	case dir && depth == mostLinks:
		return ErrMany
	case dir:
		return f.look(ctx, link, as, depth+1, l)
	}
	return nil
}

// behindDir reports whether a link leads to a directory, which may be out of reach.
func (f *Handle) behindDir(link string) bool {
	var at string
	err := f.at(filepath.Dir(link), aim{}, func(s *spot) error {
		at = s.path()
		return nil
	})
	if err != nil {
		return true
	}
	info, err := os.Stat(filepath.Join(at, filepath.Base(link)))
	return err == nil && info.IsDir()
}

// gitSetting reports whether an entry is out of reach only because git goes by it.
func (d *Folder) gitSetting(e Entry) bool {
	_, runs := gitPart(e.Name)
	return runs && d.git && !d.bars(e.Name)
}

// guards reports whether an entry is out of reach, by this name or by another that the
// same file has. One that changed meanwhile counts, as it does for [Handle.Check].
func (f *Handle) guards(d *Folder, e Entry) bool {
	if e.barred || !e.Type.IsRegular() {
		return e.barred
	}
	file, err := d.Open(e.Name) // as our own search opens it
	if err != nil {
		return errors.Is(err, ErrProtected) || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
	}
	return file.Close() != nil
}

// FirstNamed finds the first of some files that is out of reach, by this name or by another
// that the same file has. Their names are relative to a directory, without links, as git has
// them. Empty: there is none.
func (f *Handle) FirstNamed(dir string, names []string) (string, error) {
	var top string
	if err := f.at(dir, aim{}, func(s *spot) error {
		top = s.path()
		return nil
	}); err != nil {
		return "", err
	}
	around := pathglob.Elements(filepath.ToSlash(top))
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
		local := filepath.FromSlash(name)
		link := !severalNames(filepath.Join(top, local))
		if !may && link {
			continue
		}
		switch err := f.Check(filepath.Join(dir, local), false, link); {
		case errors.Is(err, ErrProtected), refusal.Is(err, refusal.Denied):
			return name, nil
		case err != nil:
			return "", err
		}
	}
	return "", nil
}

// severalNames reports whether a file may have further names, one of which could be that of a
// protected file. Git shows a link as what it leads to, and reads nothing there.
func severalNames(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	_, names, ok := keyOf(info)
	return !ok || names > 1
}
