package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// A program must not make what others obey where there is nothing yet. Only
// what exists can be covered, so an empty directory is put in such a place
// while a program runs: nothing can be made there, git does not see it, and
// removing one never loses anything. It bears the sticky bit, by which it is
// told from a directory of a person.
//
// The list of the placeholders below a directory is a file in Holds.Dir, named
// after that directory, and is written before the first of them is made.
// Whoever runs a program there has that file locked, and the first process of
// the program's namespace has it too, so that the lock lasts as long as the
// program does, whoever is killed. The last to go removes the placeholders and
// the list. A list that nobody has locked was left by a crash: the keeper, or
// the next start, clears it.

// Hold is the placeholders of one program.
type Hold struct {
	lists []string
	files []*os.File
}

// Files are the locks, to be inherited by what has to keep the placeholders
// where they are.
func (h *Hold) Files() []*os.File {
	if h == nil {
		return nil
	}
	return h.files
}

// Holds tells whether there is a placeholder at a path.
func (h *Hold) Holds(path string) bool { return isPlaceholder(path) && !fullAt(path) }

func fullAt(path string) bool {
	entries, err := plainfile.ReadDir(path)
	return err == nil && len(entries) > 0
}

// Moved is told that a directory with placeholders has another name by now. They
// are removed there: nobody who needs them would find them by the old one.
func (h *Hold) Moved(from, to string) {
	if h == nil {
		return
	}
	dirs := parents{}
	defer dirs.close()
	for _, list := range h.lists {
		for _, path := range slices.Backward(readList(list)) {
			if within(path, from) {
				_ = removePlaceholder(dirs, to+path[len(from):]) // what fails stays, empty
			}
		}
	}
}

// Join takes over the placeholders of another.
func (h *Hold) Join(other *Hold) {
	if other == nil {
		return
	}
	for i, list := range other.lists {
		if slices.Contains(h.lists, list) {
			_ = other.files[i].Close() // one lock is enough
			continue
		}
		h.lists, h.files = append(h.lists, list), append(h.files, other.files[i])
	}
	other.lists, other.files = nil, nil
}

// Make puts placeholders below a directory, with the directories on the way,
// and gives the covers that belong there. It gives errAppeared if something else
// is there by now.
func (h *Holds) Make(top string, places []Place) (*Hold, []Cover, error) {
	if h == nil || h.Dir == "" || len(places) == 0 {
		return nil, nil, nil
	}
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("making a directory for the list of placeholders: %w", err)
	}
	// Nobody removes placeholders meanwhile: it may be one of ours.
	making, err := lockDir(h.Dir, unix.LOCK_SH)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = making.Close() }() // which ends the lock
	list := h.list(top)
	file, err := lockList(list)
	if err != nil {
		return nil, nil, err
	}
	hold := &Hold{lists: []string{list}, files: []*os.File{file}}
	covers, err := hold.fill(file, top, places)
	if err != nil {
		_ = making.Close()
		return nil, nil, errors.Join(err, hold.Release())
	}
	return hold, covers, nil
}

func (h *Holds) busy(path string) bool {
	// Nobody goes meanwhile: who finds the list locked by us would leave his
	// placeholders to the next one.
	making, err := lockDir(h.Dir, unix.LOCK_EX)
	if err != nil {
		return false // there are no lists
	}
	defer func() { _ = making.Close() }() // which ends the lock
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if file, err := os.Open(h.list(dir)); err == nil {
			err = flock(file, unix.LOCK_EX|unix.LOCK_NB)
			_ = file.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func (h *Holds) list(top string) string {
	sum := sha256.Sum256([]byte(top))
	return filepath.Join(h.Dir, hex.EncodeToString(sum[:16]))
}

// lockDir locks the lists as a whole: shared by those who make placeholders,
// and alone by who removes some. A placeholder may be on several lists, of
// directories that lie in each other.
func lockDir(dir string, how int) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the lists of placeholders: %w", err)
	}
	if err := flock(file, how); err != nil {
		return nil, fmt.Errorf("locking the lists of placeholders: %w", errors.Join(err, file.Close()))
	}
	return file, nil
}

// lockList opens a list and takes part in it. One that was removed meanwhile is
// made anew.
func lockList(list string) (*os.File, error) {
	for {
		file, err := os.OpenFile(list, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, fmt.Errorf("opening the list of placeholders: %w", err)
		}
		if err := flock(file, unix.LOCK_SH); err != nil {
			return nil, fmt.Errorf("locking the list of placeholders: %w", errors.Join(err, file.Close()))
		}
		if isAt(file, list) {
			return file, nil
		}
		_ = file.Close()
	}
}

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func isAt(file *os.File, path string) bool {
	a, err := file.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// fill writes down what is to be made, and makes it.
func (h *Hold) fill(list *os.File, top string, places []Place) ([]Cover, error) {
	known := map[string]bool{}
	for _, path := range readList(list.Name()) {
		known[path] = true
	}
	var text strings.Builder
	all := onTheWay(top, places)
	for _, p := range all {
		if !known[p.Path] {
			if text.Len() == 0 && len(known) > 0 {
				text.WriteString("\x00") // the last name may have been cut short
			}
			text.WriteString(p.Path + "\x00")
			if p.Link {
				text.WriteString(aside(p.Path) + "\x00")
			}
		}
	}
	if _, err := list.WriteString(text.String()); err != nil {
		return nil, fmt.Errorf("writing the list of placeholders: %w", err)
	}
	var covers []Cover
	dirs := parents{}
	defer dirs.close()
	for _, p := range all {
		made, err := p.make(dirs)
		switch {
		case errors.Is(err, fs.ErrExist) && p.way:
			continue // a directory by now, which is as good
		case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
			return nil, errAppeared
		case errors.Is(err, unix.EROFS):
			continue // nobody can make it there: neither we nor a program
		case errors.Is(err, fs.ErrPermission):
			// A program could give itself the right that we do not have, so it
			// gets a directory that can only be read.
			if made, err = fixed(filepath.Dir(p.Path)); err != nil {
				return nil, errAppeared
			}
			if slices.Contains(covers, made) {
				continue
			}
		case err != nil:
			return nil, fmt.Errorf("making a placeholder for %s: %w", p.Path, err)
		}
		made.Led = p.led
		covers = append(covers, made)
	}
	return covers, nil
}

func fixed(dir string) (Cover, error) {
	facts, err := factsOf(dir)
	if err == nil && !facts.dir {
		err = fs.ErrNotExist
	}
	return Cover{Path: dir, Kind: Fix, Dir: true, ID: facts.id}, err
}

// onTheWay adds the missing directories above the places, outer ones first.
func onTheWay(top string, places []Place) []Place {
	var all []Place
	seen := map[string]bool{}
	for _, p := range places {
		var ups []Place
		for up := filepath.Dir(p.Path); up != top && within(up, top) && !seen[up]; up = filepath.Dir(up) {
			if _, err := os.Lstat(up); !errors.Is(err, fs.ErrNotExist) && !seen[up] {
				if !isPlaceholder(up) {
					break
				}
			}
			seen[up] = true
			ups = append(ups, Place{Path: up, way: true, led: p.led})
		}
		slices.Reverse(ups)
		all = append(append(all, ups...), p)
	}
	return all
}

// parents are the directories of places, each opened once: most places lie in
// the same one.
type parents map[string]int

// of opens the directory of a path; no link may lie on the way.
func (p parents) of(path string) (dir int, name string, err error) {
	up := filepath.Dir(path)
	dir, ok := p[up]
	if !ok {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
		if dir, err = unix.Openat2(unix.AT_FDCWD, up, &how); err != nil {
			return -1, "", err
		}
		p[up] = dir
	}
	return dir, filepath.Base(path), nil
}

// spot is a name in a directory, whatever the directory is called: two of its
// names may lead to it by different mounts.
type spot struct {
	dir  FileID
	name string
}

func (p parents) spot(path string) (spot, error) {
	dir, name, err := p.of(path)
	if err != nil {
		return spot{}, err
	}
	var st unix.Stat_t
	err = unix.Fstat(dir, &st)
	return spot{FileID{Device: st.Dev, Inode: st.Ino}, name}, err
}

func (p parents) close() {
	for _, dir := range p {
		_ = unix.Close(dir) // it was only a place to stand on
	}
}

// make makes a placeholder, or takes part in one that is there.
func (p Place) make(dirs parents) (Cover, error) {
	dir, name, err := dirs.of(p.Path)
	if err != nil {
		return Cover{}, err
	}
	if p.Link {
		err = unix.Symlinkat(nowhere, dir, name)
	} else {
		err = unix.Mkdirat(dir, name, 0o755|unix.S_ISVTX)
	}
	if errors.Is(err, unix.EEXIST) && placeholderAt(dir, name) != none {
		err = nil
	}
	if err != nil {
		return Cover{}, err
	}
	var st unix.Statx_t
	if err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return Cover{}, errAppeared // and went
	}
	c := Cover{Path: p.Path, Kind: Fix, Dir: !p.Link, Link: p.Link, ID: identify(dir, name, &st)}
	if p.Link || p.way {
		c.Kind = Pin
	}
	return c, nil
}

type placeholderKind int

const (
	none placeholderKind = iota
	placeholderDir
	placeholderLink
)

// placeholderAt tells what kind of placeholder an entry is. One that somebody
// put something into is none.
func placeholderAt(dir int, name string) placeholderKind {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return none
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if st.Mode&unix.S_ISVTX != 0 {
			return placeholderDir
		}
	case unix.S_IFLNK:
		target := make([]byte, len(nowhere)+1)
		if n, err := unix.Readlinkat(dir, name, target); err == nil && string(target[:n]) == nowhere {
			return placeholderLink
		}
	}
	return none
}

// isPlaceholder tells it of a path.
func isPlaceholder(path string) bool {
	dirs := parents{}
	defer dirs.close()
	dir, name, err := dirs.of(path)
	if err != nil {
		return false
	}
	return placeholderAt(dir, name) != none
}

// Release ends the use. If nobody else has a use for them, the placeholders are
// removed.
func (h *Hold) Release() error {
	if h == nil {
		return nil
	}
	var errs []error
	for _, f := range h.files {
		errs = append(errs, f.Close())
	}
	h.files = nil
	dirs := map[string]bool{}
	for _, list := range h.lists {
		errs = append(errs, clearList(list))
		dirs[filepath.Dir(list)] = true
	}
	h.lists = nil
	for dir := range dirs { // what others were killed over
		_, _ = (&Holds{Dir: dir}).Sweep() // which is not ours: what fails is tried again
	}
	return errors.Join(errs...)
}

// clearList removes the placeholders of a list that nobody has a use for.
func clearList(list string) error {
	removing, err := lockDir(filepath.Dir(list), unix.LOCK_EX)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	defer func() { _ = removing.Close() }() // which ends the lock
	file, err := os.OpenFile(list, os.O_RDWR, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody else did it
		}
		return fmt.Errorf("opening the list of placeholders: %w", err)
	}
	defer func() { _ = file.Close() }() // which ends the lock
	if err := flock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil // in use
		}
		return fmt.Errorf("locking the list of placeholders: %w", err)
	}
	if !isAt(file, list) {
		return nil
	}
	used, err := inUse(list)
	if err != nil {
		return err
	}
	var errs []error
	dirs := parents{}
	defer dirs.close()
	for _, path := range slices.Backward(readList(list)) { // inner ones first
		if here, err := dirs.spot(path); err != nil || !used[here] {
			errs = append(errs, removePlaceholder(dirs, path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // the list stays, and is tried again
	}
	return os.Remove(list)
}

// inUse gives what stands on other lists that somebody has locked. Who goes last
// there removes it.
func inUse(but string) (map[spot]bool, error) {
	entries, err := os.ReadDir(filepath.Dir(but))
	if err != nil {
		return nil, fmt.Errorf("reading the lists of placeholders: %w", err)
	}
	used := map[spot]bool{}
	dirs := parents{}
	defer dirs.close()
	for _, e := range entries {
		list := filepath.Join(filepath.Dir(but), e.Name())
		if list == but {
			continue
		}
		file, err := os.OpenFile(list, os.O_RDWR, 0)
		if err != nil {
			continue // it went away, and with it its use
		}
		if flock(file, unix.LOCK_EX|unix.LOCK_NB) != nil {
			for _, path := range readList(list) {
				if here, err := dirs.spot(path); err == nil { // or nothing can be there
					used[here] = true
				}
			}
		}
		_ = file.Close() // which ends the lock
	}
	return used, nil
}

// readList reads what a list names. A crash may have cut the last one short.
func readList(list string) []string {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil
	}
	names := strings.Split(string(text), "\x00")
	return slices.DeleteFunc(names[:len(names)-1], func(name string) bool { return name == "" })
}

// removePlaceholder removes one that is still as it was made. What somebody put
// there meanwhile stays, and is a directory like any other from then on.
func removePlaceholder(dirs parents, path string) error {
	dir, name, err := dirs.of(path)
	if err != nil {
		return nil //nolint:nilerr // what it lay in is gone or was moved, and it is empty
	}
	if filepath.Ext(path) == asideMark { // whoever took a link away may have died then
		if placeholderAt(dir, name) == placeholderLink {
			return unix.Unlinkat(dir, name, 0)
		}
		return nil
	}
	switch placeholderAt(dir, name) {
	case none:
		return nil
	case placeholderLink:
		return removeLink(dir, name)
	}
	err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	switch {
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		err = unix.Fchmodat(dir, name, 0o755, 0)
	case errors.Is(err, unix.ENOENT):
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the placeholder %s: %w", path, err)
	}
	return nil
}

// removeLink takes a link away first and looks at it then: what somebody put in
// its place at the last moment goes back.
func removeLink(dir int, name string) error {
	to := aside(name)
	err := unix.Renameat2(dir, name, dir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EEXIST) { // a name that nobody can be in the way of
		to = name + "." + strings.ToLower(rand.Text()[:8]) + asideMark
		err = unix.Renameat2(dir, name, dir, to, unix.RENAME_NOREPLACE)
	}
	if err != nil {
		return fmt.Errorf("removing the placeholder %s: %w", name, err)
	}
	if placeholderAt(dir, to) != placeholderLink {
		return unix.Renameat2(dir, to, dir, name, unix.RENAME_NOREPLACE)
	}
	return unix.Unlinkat(dir, to, 0)
}

// aside is the name of a link that was taken away.
func aside(name string) string { return name + asideMark }

const asideMark = ".held-by-toolcrib"

// Sweep removes what a crash has left, and tells how many lists are in use.
func (h *Holds) Sweep() (used int, err error) {
	if h == nil || h.Dir == "" {
		return 0, nil
	}
	entries, err := os.ReadDir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	errs := []error{err}
	for _, e := range entries {
		list := filepath.Join(h.Dir, e.Name())
		errs = append(errs, clearList(list))
		if _, err := os.Lstat(list); err == nil {
			used++
		}
	}
	return used, errors.Join(errs...)
}

// SweepFor sweeps again and again as long as lists are in use, for a while: who
// was killed a moment ago may still have them locked. It tells how many stay.
func (h *Holds) SweepFor(ctx context.Context, grace time.Duration) (used int) {
	const first, most = 2 * time.Millisecond, 100 * time.Millisecond
	pause := first
	for until := time.Now().Add(grace); ; {
		var err error
		if used, err = h.Sweep(); used == 0 && err == nil || time.Now().After(until) {
			return used
		}
		select {
		case <-ctx.Done():
			return used
		case <-time.After(pause):
		}
		pause = min(2*pause, most)
	}
}
