package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/linked"
)

// A file may have further names (hard links), made before it was protected or
// before somebody put it where it is obeyed. Whoever writes or reads one of them
// writes or reads the file.

// namedFile is a file whose further names are looked for.
type namedFile struct {
	path string
	kind CoverKind
}

// maxCounted bounds how many files in covered directories are asked at each
// look how many names they have. Of the rest it is remembered, as long as their
// directory does not change.
const maxCounted = 4096

// nameSearch looks for further names of files.
type nameSearch struct {
	wanted map[FileID]namedFile
	plain  bool // directories list the same numbers that files have
	hidden bool // one of them must not be read
	asked  int
}

func (n *nameSearch) add(path string, kind CoverKind, facts fileFacts, plain bool) {
	if !facts.regular || facts.names <= 1 {
		return
	}
	if old, ok := n.wanted[facts.id]; !ok || kind < old.kind {
		n.wanted[facts.id] = namedFile{path, kind}
	}
	n.plain, n.hidden = n.plain && plain, n.hidden || kind == Hide
}

// coverFurtherNames covers a file that is hidden, fixed or obeyed under its
// other names too. Those that no granted directory has are out of reach.
func (w *shieldWalk) coverFurtherNames() error {
	if w.moved != "" {
		return nil
	}
	search := &nameSearch{wanted: map[FileID]namedFile{}, plain: true}
	for _, c := range w.found {
		switch {
		case c.Kind == Pin || c.Link || c.unseen:
		case c.Dir && c.Kind == Hide:
			w.countBelow(search, c.Path, Hide)
		case c.Dir:
		default:
			facts, err := factsOf(c.Path)
			if err != nil || facts.id != c.ID {
				return w.gone(c.Path)
			}
			seen := w.shield.seen[filepath.Dir(c.Path)]
			search.add(c.Path, c.Kind, facts, seen != nil && slices.Contains(seen.inodes, facts.id.Inode))
		}
	}
	w.countObeyed(search)
	w.countHome(search)
	if len(search.wanted) == 0 {
		return nil
	}
	before := len(w.found)
	further, err := w.furtherNames(search)
	if w.found = append(w.found, further...); err != nil || len(w.found) == before {
		return err
	}
	if err := w.tidy(); err != nil {
		return err
	}
	w.identify()
	return nil
}

// countObeyed asks the files of obeyed and fixed directories for their names,
// and the settings of repositories.
func (w *shieldWalk) countObeyed(search *nameSearch) {
	for dir := range w.inners {
		if seen, err := w.inner(dir); err == nil {
			w.count(search, seen, Fix)
		}
	}
	for _, dir := range w.ruled {
		w.countBelow(search, dir, Fix)
	}
	for git := range w.gits {
		for _, name := range []string{"config", "config.worktree", "commondir"} {
			file := filepath.Join(git, name)
			if facts, err := factsOf(file); err == nil {
				seen := w.shield.seen[git]
				search.add(file, Fix, facts, seen != nil && slices.Contains(seen.inodes, facts.id.Inode))
			}
		}
	}
}

func (w *shieldWalk) countBelow(search *nameSearch, dir string, kind CoverKind) {
	for _, l := range linked.Below(dir, w.listInner) {
		if seen, err := w.inner(l.Dir); err == nil {
			w.count(search, seen, kind)
		}
	}
}

func (w *shieldWalk) count(search *nameSearch, seen *innerSight, kind CoverKind) {
	list := seen.Files
	if seen.counted && search.asked >= maxCounted {
		list = seen.many
	}
	search.asked += len(list)
	var many []string
	for _, file := range list {
		facts, err := factsOf(file)
		if err != nil || facts.names <= 1 {
			continue
		}
		many = append(many, file)
		search.add(file, kind, facts, slices.Contains(seen.inodes, facts.id.Inode))
	}
	seen.counted, seen.many = true, many
}

// maxNames bounds how many names of wanted files are asked for in one directory.
// They could not be covered one by one, so it is hidden as a whole.
const maxNames = maxCovers

// furtherNames finds files by their numbers in all directories that were
// looked at. Most are passed over by the numbers that are remembered of them.
func (w *shieldWalk) furtherNames(search *nameSearch) ([]Cover, error) {
	numbers := map[uint64]bool{}
	for id := range search.wanted {
		numbers[id.Inode] = true
	}
	known := map[string]bool{}
	for _, c := range w.found {
		known[c.Path] = true
	}
	var dirs []string
	for dir := range w.visited {
		seen := w.shield.seen[dir]
		if seen != nil && (!search.plain || slices.ContainsFunc(seen.inodes, func(n uint64) bool { return numbers[n] })) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs) // so that each look leaves out the same
	var found []Cover
	asked := 0
	for _, dir := range dirs {
		names, err := w.namesIn(dir, func(e entry, name string) bool {
			return e.kind == 0 && !known[name] && (!search.plain || numbers[e.inode])
		})
		if err != nil {
			return nil, err
		}
		asked += len(names)
		switch crowded := search.plain && (len(names) > maxNames || asked > maxEntries); {
		case crowded && search.hidden && !w.isTop(dir):
			w.leaveOut(dir, fmt.Sprintf("it has further names (hard links) of %s and other protected files, too many to look for", shorten(search.example())))
			asked -= len(names)
			continue
		case asked <= maxEntries:
		case search.hidden:
			return nil, Unavailable(fmt.Sprintf("the protected file %s has a further name (a hard link), and there are too many files to look for it: remove one of the names, or grant less", search.example()), nil)
		default:
			w.warn("%s has a further name (a hard link), and there are too many files to look for it: remove one of the names, or grant less", shorten(search.example()))
			return found, nil
		}
		for _, name := range names {
			facts, err := factsOf(name)
			if err != nil {
				return nil, w.gone(name)
			}
			if c, ok := w.further(search, facts.id, name); ok {
				found = append(found, c)
			}
		}
	}
	return found, nil
}

func (w *shieldWalk) namesIn(dir string, wanted func(e entry, name string) bool) (names []string, err error) {
	entries, err := readEntries(dir, w.shield.seen[dir].state, mostEntries)
	if err != nil {
		return nil, w.gone(dir)
	}
	for _, e := range entries {
		if name := filepath.Join(dir, e.name); wanted(e, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// further covers another name of a file, and says so, unless that lies where
// all is covered already.
func (w *shieldWalk) further(search *nameSearch, id FileID, name string) (Cover, bool) {
	file, ok := search.wanted[id]
	switch {
	case !ok || name == file.path:
		return Cover{}, false
	case file.kind == Hide:
		w.note("%s is hidden from programs: it is another name (a hard link) of a protected file, %s", shorten(name), shorten(file.path))
	case w.inners[filepath.Dir(name)] || !w.reaches(name):
		return Cover{}, false
	default:
		w.note("%s can only be read by programs: it is another name (a hard link) of %s", shorten(name), shorten(file.path))
	}
	return Cover{Path: name, Kind: file.kind}, true
}

// example names one of the files, the same each time.
func (n *nameSearch) example() string {
	path := ""
	for _, f := range n.wanted {
		path = max(path, f.path)
	}
	return path
}

// errGone ends a look that has to be done again.
var errGone = errors.New("it is not there any more")

func (w *shieldWalk) gone(path string) error {
	w.moved = path
	return errGone
}
