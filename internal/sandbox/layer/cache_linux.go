package layer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// CachesChanged tells whether there is anything to be kept of the caches.
func (s *Set) CachesChanged() bool {
	return s.caches != nil && len(s.caches.Changes)+len(s.caches.touched) > 0
}

// keepCaches puts what became of the caches into the live ones, file by file. What
// somebody else changed meanwhile is left as it is, and what fails is left out: a
// program that is killed leaves its caches in no better state. No file is half written
// at any time, since all of it is renamed.
func (s *Set) keepCaches() {
	if !s.CachesChanged() {
		return
	}
	c := s.caches
	_ = c.clean(func(change Change) bool { return !change.Conflict })
	for i, t := range c.trees {
		if root, err := openRoot(t.Root); err == nil {
			_ = unix.Syncfs(root) // what is renamed lies on the same file system
			c.keepCache(i, root)
			_ = unix.Close(root) // it was only used to name things
		}
	}
}

// keepCache keeps one of them.
func (s *Set) keepCache(tree, root int) {
	upper, err := openRoot(s.trees[tree].Upper())
	if err != nil {
		return
	}
	defer unix.Close(upper) //nolint:errcheck // it was only used to name things
	// What is deleted goes first, and last what is in a directory before the directory.
	for _, c := range slices.Backward(s.Changes) {
		if c.tree == tree && c.Kind == Deleted && !c.Conflict {
			_ = removeCached(root, c)
		}
	}
	put := ""
	for _, c := range s.Changes {
		if c.tree != tree || c.Kind == Deleted || c.Conflict || put != "" && pathIn(c.rel, put) {
			continue
		}
		if err := keepCached(root, upper, c); err == nil && c.Kind == Created && c.After.Mode.IsDir() {
			put = c.rel // with all that is in it
		}
	}
	for _, c := range s.touched {
		if c.tree == tree {
			_ = touchCached(root, c)
		}
	}
}

// pathIn tells whether a path lies in a directory.
func pathIn(rel, dir string) bool {
	return len(rel) > len(dir) && rel[:len(dir)] == dir && rel[len(dir)] == '/'
}

// atCached opens the directory of a change of a cache, and makes sure that the live
// file is the one that was compared.
func atCached(root int, c Change) (place, error) {
	dir, err := openBelow(root, filepath.Dir(c.rel))
	if err != nil {
		return place{-1, ""}, err
	}
	at := place{dir, filepath.Base(c.rel)}
	now, err := at.entry()
	if err == nil && (now.Exists() != c.Before.Exists() || now.Exists() && !c.Before.Mode.IsDir() && !c.Before.same(now)) {
		err = errChanged
	}
	if err != nil {
		return place{-1, ""}, errors.Join(err, unix.Close(dir))
	}
	return at, nil
}

func removeCached(root int, c Change) error {
	at, err := atCached(root, c)
	if err != nil {
		return err
	}
	defer unix.Close(at.dir) //nolint:errcheck // it was only used to name things
	flags := 0
	if c.Before.Mode.IsDir() {
		flags = unix.AT_REMOVEDIR
	}
	return unix.Unlinkat(at.dir, at.name, flags)
}

func keepCached(root, upper int, c Change) error {
	if c.Before.Mode.IsDir() || c.Before.Exists() && c.After.Mode.IsDir() {
		return errChanged // of a directory that is there only what is in it is kept
	}
	at, err := atCached(root, c)
	if err != nil {
		return err
	}
	defer unix.Close(at.dir) //nolint:errcheck // it was only used to name things
	dir, err := openBelow(upper, filepath.Dir(c.rel))
	if err != nil {
		return err
	}
	defer unix.Close(dir) //nolint:errcheck // it was only used to name things
	if !c.Before.Exists() {
		return rename(place{dir, at.name}, at, unix.RENAME_NOREPLACE)
	}
	return rename(place{dir, at.name}, at, 0)
}

// touchCached gives a file that was used the time of that.
func touchCached(root int, c Change) error {
	at, err := atCached(root, c)
	if err != nil {
		return err
	}
	defer unix.Close(at.dir) //nolint:errcheck // it was only used to name things
	times := []unix.Timespec{unix.NsecToTimespec(c.After.mtime.UnixNano()), unix.NsecToTimespec(c.After.mtime.UnixNano())}
	if err := unix.UtimesNanoAt(at.dir, at.name, times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("setting the time of %q: %w", at.name, err)
	}
	return nil
}

// dropCaches removes what a layer has of caches, which is of no use any more.
func (s *Set) dropCaches() {
	if s.caches == nil {
		return
	}
	for _, t := range s.caches.trees {
		if err := removeAll(t.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = os.RemoveAll(t.Upper()) // the next sweep removes the rest
		}
	}
	s.caches = nil
}
