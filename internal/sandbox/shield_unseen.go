package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcrib/toolcrib/files"
)

// A look leaves directories out: those with a protected name, those that lie
// too deep or are too large, those that cannot be read, placeholders, and what
// lies inside of Git directories. Programs see nothing of them, so that is
// enough for what was there before. But a program can make such a directory,
// with a repository in it, and a link that leads there. No repository belongs
// in such a place, so a new one is set aside whatever its settings are.

const (
	maxUnseen  = 1 << 24 // entries that are looked at
	rootLevels = 64      // so many directories down paths begin anew: a root opens every element of a path
)

// sweepUnseen sets aside the new repositories in directories that a look
// leaves out, and in new repositories, which were looked at themselves.
func (c *Covering) sweepUnseen(places, repositories []string) (notes []string, again bool) {
	left := maxUnseen
	shut := map[string]FileID{}
	for _, cover := range c.Covers {
		if cover.Kind != Pin {
			shut[cover.Path] = cover.ID
		}
	}
	for _, place := range slices.Concat(places, repositories) {
		if c.hid(place) || !writable(place, c.dirs) {
			continue // no program could write there
		}
		root, err := openStraight(place)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) || errors.Is(err, syscall.ELOOP) { // something else by now
			continue
		}
		if err != nil {
			notes = append(notes, unseenNote(place, err))
			continue
		}
		u := &unseen{covering: c, left: &left, shut: shut}
		u.look(root, place, slices.Contains(repositories, place))
		notes, again = append(notes, u.notes...), again || u.found
		_ = root.Close() // it was only read
	}
	if left <= 0 {
		notes = append(notes, fmt.Sprintf("the program made more directories than can be looked at for repositories: do not use git in new directories below %s before you have looked", shorten(c.dirs[0].Path)))
	}
	return notes, again
}

func unseenNote(dir string, err error) string {
	return fmt.Sprintf("%s could not be looked into (%v), and the program may have made a repository there: do not use git there before you have looked", shorten(dir), err)
}

// hid tells whether a place was hidden from the program or read-only to it, and
// is still what was covered: what lies above it may have been moved away. What
// nobody looked into stays out of reach under another name, too.
func (c *Covering) hid(place string) bool {
	for at := place; ; at = filepath.Dir(at) {
		if facts, err := factsOf(at); err == nil && facts.id != (FileID{}) && slices.ContainsFunc(c.Covers, func(o Cover) bool { return o.unseen && o.ID == facts.id }) {
			return true
		}
		if at == filepath.Dir(at) || slices.ContainsFunc(c.dirs, func(d files.Dir) bool { return d.Path == at }) {
			break
		}
	}
	return slices.ContainsFunc(c.Covers, func(cover Cover) bool {
		if cover.Kind == Pin || !within(place, cover.Path) {
			return false
		}
		facts, err := factsOf(cover.Path)
		return err == nil && facts.id == cover.ID
	})
}

// openUp tries something again after its place was opened up: a program may
// have closed it, and whoever made it can.
func openUp[T any](try func() (T, error), open func() error) (T, error) {
	got, err := try()
	if errors.Is(err, fs.ErrPermission) && open() == nil {
		return try()
	}
	return got, err
}

// unseen goes through one such directory.
type unseen struct {
	covering *Covering
	left     *int
	shut     map[string]FileID // what the program could not write
	notes    []string
	found    bool
}

// look goes through a directory. A repository is not set aside itself, and its
// submodules and work trees were seen.
func (u *unseen) look(top *os.Root, path string, repository bool) {
	type place struct {
		name string
		deep int
	}
	for queue := []place{{".", 0}}; len(queue) > 0; {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		full := filepath.Join(path, at.name)
		if at.deep == rootLevels {
			root, err := openUp(func() (*os.Root, error) { return top.OpenRoot(at.name) }, func() error { return top.Chmod(at.name, 0o700) })
			switch {
			case err == nil:
				u.look(root, full, false)
				_ = root.Close() // it was only read
			case !errors.Is(err, fs.ErrNotExist):
				u.notes = append(u.notes, unseenNote(full, err))
			}
			continue
		}
		entries, err := u.entries(top, at.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			u.notes = append(u.notes, unseenNote(full, err))
			continue
		}
		own := repository && at.name == "."
		if !own && isGitDir(full, entries) && len(entries) > 0 {
			u.aside(top, at.name, full, head)
		}
		for _, e := range entries {
			name := filepath.Join(at.name, e.name)
			switch {
			case isGitName(e.name) && !e.isDir():
				u.aside(top, at.name, filepath.Join(full, e.name), e.name)
			case e.isDir() && u.isShut(filepath.Join(full, e.name)):
			case e.isDir() && (!own || !seenInside(e.name)):
				queue = append(queue, place{name, at.deep + 1})
			}
		}
	}
}

func (u *unseen) isShut(path string) bool {
	id, shut := u.shut[path]
	return shut && IsAt(path, id)
}

// seenInside names the parts of a Git directory that a look goes into.
func seenInside(name string) bool {
	return strings.EqualFold(name, "modules") || strings.EqualFold(name, "worktrees")
}

func (u *unseen) entries(top *os.Root, name string) ([]entry, error) {
	f, err := openUp(func() (*os.File, error) { return top.OpenFile(name, os.O_RDONLY|noWait, 0) }, func() error { return top.Chmod(name, 0o700) })
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		_ = top.Chmod(name, 0o700) // it may be listed but not entered; what fails shows below
	}
	var list []entry
	for *u.left > 0 {
		some, err := f.ReadDir(1024)
		for _, e := range some {
			list = append(list, entry{name: e.Name(), kind: e.Type()})
		}
		*u.left -= len(some) + 1
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// aside renames what makes a place a repository, if it is a new one.
func (u *unseen) aside(top *os.Root, dir, path, name string) {
	at := dir
	if name != head {
		at = filepath.Join(dir, name)
	}
	info, err := top.Lstat(at)
	if err != nil {
		return
	}
	if facts, err := factsOf(path); err == nil && facts.id.Number() == numberOf(info) && u.covering.knew(path, facts.id) {
		return
	}
	undo, now := "", path
	root, err := top.OpenRoot(dir)
	if err == nil {
		if name == head {
			now = filepath.Join(path, head)
			undo, err = shutHead(root, path, "it is in a directory that is not searched: protected, too deep or too large")
		} else {
			var to string
			to, err = renameAside(root, name)
			now = filepath.Join(filepath.Dir(path), to)
			undo = fmt.Sprintf("rename %s to %s", shorten(now), name)
		}
		_ = root.Close() // its entries are renamed
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errAside):
	case err != nil:
		u.notes = append(u.notes, fmt.Sprintf("%s is a repository that was made while the program ran, in a directory that is not searched. It could not be set aside (%v): do not use git there before you have looked at it", shorten(path), err))
	default:
		u.found = true
		u.covering.shield.record(Aside{Path: path, At: now, Why: "it is in a directory that is not searched", Undo: undo})
		u.notes = append(u.notes, fmt.Sprintf("%s is a repository that was made while the program ran, in a directory that is not searched. It was set aside: look at it, and %s if you trust it", shorten(path), undo))
	}
}
