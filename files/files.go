// Package files is the handle on files that a running tool is given: granted
// directories, and nothing outside of them.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Handle is the granted directories of one call. Each is opened when it is
// first needed and stands behind an [os.Root]; from there every name is
// followed element by element through open directories, and what is judged is
// what was opened, not what a path led to a moment before. So neither "..", a
// link, an absolute path nor a swap between check and use leads out.
//
// A relative name begins in the base directory; the innermost granted
// directory that holds a path rules it. ".." leaves the directory that was
// really entered, not the one that the text names. What a [Protection] names
// stays out of reach however it is called. Texts of errors are fit for a model
// and tell nothing of what lies outside. A Handle may be used by many goroutines
// until Close.
type Handle struct {
	trees  []*tree
	base   string
	guard  *Protection
	trash  string
	denied pathglob.Set // out of reach for this call
	rules  []string     // denied, as it was given
	fixed  pathglob.Set // only read by this call
	ways   *Judged      // where names led when they were judged; they lead nowhere else
	closed atomic.Bool
	names  pathglob.Names // how names are compared where a path is granted

	places func() places // what Protection names by place, and the trash
	leads  func() *leads // what links of protected names lead to
	within []string      // what the trees were narrowed from
	linked func() hard   // what else only a further name of a file could reach
}

// Options sets up a [Handle]. The zero value is the safest.
type Options struct {
	// Protected is what stays out of reach. Nil: [DefaultProtected], with the
	// home directory of this process.
	Protected *Protection
	// Denied and Fixed are as in the Grant of a call: places that are out of reach, and such
	// that can only be read.
	Denied, Fixed []string
	// Base is the absolute path of the directory that relative names begin in.
	// It need not be granted itself: what lies in a granted directory below it
	// is found all the same. Empty: the first granted directory.
	Base string
	// Within is the absolute paths of the directories that the granted ones
	// were narrowed from; they are taken as they are. A granted directory that
	// lies inside one of them must be a real directory there: otherwise who may
	// write in the wider one could put a link in its place and so choose what
	// is granted. Empty: Base.
	Within []string
	// Trash is the absolute path of the directory that removed files are moved
	// to; it is protected too. Empty: nothing can be removed.
	Trash string
	// Judged is where paths led when the call was judged: under those names
	// nothing else is opened. Nil: none was judged.
	Judged *Judged
}

// tree is one granted directory.
type tree struct {
	Dir
	outer *tree  // the innermost tree around it
	top   string // else the outermost directory it was narrowed from, or ""
	below string // its path from there
	open  func() error

	root *os.Root
	info fs.FileInfo
	real string // its path without links
}

// New makes the handle on the given directories. Nothing is opened yet:
// a directory that is missing fails the calls that need it.
func New(dirs []Dir, opt Options) (*Handle, error) { return newHandle(dirs, opt, pathglob.Here()) }

func newHandle(dirs []Dir, opt Options, names pathglob.Names) (*Handle, error) {
	f := &Handle{names: names, guard: opt.Protected, base: opt.Base, trash: opt.Trash, ways: opt.Judged}
	f.rules = slices.Clone(opt.Denied)
	var err error
	if f.denied, err = pathglob.NewSet(opt.Denied); err != nil {
		return nil, err
	}
	if f.fixed, err = pathglob.NewSet(opt.Fixed); err != nil {
		return nil, err
	}
	if f.guard == nil {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "" // then there are no secrets of a home to protect
		}
		if f.guard, err = NewProtection(home, DefaultProtected()...); err != nil {
			return nil, err
		}
	}
	for _, path := range append([]string{opt.Base, opt.Trash}, opt.Within...) {
		if path != "" && !(Dir{Path: path}).Clean() {
			return nil, fmt.Errorf("the base, the trash and the directories around must have absolute and clean paths, unlike %q", path)
		}
	}
	for _, d := range dirs {
		if !d.Clean() {
			return nil, fmt.Errorf("the granted directory %q is not an absolute and clean path", d.Path)
		}
		t := &tree{Dir: d}
		t.open = sync.OnceValue(func() error { return f.openTree(t) })
		f.trees = append(f.trees, t)
	}
	if f.base == "" && len(dirs) > 0 {
		f.base = dirs[0].Path
	}
	within := opt.Within
	if len(within) == 0 && opt.Base != "" {
		within = []string{opt.Base}
	}
	for _, t := range f.trees {
		t.surround(f.trees, within, names)
	}
	f.places = sync.OnceValue(f.findPlaces)
	f.linked = sync.OnceValue(f.findLinked)
	f.leads, f.within = sync.OnceValue(f.findLeads), opt.Within
	return f, nil
}

// Granted gives the directories that the handle is on, and the places in them that
// stay out of reach of this call by rules: for who has to hold a program to the same.
func (f *Handle) Granted() (dirs []Dir, denied []string) {
	for _, t := range f.trees {
		dirs = append(dirs, t.Dir)
	}
	return dirs, slices.Clone(f.rules)
}

// denies reports whether a rule keeps a path out of reach of this call.
func (f *Handle) denies(elems []string, write bool) bool {
	return f.denied.Has(elems) || write && f.fixed.Has(elems)
}

// Close ends the use of the directories. What runs on meanwhile fails.
func (f *Handle) Close() error {
	f.closed.Store(true)
	var err error
	for _, t := range f.trees {
		if t.open() == nil { // also keeps one that was never opened from being opened later
			err = errors.Join(err, t.root.Close())
		}
	}
	return err
}

// surround finds what a tree has to be opened from. The tree around it is
// opened in the same way, so no link on the way counts. Whether that can be
// written to by this call does not matter: by another it may.
func (t *tree) surround(trees []*tree, within []string, names pathglob.Names) {
	for _, o := range trees {
		if rest, in := names.Below(t.Path, o.Path); in && rest != "" && (t.outer == nil || len(o.Path) > len(t.outer.Path)) {
			t.outer, t.below = o, rest
		}
	}
	if t.outer != nil || slices.ContainsFunc(within, func(top string) bool { return names.Same(top, t.Path) }) {
		return
	}
	for _, top := range within {
		if rest, in := names.Below(t.Path, top); in && (t.top == "" || len(top) < len(t.top)) {
			t.top, t.below = top, rest
		}
	}
}

// openTree opens a granted directory: without links from the directory around
// it that someone else may write in, as far as there is one.
func (f *Handle) openTree(t *tree) error {
	if f.closed.Load() {
		return fs.ErrClosed
	}
	var err error
	switch {
	case t.outer != nil:
		if err := t.outer.open(); err != nil {
			return err
		}
		t.root, err = openBelow(t.outer.root, t.below)
	case t.top != "":
		var top *os.Root
		if top, err = os.OpenRoot(t.top + string(filepath.Separator) + "."); err != nil {
			return err
		}
		t.root, err = openBelow(top, t.below)
		err = errors.Join(err, top.Close())
	default:
		t.root, err = os.OpenRoot(t.Path + string(filepath.Separator) + ".")
	}
	if err != nil {
		return err
	}
	t.info, err = t.root.Stat(".")
	if err == nil {
		t.real, err = filepath.EvalSymlinks(t.Path)
	}
	if err == nil {
		var again fs.FileInfo
		if again, err = os.Stat(t.real); err == nil && !os.SameFile(t.info, again) {
			err = errSwapped
		}
	}
	if err != nil {
		return errors.Join(err, t.root.Close())
	}
	return nil
}

// openBelow opens a directory by a path without links.
func openBelow(root *os.Root, path string) (*os.Root, error) {
	dir := root
	for elem := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if elem == "" {
			continue
		}
		next, err := openElem(dir, elem)
		if dir != root {
			err = errors.Join(err, dir.Close())
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// openElem opens a directory that is no link. os.Root follows links that stay
// inside it, so what was opened is compared with what the name stood for. The
// "/." makes it ask for a directory: a FIFO put there could hold us up.
func openElem(dir *os.Root, elem string) (*os.Root, error) {
	info, err := dir.Lstat(elem)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	next, err := dir.OpenRoot(elem + "/.")
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = errSwapped
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// locate finds the granted directory of an absolute path, and the rest of it.
// The path is taken as it reads up to there, so it must lead there without
// "..": what lies between is not ours to look at.
func (f *Handle) locate(path string) (best *tree, rest []string) {
	volume := filepath.VolumeName(path)
	elems := pathglob.Elements(path[len(volume):])
	found := -1
	for _, t := range f.trees {
		for _, top := range []string{t.Path, t.realPath()} {
			if top == "" || !f.names.Same(filepath.VolumeName(top), volume) {
				continue
			}
			way := pathglob.Elements(top[len(volume):])
			if len(way) > found && len(way) <= len(elems) && slices.EqualFunc(way, elems[:len(way)], f.names.Same) {
				best, found = t, len(way)
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	return best, elems[found:]
}

func (t *tree) realPath() string {
	if t.open() != nil {
		return ""
	}
	return t.real
}

// errSwapped says that a name came to stand for something else between two
// looks; the whole search begins again.
var errSwapped = errors.New("changed while it was being opened")
