package layer

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Merge puts together what earlier commands left in the upper half of one tree with
// what a later one, which began at a moment, did on top of it. The result is a tree in
// a directory of its own. The earlier one stays as it is: its files get a further name
// and are never written again. The later one is used up.
func Merge(earlier, later Tree, began time.Time, dir string) (Tree, error) {
	out := Tree{Root: earlier.Root, Dir: dir, Later: map[string]time.Time{}}
	maps.Copy(out.Later, earlier.Later)
	m := &merger{began: began, out: &out}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return out, fmt.Errorf("making a layer: %w", err)
	}
	if err := sameOwner(earlier.Dir, dir); err != nil {
		return out, fmt.Errorf("making a layer: %w", err)
	}
	if err := m.countGone(earlier.Upper(), later.Upper()); err != nil {
		return out, fmt.Errorf("putting together what commands changed in %s: %w", out.Root, err)
	}
	if err := m.both(earlier.Upper(), later.Upper(), out.Upper(), "", false); err != nil {
		return out, fmt.Errorf("putting together what commands changed in %s: %w", out.Root, err)
	}
	return out, nil
}

// sameOwner gives a directory the owner of another, who is the user of the programs.
func sameOwner(from, to string) error {
	e, err := place{unix.AT_FDCWD, from}.entry()
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	return os.Lchown(to, int(e.Owner.UID), int(e.Owner.GID))
}

// merger makes one tree of two. All of them are ours alone, and no program works in
// them any more.
type merger struct {
	began time.Time
	out   *Tree
	gone  int    // how many files of the earlier commands may lie under other names now
	links copier // for the attributes of directories
}

// both merges two directories. With covered the live directory cannot be seen through
// the earlier one.
func (m *merger) both(low, high, to, rel string, covered bool) error {
	upper, err := place{unix.AT_FDCWD, high}.entry()
	if err != nil {
		return err
	}
	marked, err := opaqueAt(low)
	if err != nil {
		return err
	}
	covered = covered || marked
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	return opened(high, func() error {
		return opened(low, func() error {
			if err := m.fill(low, high, to, rel, covered); err != nil {
				return err
			}
			// It is the directory that the later command left, and its relation to the
			// live one is that of the earlier.
			if err := m.links.attributes(high, to, upper); err != nil {
				return err
			}
			return opened(to, func() error { return errors.Join(stripped(to), copyOverlay(low, to)) })
		})
	})
}

func (m *merger) fill(low, high, to, rel string, covered bool) error {
	above, err := os.ReadDir(high)
	if err != nil {
		return err
	}
	seen := make(map[string]bool, len(above))
	for _, e := range above {
		seen[e.Name()] = true
		if err := m.over(filepath.Join(low, e.Name()), filepath.Join(high, e.Name()), filepath.Join(to, e.Name()), filepath.Join(rel, e.Name()), covered); err != nil {
			return err
		}
	}
	below, err := os.ReadDir(low)
	if err != nil {
		return err
	}
	for _, e := range below {
		if seen[e.Name()] {
			continue
		}
		if err := m.link(filepath.Join(low, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// over puts what the later command left under a name in place.
func (m *merger) over(low, high, to, rel string, covered bool) error {
	was, err := place{unix.AT_FDCWD, low}.entry()
	if err != nil {
		return err
	}
	now, err := place{unix.AT_FDCWD, high}.entry()
	if err != nil {
		return err
	}
	if now.Mode.IsDir() {
		marked, err := opaqueAt(high)
		switch {
		case err != nil:
			return err
		case was.Mode.IsDir() && !marked:
			return m.both(low, high, to, rel, covered)
		case was.Exists() && !marked: // that is gone, and the live one behind it must not come back
			if err := opened(high, func() error { return unix.Lsetxattr(high, overlayPrefix+"opaque", []byte("y"), 0) }); err != nil {
				return err
			}
		}
	}
	if !was.Exists() && !covered {
		m.out.Later[rel] = m.began
	}
	if err := m.unmark(high, now, low, was); err != nil {
		return err
	}
	return rename(place{unix.AT_FDCWD, high}, place{unix.AT_FDCWD, to}, unix.RENAME_NOREPLACE)
}

// link gives all of a subtree a second name.
func (m *merger) link(from, to string) error {
	e, err := place{unix.AT_FDCWD, from}.entry()
	if err != nil {
		return err
	}
	if !e.Mode.IsDir() {
		err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0)
		if errors.Is(err, unix.EMLINK) && e.whiteout() { // the kernel uses one for many deletions
			err = unix.Mknod(to, unix.S_IFCHR, 0)
		}
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	return opened(from, func() error {
		list, err := os.ReadDir(from)
		for i := 0; err == nil && i < len(list); i++ {
			err = m.link(filepath.Join(from, list[i].Name()), filepath.Join(to, list[i].Name()))
		}
		return errors.Join(err, m.links.attributes(from, to, e))
	})
}

// opened does something in a directory, which may have lost the rights for that.
func opened(dir string, do func() error) error {
	e, err := place{unix.AT_FDCWD, dir}.entry()
	if err != nil {
		return err
	}
	if !e.Mode.IsDir() || e.Mode.Perm()&0o700 == 0o700 {
		return do()
	}
	if err := unix.Chmod(dir, unixMode(e.Mode)|0o700); err != nil {
		return err
	}
	return errors.Join(do(), unix.Chmod(dir, unixMode(e.Mode)))
}

// opaqueAt tells whether a directory of an upper half hides what lies below it.
func opaqueAt(path string) (bool, error) {
	e, err := place{unix.AT_FDCWD, path}.entry()
	if err != nil || !e.Mode.IsDir() {
		return false, err
	}
	marked := false
	err = opened(path, func() error {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd) //nolint:errcheck // it was only read
		marked, err = opaque(fd)
		return err
	})
	return marked, err
}

// since is when the command began that was the first to change a path; first is when
// the first of all did.
func (t Tree) since(rel string, first time.Time) time.Time {
	for len(t.Later) > 0 {
		if at, found := t.Later[rel]; found {
			return at
		}
		if rel == "" {
			break
		}
		rel = parentOf(rel)
	}
	return first
}

// ownSince is the same for the names in a directory, but not for what they stand for.
func (t Tree) ownSince(rel string, first time.Time) time.Time {
	at := t.since(rel, first)
	if own := t.Later[rel+"/"]; own.After(at) {
		return own
	}
	return at
}

func parentOf(rel string) string {
	if dir := filepath.Dir(rel); dir != "." {
		return dir
	}
	return ""
}

// Shows tells whether something at a path below the root can be seen through the
// upper half: the command has not removed it or a directory around it.
func (t Tree) Shows(rel string) (bool, error) {
	path, hidden := t.Upper(), false
	var parts []string
	if rel != "" {
		parts = strings.Split(rel, "/")
	}
	for i := 0; ; i++ {
		e, err := place{unix.AT_FDCWD, path}.entry()
		switch {
		case err != nil:
			return false, err
		case !e.Exists():
			return !hidden, nil
		case e.whiteout():
			return false, nil
		case i == len(parts):
			return true, nil
		case !e.Mode.IsDir():
			return false, nil
		}
		marked, err := opaqueAt(path)
		if err != nil {
			return false, err
		}
		hidden, path = hidden || marked, filepath.Join(path, parts[i])
	}
}
