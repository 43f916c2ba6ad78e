package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// aim says what a name is looked up for.
type aim struct {
	write   bool   // it will be written, made or removed
	data    []byte // what will be written, if that is known
	parents bool   // make missing directories on the way
	link    bool   // a link at the end is meant itself
	maybe   bool   // nothing need be there, nor directories on the way
	// replaced: of the last so many elements nothing counts as there, unless links led to
	// them.
	replaced int
}

// spot is where a name leads: an entry of an open directory, reached without
// a link that was not judged.
type spot struct {
	f    *Handle
	name string // as the caller gave it, for texts
	to   aim

	levels []level
	base   string      // the entry in the last level; "." for a granted directory itself
	rest   []string    // what follows where even the directory of the entry is missing
	info   fs.FileInfo // of the entry; nil: nothing is there
	links  int         // that were followed
	judged int         // how many of the elements that are missing were judged already
}

// level is one directory on the way.
type level struct {
	tree *tree
	root *os.Root
	rel  []string // below the tree's root, without links
	way  []string // its whole real path as it was gone, also into another tree

	git *gitParts // those it has; nil: nobody has looked
}

// elems is the whole real path of an entry here.
func (l *level) elems(entry string) []string {
	return append(append(pathglob.Elements(l.tree.real), l.rel...), entry)
}

func (l *level) close() error {
	if l.root == l.tree.root {
		return nil // open until the call ends
	}
	return l.root.Close()
}

func (s *spot) here() *level { return &s.levels[len(s.levels)-1] }

// path is the absolute path of the entry as granted, without further links.
func (s *spot) path() string {
	l := s.here()
	return filepath.Join(slices.Concat([]string{l.tree.Path}, l.rel, []string{s.base}, s.rest)...)
}

func (s *spot) close() error {
	var err error
	for _, l := range s.levels {
		err = errors.Join(err, l.close())
	}
	s.levels = nil
	return err
}

// at follows a name and does something there. If what a name stands for
// changes on the way, it begins again; if another program is in the way, it waits a
// little, two thirds of a second in all.
func (f *Handle) at(name string, to aim, do func(*spot) error) error {
	var err error
	for tries, pause := 0, 10*time.Millisecond; tries < 64; tries++ {
		s := &spot{f: f, name: name, to: to}
		if err = s.follow(); err == nil {
			err = do(s)
		}
		err = errors.Join(err, s.close())
		if busy(err) && pause <= maxPause {
			time.Sleep(pause)
			pause *= 2
			continue
		}
		if !errors.Is(err, errSwapped) {
			break
		}
	}
	return told(name, err)
}

// maxPause is the last pause before a file that another program uses is given up.
const maxPause = 320 * time.Millisecond

const (
	maxLinks  = 40   // that a name may lead through
	maxLevels = 256  // directories in each other: all of them are open
	maxSteps  = 4096 // from directory to directory, in all
)

// follow walks from the granted directory to the entry. Links are read and
// followed here, never by the system.
func (s *spot) follow() error {
	todo, err := s.begin()
	if err != nil {
		return err
	}
	for steps := 0; len(todo) > 0; steps++ {
		elem := todo[0]
		todo = todo[1:]
		if elem == ".." {
			if todo, err = s.up(todo); err != nil {
				return err
			}
			continue
		}
		info, err := s.look(elem)
		if err == nil && len(todo) < s.to.replaced && s.links == 0 {
			err = fs.ErrNotExist
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if made, err := s.missing(elem, todo); !made || err != nil {
				return err
			}
			todo = append([]string{elem}, todo...)
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0 && (len(todo) > 0 || !s.to.link):
			if s.links++; s.links > maxLinks {
				return failure(s.name, "too many links", syscall.ELOOP)
			}
			if todo, err = s.through(elem, todo); err != nil {
				return err
			}
		case len(todo) == 0:
			return s.settle(elem, info)
		default:
			if err := s.descend(elem); err != nil {
				return err
			}
		}
		if steps > maxSteps || len(todo)+len(s.levels) > maxLevels+maxLinks {
			return failure(s.name, "the path has too many elements", fs.ErrInvalid)
		}
	}
	info, err := s.here().root.Stat(".")
	if err != nil {
		return err
	}
	return s.settle(".", info)
}

// begin puts the spot at the top of the granted directory of a name.
func (s *spot) begin() ([]string, error) {
	if err := badName(s.name); err != nil {
		return nil, err
	}
	if s.f.closed.Load() {
		return nil, fs.ErrClosed
	}
	path := filepath.FromSlash(s.name)
	if !filepath.IsAbs(path) {
		if s.f.base == "" || filepath.VolumeName(path) != "" || os.IsPathSeparator(path[0]) {
			return nil, outside(s.name)
		}
		path = s.f.base + string(filepath.Separator) + path
	}
	return s.jump(path, nil)
}

// jump puts the spot at the top of the granted directory of an absolute path.
func (s *spot) jump(path string, todo []string) ([]string, error) {
	t, rest := s.f.locate(path + string(filepath.Separator) + strings.Join(todo, string(filepath.Separator)))
	if t == nil {
		return nil, outside(s.name)
	}
	if err := t.open(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, failure("", "the granted directory "+shown(t.Path)+" does not exist", fs.ErrNotExist)
		}
		return nil, err
	}
	places := s.f.places()
	if places.bar(pathglob.Elements(t.real)) || places.bar(pathglob.Elements(t.Path)) || places.has(t.info) || insideGit(t.real, s.to.write) {
		return nil, protected(s.name)
	}
	if s.f.denies(pathglob.Elements(t.real), s.to.write) {
		return nil, denied(s.name)
	}
	err := s.close()
	s.levels = []level{{tree: t, root: t.root, way: pathglob.Elements(t.real[len(filepath.VolumeName(t.real)):])}}
	if len(rest) > maxLevels {
		err = failure(s.name, "the path has too many elements", fs.ErrInvalid)
	}
	return rest, err
}

// gitParts are looked up once for each directory.
func (l *level) gitParts() gitParts {
	if l.git == nil {
		parts := gitPartsOf(l.root)
		l.git = &parts
	}
	return *l.git
}

// up leaves a directory. Above the top of one grant another may begin: the
// path to that top has no links, so it can be shortened; what then leads down
// again is not ours to look at before the next grant begins.
func (s *spot) up(todo []string) ([]string, error) {
	if n := len(s.levels); n > 1 {
		last := s.levels[n-1]
		s.levels = s.levels[:n-1]
		return todo, last.close()
	}
	above := filepath.Dir(s.here().tree.real)
	for len(todo) > 0 && todo[0] == ".." {
		above, todo = filepath.Dir(above), todo[1:]
	}
	return s.jump(above, todo)
}

// look judges an element by its name and place and tells what it is.
func (s *spot) look(elem string) (fs.FileInfo, error) {
	l := s.here()
	if s.f.denies(l.elems(elem), s.to.write) {
		return nil, denied(s.name)
	}
	if s.barred(l.elems(elem)) || runtime.GOOS == "windows" && shortName(elem) {
		return nil, protected(s.name)
	}
	if part, runs := gitPart(elem); runs || s.to.write {
		// An entry that would make the directory a repository counts as if it
		// were there: the config could have been put there before.
		if slices.ContainsFunc(l.elems(""), isGit) || (l.gitParts() | part).whole() {
			return nil, protected(s.name)
		}
	}
	info, err := l.root.Lstat(elem)
	if err == nil && (s.f.places().has(info) || !info.IsDir() && s.f.guard.list.Judge(l.elems(elem)) == sensitive.Keyed && holdsKey(l.root, elem, elem)) {
		err = protected(s.name)
	}
	return info, err
}

// barred judges an entry by its whole real path.
func (s *spot) barred(elems []string) bool {
	return s.f.guard.list.Judge(elems) == sensitive.Closed || s.to.write && isGit(elems[len(elems)-1]) || s.f.places().bar(elems)
}

// missing handles an element that is not there: the end of a name is where
// something can be made, and directories before it are made on request.
func (s *spot) missing(elem string, todo []string) (made bool, err error) {
	l := s.here()
	if err := s.led(elem, nil); err != nil {
		return false, err
	}
	if slices.Contains(todo, "..") || !s.to.maybe && (!s.to.write || len(todo) > 0 && !s.to.parents) {
		return false, fs.ErrNotExist
	}
	if s.to.write && !l.tree.Write {
		return false, readOnly(s.name)
	}
	// Judge all that would be made before the first of it is.
	elems := l.elems(elem)
	for i := 0; ; i++ {
		if i >= s.judged {
			if err := s.mayMake(elems); err != nil {
				return false, err
			}
		}
		if i == len(todo) {
			if err := s.becomesKey(elems); err != nil {
				return false, err
			}
			break
		}
		elems = append(elems, todo[i])
	}
	if s.to.maybe {
		s.rest = todo
		return false, s.settle(elem, nil)
	}
	if len(todo) == 0 {
		return false, s.settle(elem, nil)
	}
	if err := s.asJudged(append([]string{elem}, todo...)...); err != nil {
		return false, err
	}
	switch err := l.root.Mkdir(elem, 0o777); {
	case err == nil:
		return true, s.noGitMade(elem)
	case !errors.Is(err, fs.ErrExist):
		return false, err
	}
	return true, nil
}

// mayMake judges what is not there, by its whole real path.
func (s *spot) mayMake(elems []string) error {
	if s.to.write {
		if err := newName(s.name, elems[len(elems)-1]); err != nil {
			return err
		}
	}
	if s.f.denies(elems, s.to.write) {
		return denied(s.name)
	}
	if s.barred(elems) {
		return protected(s.name)
	}
	if to := s.f.leads().find(elems, nil, s.to.write, nil); to != nil {
		return to.refuse(s.name)
	}
	return nil
}

// through replaces a link by what it says.
func (s *spot) through(elem string, todo []string) ([]string, error) {
	target, err := s.here().root.Readlink(elem)
	if err != nil {
		if errors.Is(err, syscall.EINVAL) {
			return nil, errSwapped // no longer a link
		}
		return nil, err
	}
	target = filepath.FromSlash(target)
	if filepath.IsAbs(target) {
		return s.jump(target, todo)
	}
	if filepath.VolumeName(target) != "" || strings.HasPrefix(target, string(filepath.Separator)) {
		return nil, outside(s.name)
	}
	return append(pathglob.Elements(target), todo...), nil
}

// descend enters a directory that is no link.
func (s *spot) descend(elem string) error {
	l := s.here()
	next, err := openElem(l.root, elem)
	if err != nil {
		return err
	}
	in := level{tree: l.tree, root: next, rel: append(slices.Clone(l.rel), elem), way: append(slices.Clone(l.way), elem)}
	info, err := next.Stat(".")
	for _, t := range s.f.trees {
		// A granted directory inside another keeps its own rules, however it
		// was reached.
		if err == nil && t != in.tree && t.open() == nil && os.SameFile(t.info, info) {
			err = next.Close()
			in.tree, in.root, in.rel = t, t.root, nil
			break
		}
	}
	s.levels = append(s.levels, in)
	if err == nil && s.f.places().has(info) {
		err = protected(s.name)
	}
	return err
}

// settle takes the entry that was found.
func (s *spot) settle(base string, info fs.FileInfo) error {
	s.base, s.info = base, info
	if err := s.led(base, info); err != nil {
		return err
	}
	if err := s.asJudged(append([]string{base}, s.rest...)...); err != nil {
		return err
	}
	if s.to.write && !s.here().tree.Write {
		return readOnly(s.name)
	}
	return nil
}

// asJudged refuses a place that is another than the one the name led to when the
// call was judged.
func (s *spot) asJudged(rest ...string) error {
	if rest[0] == "." {
		rest = nil
	}
	if s.f.ways.holds(s.name, s.to.link, slices.Concat(s.here().way, rest)) {
		return nil
	}
	return failure("", shown(s.name)+" leads somewhere else than when it was judged; call again", ErrMoved)
}
