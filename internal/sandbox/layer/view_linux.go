package layer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// View shows a directory as it was before the command, or as it would be if all
// changes were applied. Nothing that is not a plain file or directory is seen in it,
// and no link is followed.
type View struct {
	set   *Set
	tree  int
	rel   string
	after bool
}

// View gives a view of a directory in a tree of the set.
func (s *Set) View(dir string, after bool) (*View, error) {
	found := -1
	for i, t := range s.trees {
		if (dir == t.Root || strings.HasPrefix(dir, t.Root+"/")) && (found < 0 || len(t.Root) > len(s.trees[found].Root)) {
			found = i
		}
	}
	if found < 0 {
		return nil, fmt.Errorf("%s lies in no layer", dir)
	}
	return &View{set: s, tree: found, rel: strings.TrimPrefix(strings.TrimPrefix(dir, s.trees[found].Root), "/"), after: after}, nil
}

// errNoFile: what is there is no plain file.
var errNoFile = errors.New("it is no plain file")

// Open opens a file. Nothing there, or a directory, is [fs.ErrNotExist].
func (v *View) Open(name string) (*os.File, fs.FileInfo, error) {
	at, err := v.place(name)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(at.dir) //nolint:errcheck // it was only read
	f, err := openFile(at)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fs.ErrNotExist
	case !info.Mode().IsRegular():
		err = errNoFile
	default:
		return f, info, nil
	}
	return nil, nil, errors.Join(err, f.Close())
}

// Link says where a link leads, and when it was made. What is none is an error.
func (v *View) Link(name string) (target string, written time.Time, err error) {
	at, err := v.place(name)
	if err != nil {
		return "", written, err
	}
	defer unix.Close(at.dir) //nolint:errcheck // it was only read
	e, err := at.entry()
	if err == nil && e.Mode&fs.ModeSymlink == 0 {
		err = errNoLink
	}
	return e.Target, e.mtime, err
}

// errNoLink: what is there is no link.
var errNoLink = errors.New("it is no link")

// place opens the directory of what is seen under a name.
func (v *View) place(name string) (place, error) {
	tree := v.set.trees[v.tree]
	root, rel := tree.Root, filepath.Join(v.rel, name)
	if v.after {
		if c, changed := v.set.Find(filepath.Join(tree.Root, rel)); changed {
			if !c.After.Exists() {
				return place{}, fs.ErrNotExist
			}
			if !c.ModeOnly {
				root, rel = v.set.at(c)
			}
		}
	}
	parent, err := openParent(root, rel)
	if errors.Is(err, unix.ENOTDIR) {
		err = fs.ErrNotExist
	}
	return place{parent, filepath.Base(rel)}, err
}

// List gives the names in a directory. Nothing there, or a file, is [fs.ErrNotExist].
func (v *View) List(dir string) ([]string, error) {
	tree := v.set.trees[v.tree]
	rel := filepath.Join(v.rel, dir)
	path := filepath.Join(tree.Root, rel)
	c, changed := v.set.Find(path)
	changed = changed && v.after
	if changed && !c.After.Mode.IsDir() {
		return nil, fs.ErrNotExist
	}
	list, err := namesBelow(tree.Root, rel)
	if errors.Is(err, fs.ErrNotExist) && changed {
		err = nil
	}
	if err != nil || !v.after {
		return list, err
	}
	list = slices.DeleteFunc(list, func(name string) bool {
		c, changed := v.set.Find(filepath.Join(path, name))
		return changed && !c.After.Exists()
	})
	from, found := slices.BinarySearchFunc(v.set.Changes, path, func(c Change, path string) int { return comparePaths(c.Path, path) })
	if found {
		from++
	}
	for _, c := range v.set.Changes[from:] {
		name, inside := strings.CutPrefix(c.Path, path+"/")
		if !inside {
			break
		}
		if c.Kind == Created && !strings.Contains(name, "/") {
			list = append(list, name)
		}
	}
	return list, nil
}

// namesBelow lists a live directory.
func namesBelow(root, rel string) ([]string, error) {
	top, err := openRoot(root)
	if err != nil {
		return nil, err
	}
	defer unix.Close(top) //nolint:errcheck // it was only read
	dir, err := openBelow(top, rel)
	if errors.Is(err, unix.ENOTDIR) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", filepath.Join(root, rel), err)
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	return names(dir)
}
