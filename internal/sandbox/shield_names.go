package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// coverFurtherNames hides a hidden file under its other names too (hard
// links). Those that no granted directory has are out of reach.
func (w *shieldWalk) coverFurtherNames() error {
	wanted := map[FileID]string{}
	for _, c := range w.found {
		if c.Kind != Hide || c.Dir || w.moved != "" {
			continue
		}
		facts, err := factsOf(c.Path)
		if err != nil || facts.id != c.ID {
			return w.gone(c.Path)
		}
		if facts.regular && facts.names > 1 {
			wanted[facts.id] = c.Path
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	further, err := w.furtherNames(wanted)
	if err != nil || len(further) == 0 {
		return err
	}
	w.found = append(w.found, further...)
	if err := w.tidy(); err != nil {
		return err
	}
	w.identify()
	return nil
}

// furtherNames finds files by their numbers in all directories that were
// looked at. Most are passed over by the numbers that are remembered of them.
func (w *shieldWalk) furtherNames(wanted map[FileID]string) ([]Cover, error) {
	numbers, plain := map[uint64]bool{}, true
	for id, path := range wanted {
		numbers[id.Inode] = true
		// Some file systems list other numbers than a file really has.
		seen := w.shield.seen[filepath.Dir(path)]
		plain = plain && seen != nil && slices.Contains(seen.inodes, id.Inode)
	}
	known := map[string]bool{}
	for _, c := range w.found {
		known[c.Path] = true
	}
	var found []Cover
	asked := 0
	for dir := range w.visited {
		seen := w.shield.seen[dir]
		if seen == nil || plain && !slices.ContainsFunc(seen.inodes, func(n uint64) bool { return numbers[n] }) {
			continue
		}
		entries, err := readDir(dir, seen.state)
		if err != nil {
			return nil, w.gone(dir)
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.name)
			if e.kind != 0 || known[name] || plain && !numbers[e.inode] {
				continue
			}
			if asked++; asked > maxEntries {
				return nil, tooManyNames(wanted)
			}
			facts, err := factsOf(name)
			if err != nil {
				return nil, w.gone(name)
			}
			if _, ok := wanted[facts.id]; ok {
				found = append(found, Cover{Path: name})
				w.note("%s is hidden from programs: it is another name (a hard link) of a protected file, %s", shorten(name), shorten(wanted[facts.id]))
			}
		}
	}
	return found, nil
}

func tooManyNames(wanted map[FileID]string) error {
	path := ""
	for _, p := range wanted {
		path = max(path, p)
	}
	return Unavailable(fmt.Sprintf("the protected file %s has a further name (a hard link), and there are too many files to look for it: remove one of the names, or grant less", path), nil)
}

// errGone ends a look that has to be done again.
var errGone = errors.New("it is not there any more")

func (w *shieldWalk) gone(path string) error {
	w.moved = path
	return errGone
}
