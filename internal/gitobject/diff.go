package gitobject

import "errors"

// Change is how one path differs between two trees. The zero Entry: it is not there.
type Change struct {
	Path     string // from the top of the tree, with slashes
	Old, New Entry
}

// The bounds on what two trees may differ in.
const (
	maxChanges = 200_000
	maxDepth   = 256
	maxPath    = 4096
)

// Diff gives the files that differ between two trees, links and submodules among
// them. The zero ID is the tree without entries.
func (s *Store) Diff(from, to ID) ([]Change, error) {
	d := differ{store: s}
	err := d.trees("", from, to, 0)
	return d.found, err
}

type differ struct {
	store *Store
	found []Change
}

// errDeep: a tree has more levels than file systems take.
var errDeep = errors.New("a Git tree is deeper than is looked at")

func (d *differ) trees(dir string, from, to ID, depth int) error {
	if from == to {
		return nil
	}
	if depth > maxDepth || len(dir) > maxPath {
		return errors.Join(errDeep, ErrTooMuch)
	}
	before, err := d.store.Tree(from)
	if err != nil {
		return err
	}
	after, err := d.store.Tree(to)
	if err != nil {
		return err
	}
	was := make(map[string]Entry, len(before))
	for _, e := range before {
		was[e.Name] = e
	}
	for _, e := range after {
		old := was[e.Name]
		delete(was, e.Name)
		if err := d.entry(dir+e.Name, old, e, depth); err != nil {
			return err
		}
	}
	for _, e := range before {
		if _, gone := was[e.Name]; gone {
			if err := d.entry(dir+e.Name, e, Entry{}, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry compares what two trees have under a name.
func (d *differ) entry(path string, from, to Entry, depth int) error {
	if from.Mode == to.Mode && from.ID == to.ID {
		return nil
	}
	var dirs [2]ID
	if from.Mode == ModeDir {
		dirs[0], from = from.ID, Entry{}
	}
	if to.Mode == ModeDir {
		dirs[1], to = to.ID, Entry{}
	}
	if from != (Entry{}) || to != (Entry{}) {
		if len(d.found) >= maxChanges {
			return ErrTooMuch
		}
		d.found = append(d.found, Change{Path: path, Old: from, New: to})
	}
	return d.trees(path+"/", dirs[0], dirs[1], depth+1)
}

// At gives what a tree has at a path; the zero Entry: nothing.
func (s *Store) At(tree ID, path []string) (Entry, error) {
	at := Entry{Mode: ModeDir, ID: tree}
	for _, name := range path {
		if at.Mode != ModeDir {
			return Entry{}, nil
		}
		entries, err := s.Tree(at.ID)
		if err != nil {
			return Entry{}, err
		}
		at = Entry{}
		for _, e := range entries {
			if e.Name == name {
				at = e
			}
		}
		if at == (Entry{}) {
			return at, nil
		}
	}
	return at, nil
}
