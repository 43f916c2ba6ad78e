package layer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/difference"
)

// The bounds on what one command may change: how many paths, how many bytes these have
// together, and how deep directories lie in each other. A path that is longer than the
// kernel takes can be made step by step, and each file in there has all of it.
const (
	mostChanges = 1 << 20
	mostPaths   = 1 << 28
	mostDepth   = 2048
	mostPath    = 4096 // of one path, here and in the layer, with the zero at its end
)

// What a layer holds that cannot be judged.
var (
	ErrTooMany  = errors.New("the command changed more than a million files, or their paths are too long")
	ErrOverfull = errors.New("the layer holds too much")
	ErrTooDeep  = errors.New("the command made more than 2,048 directories in each other")
	ErrTooLong  = errors.New("the command changed something at a path of more than 4,096 bytes, which no program can open by its name")
)

// Read tells what a layer holds. All processes that worked on it must have ended.
// What somebody else changed after since counts as a conflict.
func Read(ctx context.Context, trees []Tree, since time.Time) (*Set, error) {
	return ReadAtMost(ctx, trees, since, math.MaxInt64)
}

// ReadAtMost is Read of a layer that may hold so many bytes. What holds more is not looked
// through any further: a file with holes takes no room, but as long to read as any other.
func ReadAtMost(ctx context.Context, trees []Tree, since time.Time, most int64) (*Set, error) {
	s, err := readAll(ctx, slices.DeleteFunc(slices.Clone(trees), func(t Tree) bool { return t.Cache }), since)
	if err != nil {
		return nil, err
	}
	if caches := slices.DeleteFunc(slices.Clone(trees), func(t Tree) bool { return !t.Cache }); len(caches) > 0 {
		if s.caches, err = readAll(ctx, caches, since); err != nil {
			s.caches = nil // then nothing of them is kept
		}
	}
	if s.size() > most {
		return nil, ErrOverfull
	}
	return s, s.findMoves()
}

func readAll(ctx context.Context, trees []Tree, since time.Time) (*Set, error) {
	s := &Set{trees: trees, since: since, copies: map[identity]bool{}, unchanged: map[identity]link{}}
	for i, t := range trees {
		r := &reader{ctx: ctx, set: s, tree: i, root: t.Root, cache: t.Cache}
		if err := r.read(t); err != nil {
			return nil, fmt.Errorf("reading what was changed in %s: %w", t.Root, err)
		}
	}
	slices.SortFunc(s.Changes, func(a, b Change) int { return comparePaths(a.Path, b.Path) })
	return s, nil
}

// reader reads one tree.
type reader struct {
	ctx  context.Context
	set  *Set
	tree int
	root string
	// cache: a file that was only used keeps its new time, by which caches are cleared
	// of what nobody uses any more.
	cache bool
	paths int // bytes of all paths
}

func (r *reader) read(t Tree) error {
	upper, err := openRoot(t.Upper())
	if err != nil {
		return err
	}
	defer unix.Close(upper) //nolint:errcheck // it was only read
	live, err := openRoot(t.Root)
	if err != nil {
		return err
	}
	defer unix.Close(live) //nolint:errcheck // it was only read
	var up, below unix.Stat_t
	if err := errors.Join(unix.Fstat(upper, &up), unix.Fstat(live, &below)); err != nil {
		return err
	}
	if before, after := entryOf(&below), entryOf(&up); before.Mode != after.Mode {
		r.add(Change{Kind: Changed, Before: before, After: after, ModeOnly: true}, "")
	}
	return r.dir(upper, live, "", state{})
}

// dir compares a directory of the upper half with the live one; live is -1 if
// there is none. Nothing of the live one is seen through the upper half if that is
// marked, or lies in a directory that is.
func (r *reader) dir(upper, live int, rel string, in state) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if in.depth++; in.depth > mostDepth {
		return ErrTooDeep
	}
	list, err := names(upper)
	if err != nil {
		return err
	}
	marked, err := opaque(upper)
	if err != nil {
		return err
	}
	in.hidden = in.hidden || marked
	for _, name := range list {
		if err := r.one(place{upper, name}, place{live, name}, filepath.Join(rel, name), in); err != nil {
			return err
		}
	}
	if !in.hidden || live < 0 {
		return nil
	}
	if in.swapped, err = r.changedSince(live, rel, in.swapped); err != nil {
		return err
	}
	below, err := names(live)
	if err != nil {
		return err
	}
	slices.Sort(list)
	for _, name := range below {
		if _, both := slices.BinarySearch(list, name); !both {
			if err := r.gone(place{live, name}, filepath.Join(rel, name), in.swapped); err != nil {
				return err
			}
		}
	}
	return nil
}

// state is what is known of a directory from those around it.
type state struct {
	hidden bool // the upper half has all of it, and nothing of the live one is seen
	// swapped: somebody else may have put another directory in its place, so that the
	// command has never seen what is in it.
	swapped bool
	depth   int
}

// changedSince tells whether names in a live directory came or went while the command
// ran.
func (r *reader) changedSince(dir int, rel string, already bool) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return false, fmt.Errorf("looking at a directory: %w", err)
	}
	return already || entryOf(&st).ctime.After(r.set.trees[r.tree].ownSince(rel, r.set.since)), nil
}

// one compares what the upper half has under a name.
func (r *reader) one(up, live place, rel string, in state) error {
	after, err := up.entry()
	if err != nil {
		return err
	}
	r.set.bytes += after.Size
	var before Entry
	if live.dir >= 0 {
		if before, err = live.entry(); err != nil {
			return err
		}
	}
	switch {
	case after.whiteout():
		if before.Exists() {
			return r.gone(live, rel, in.swapped)
		}
		r.leaveOut(rel)
		return nil
	case after.Mode&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
		r.set.Ignored = append(r.set.Ignored, filepath.Join(r.root, rel))
		r.leaveOut(rel)
		if before.Exists() {
			return r.gone(live, rel, in.swapped)
		}
		return nil
	}
	copied, err := copiedUp(up, after)
	if err != nil {
		return err
	}
	// A copy without what it was copied from was moved here, or somebody has removed
	// the original: findMoves tells.
	change := Change{Before: before, After: after, Kind: Created, copied: copied, Conflict: copied && !before.Exists() && !r.cache || in.swapped && before.Exists()}
	if copied && before.Exists() && after.Links > 1 {
		r.set.copies[after.id] = true
	}
	if before.Exists() {
		change.Kind = Changed
		if before.Mode.Type() == after.Mode.Type() {
			same, err := sameContent(up, live, before, after)
			switch {
			case err != nil:
				return err
			case same && before.Mode == after.Mode:
				change.Kind = 0
				r.touched(change, rel)
				if after.Mode.IsRegular() && !copied {
					r.set.renewed++
				}
				if after.Mode.IsRegular() && after.Links > 1 && after.Owner == before.Owner {
					r.set.unchanged[after.id] = link{source: rel, tree: r.tree, live: before}
				}
			default:
				change.ModeOnly = same
			}
		}
	}
	if change.Kind != 0 {
		r.add(change, rel)
	}
	if after.Mode.IsDir() {
		if before.Mode.IsDir() && before.ctime.After(r.set.trees[r.tree].ownSince(rel, r.set.since)) { // a rename changes it, and the directory around it
			around, err := r.changedSince(live.dir, parentOf(rel), false)
			if err != nil {
				return err
			}
			in.swapped = in.swapped || around
		}
		return r.below(up, live, before.Mode.IsDir(), rel, in)
	}
	if before.Mode.IsDir() { // something else is in its place
		return r.emptied(live, rel, in.swapped)
	}
	return nil
}

// below compares what is in a directory.
func (r *reader) below(up, live place, both bool, rel string, in state) error {
	upper, err := openOwn(up)
	if err != nil {
		return err
	}
	defer unix.Close(upper) //nolint:errcheck // it was only read
	lower := -1
	if both {
		if lower, err = openBelow(live.dir, live.name); err != nil {
			return fmt.Errorf("opening %s: %w", filepath.Join(r.root, rel), err)
		}
		defer unix.Close(lower) //nolint:errcheck // it was only read
	}
	return r.dir(upper, lower, rel, in)
}

// gone adds the deletion of a live path, and of all that is in it. With swapped the
// command may never have seen it.
func (r *reader) gone(live place, rel string, swapped bool) error {
	before, err := live.entry()
	if err != nil || !before.Exists() {
		return err
	}
	r.add(Change{Kind: Deleted, Before: before, Conflict: swapped}, rel)
	if before.Mode.IsDir() {
		return r.emptied(live, rel, swapped)
	}
	return nil
}

// emptied adds the deletion of all that is in a live directory.
func (r *reader) emptied(live place, rel string, swapped bool) error {
	dir, err := openBelow(live.dir, live.name)
	if err != nil {
		return fmt.Errorf("opening %s: %w", filepath.Join(r.root, rel), err)
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	if swapped, err = r.changedSince(dir, rel, swapped); err != nil {
		return err
	}
	list, err := names(dir)
	if err != nil {
		return err
	}
	for _, name := range list {
		if err := r.gone(place{dir, name}, filepath.Join(rel, name), swapped); err != nil {
			return err
		}
	}
	return r.ctx.Err()
}

// since is when the command began that was the first to change a path.
func (r *reader) since(rel string) time.Time { return r.set.trees[r.tree].since(rel, r.set.since) }

func (r *reader) add(c Change, rel string) {
	c.tree, c.rel, c.Path = r.tree, rel, filepath.Join(r.root, rel)
	// A directory gets another ctime with everything that is made in it, and what
	// is in it is compared by itself.
	if c.Before.Exists() && !c.Before.Mode.IsDir() && c.Before.ctime.After(r.since(rel)) {
		c.Conflict = true
	}
	r.set.Changes = append(r.set.Changes, c)
	r.bound(c.Path)
	if len(c.Path) >= mostPath || len(r.set.trees[r.tree].Upper())+1+len(rel) >= mostPath {
		r.ctx = ended{r.ctx, fmt.Errorf("%w: %s…", ErrTooLong, difference.Path(c.Path[:min(len(c.Path), 200)]))}
	}
}

// touched notes a file of a cache that has another time and nothing else.
func (r *reader) touched(c Change, rel string) {
	if !r.cache || !c.After.Mode.IsRegular() || c.After.mtime.Equal(c.Before.mtime) {
		return
	}
	c.tree, c.rel = r.tree, rel
	r.set.touched = append(r.set.touched, c)
	r.bound(rel)
}

// bound ends the reading when there is too much.
func (r *reader) bound(path string) {
	r.paths += len(path)
	if len(r.set.Changes)+len(r.set.touched)+len(r.set.leftOut) > mostChanges || r.paths > mostPaths {
		r.ctx = ended{r.ctx, ErrTooMany}
	}
}

// leaveOut has a file of the upper half not applied with the directory it is in.
func (r *reader) leaveOut(rel string) {
	path := filepath.Join(r.set.trees[r.tree].Upper(), rel)
	r.set.leftOut = append(r.set.leftOut, path)
	r.bound(path)
}

// ended ends the reading of a layer.
type ended struct {
	context.Context

	why error
}

func (e ended) Err() error { return e.why }

// openOwn opens a directory of the upper half, also if the command took the right
// to read it away. The mode that it gave is known by then.
func openOwn(p place) (int, error) {
	fd, err := openToLook(p)
	if errors.Is(err, unix.EACCES) {
		if err = unix.Fchmodat(p.dir, p.name, 0o700, 0); err == nil {
			fd, err = openToLook(p)
		}
	}
	if err != nil {
		return -1, fmt.Errorf("opening %q: %w", p.name, err)
	}
	return fd, nil
}

// Restore gives the directories of the upper half the permissions that the command
// gave them: they are opened to be read.
func (s *Set) Restore() error {
	for _, c := range slices.Backward(s.Changes) {
		if c.After.Mode.IsDir() && c.After.Mode.Perm()&0o700 != 0o700 {
			if err := unix.Chmod(s.File(c), unixMode(c.After.Mode)); err != nil {
				return fmt.Errorf("keeping what was changed: %w", err)
			}
		}
	}
	return nil
}

// sameContent compares two entries of one type.
func sameContent(up, live place, before, after Entry) (bool, error) {
	switch {
	case before.Mode&fs.ModeSymlink != 0:
		return before.Target == after.Target, nil
	case !before.Mode.IsRegular():
		return before.Mode.IsDir(), nil
	case before.Size != after.Size:
		return false, nil
	}
	a, err := openFile(up)
	if err != nil {
		return false, unreadable(err)
	}
	defer a.Close() //nolint:errcheck // it was only read
	b, err := openFile(live)
	if err != nil {
		return false, unreadable(err)
	}
	defer b.Close() //nolint:errcheck // it was only read
	return sameBytes(a, b, before.Size)
}

// unreadable: what cannot be read counts as different.
func unreadable(err error) error {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	return err
}

func openFile(p place) (*os.File, error) {
	fd, err := unix.Openat(p.dir, p.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p.name), nil
}

// sameBytes compares two files of one size.
func sameBytes(a, b io.Reader, size int64) (bool, error) {
	const part = 64 << 10
	one, two := make([]byte, min(size, part)), make([]byte, min(size, part))
	for left := size; left > 0; left -= int64(len(one)) {
		one, two = one[:min(left, part)], two[:min(left, part)]
		_, errA := io.ReadFull(a, one)
		_, errB := io.ReadFull(b, two)
		err := errors.Join(errA, errB)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // somebody is changing it
			return false, nil
		case err != nil:
			return false, err
		case !bytes.Equal(one, two):
			return false, nil
		}
	}
	return true, nil
}
