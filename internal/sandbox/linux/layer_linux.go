//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// layered is the layer that a program works on.
type layered struct {
	dir   string // of the layer
	began time.Time
	trees []layer.Tree
	lock  *os.File // held as long as the layer is in use
	room  room
	full  atomic.Bool // it held too much

	session session // whose it is
	command command
	grants  []string // the granted directories
	base    *kept    // what earlier commands of the session left waiting; nil: nothing

	led   sandbox.LedTo                     // what others obey by links and settings
	unled string                            // why that is not known; empty: it is
	apart []string                          // live files that get no further names
	look  func() (*sandbox.Covering, error) // finds that; nil: no program ran
}

// Beside its trees a layer has the record of what is being applied of it, and a lock
// that tells whether its process is still there.
const (
	recordName = "applied.json"
	lockName   = "lock"
)

// errSwept: somebody took a new layer for one that nobody works on.
var errSwept = errors.New("a layer was removed while it was made")

// openLayer makes the directory of a new layer.
func (s *Sandbox) openLayer() (*layered, error) {
	for range maxStarts {
		l, err := s.newLayer()
		if !errors.Is(err, errSwept) {
			return l, err
		}
	}
	return nil, errSwept
}

func (s *Sandbox) newLayer() (*layered, error) {
	if err := os.MkdirAll(s.cfg.Layers, 0o700); err != nil {
		return nil, fmt.Errorf("making a layer: %w", err)
	}
	dir, err := os.MkdirTemp(s.cfg.Layers, "")
	if err != nil {
		return nil, fmt.Errorf("making a layer: %w", err)
	}
	lock, err := durable.TryLock(filepath.Join(dir, lockName), true)
	if err == nil && lock == nil || errors.Is(err, fs.ErrNotExist) {
		return nil, errSwept
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a layer: %w", err), layer.Remove(dir))
	}
	// The time by which changes of others are told is that of the file system.
	info, err := lock.Stat()
	if err != nil {
		return nil, errors.Join(err, layer.Remove(dir), lock.Close())
	}
	room, err := roomForLayer(dir, s.cfg.Limits.FileBytes)
	if err != nil {
		return nil, errors.Join(err, layer.Remove(dir), lock.Close())
	}
	return &layered{dir: dir, began: info.ModTime(), lock: lock, room: room}, nil
}

// remove drops a layer with all that is in it. What it was based on stays.
func (l *layered) remove() error {
	if l == nil {
		return nil
	}
	return errors.Join(layer.Remove(l.dir), l.release())
}

// release gives back the locks.
func (l *layered) release() error {
	err := l.lock.Close()
	if l.base != nil {
		err = errors.Join(err, l.base.lock.Close())
	}
	return err
}

// appliedPrefix begins the names of layers that were applied: they hold what was
// there before, so that it is not lost.
const appliedPrefix = "applied-"

// keepApplied is how long these are kept.
const keepApplied = 7 * 24 * time.Hour

// keep puts an applied layer aside. What fails leaves it to the next sweep.
func (l *layered) keep() {
	for _, t := range l.trees { // the kernel leaves a directory there that only root can look into
		_ = layer.Remove(t.Work())
	}
	_ = putAside(l.dir)
	_ = l.release()
}

func putAside(dir string) error {
	return os.Rename(dir, filepath.Join(filepath.Dir(dir), appliedPrefix+filepath.Base(dir)))
}

// over makes the upper half of the layer over a directory. Its files get the owner of
// that directory, who is the user of the program in there.
func (l *layered) over(root string, cache, asRoot bool) (layer.Tree, error) {
	t := layer.Tree{Root: root, Dir: filepath.Join(l.dir, strconv.Itoa(len(l.trees))), Cache: cache}
	var st unix.Stat_t
	if err := unix.Lstat(root, &st); err != nil {
		return t, fmt.Errorf("looking at %s: %w", root, err)
	}
	for _, dir := range []string{t.Dir, t.Upper(), t.Work()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return t, fmt.Errorf("making a layer: %w", err)
		}
		if asRoot {
			if err := os.Chown(dir, int(st.Uid), int(st.Gid)); err != nil {
				return t, fmt.Errorf("making a layer: %w", err)
			}
		}
	}
	// The top of the upper half is what the program sees of the top of the directory.
	if err := unix.Chmod(t.Upper(), st.Mode&0o7777); err != nil {
		return t, fmt.Errorf("making a layer: %w", err)
	}
	l.trees = append(l.trees, t)
	return t, nil
}

// covers tells whether a directory lies in one that has a layer already.
func (l *layered) covers(path string) bool {
	return slices.ContainsFunc(l.trees, func(t layer.Tree) bool { return path == t.Root || strings.HasPrefix(path, t.Root+"/") })
}

// seenOutside tells whether a directory that can only be read has no tree of its own in
// what earlier commands left, and lies in one that can only be read as well.
func (r *run) seenOutside(path string) bool {
	if _, own := r.layer.base.tree(path); own || r.layer.base == nil {
		return false
	}
	around := -1
	for i, b := range r.job.binds {
		if b.over != nil && strings.HasPrefix(path, strings.TrimSuffix(b.target, "/")+"/") && (around < 0 || len(b.target) > len(r.job.binds[around].target)) {
			around = i
		}
	}
	return around >= 0 && !r.job.binds[around].over.write
}

// shown leaves out covers of what earlier commands of the session have removed: there
// is nothing to cover.
func (l *layered) shown(covers []sandbox.Cover) ([]sandbox.Cover, error) {
	if l.base == nil {
		return covers, nil
	}
	var out []sandbox.Cover
	for _, c := range covers {
		visible, err := l.base.shows(c.Path)
		if err != nil {
			return nil, err
		}
		if visible {
			out = append(out, c)
		}
	}
	return out, nil
}

// onLayers are covers to be laid in a layer, where files have other numbers. That they
// cover what was looked at is seen in the lower halves.
func onLayers(covers []sandbox.Cover) []sandbox.Cover {
	out := slices.Clone(covers)
	for i := range out {
		out[i].ID = sandbox.FileID{}
	}
	return out
}

// changes reads what the program left in its layer. Of one that was ended nothing is
// kept in caches alone.
func (l *layered) changes(ctx context.Context, ended bool) (toolcrib.Changes, error) {
	ctx = context.WithoutCancel(ctx)
	began, again := l.began, false
	if l.base != nil {
		// A repeated call is one about what it left before: somebody may have answered.
		again = l.base.rec.Line == l.command.digest()
		if untouched, err := l.untouched(); err != nil || untouched && !again {
			return nil, errors.Join(err, l.remove())
		}
		if err := l.merge(); err != nil {
			return nil, err // the layer goes with the run
		}
		began = l.base.rec.Began
	}
	set, err := layer.ReadAtMost(ctx, l.trees, began, l.room.most)
	if err != nil {
		return nil, err
	}
	l.lookForLed(set)
	c := l.changeSet(set)
	switch {
	case !set.Empty() && l.base != nil && !again && digestOf(set) == l.base.rec.Digest: // what waits is as it was
	case !set.Empty():
		return c, nil
	case l.base != nil: // nothing is left of what waited
		return l.emptied(ctx, c)
	case set.CachesChanged() && !ended:
		_ = l.apply(ctx, c, func(string) bool { return true }) // at worst the next build takes longer
	}
	return nil, c.Drop()
}

func (l *layered) changeSet(set *layer.Set) *changeSet {
	set.ListFile = filepath.Join(l.dir, listName)
	c := &changeSet{set: set, layer: l, git: readGit(set)}
	set.Leave(func(change layer.Change) bool { return c.git.idle(change.Path) })
	return c
}

// apply carries out what was accepted.
func (l *layered) apply(ctx context.Context, c *changeSet, accept func(path string) bool) error {
	lock, err := l.lockApplying(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // it gives the lock back, and nothing was written to it
	accepted := func(change layer.Change) bool { return accept(change.Path) }
	if err := l.describe(c, accepted); err != nil {
		return err
	}
	if c.kept != nil {
		if err := layer.SaveMarks(l.trees, filepath.Join(l.dir, marksName)); err != nil {
			return err
		}
	}
	return c.set.Apply(ctx, layer.Options{Record: filepath.Join(l.dir, recordName), Accept: accepted})
}

// grantLayer gives a granted directory its layer: the bind shows the live directory
// as the lower half, and over is the upper one.
func (s *Sandbox) grantLayer(r *run, d files.Dir, b *bind, cache bool) error {
	tree, err := r.layer.over(d.Path, cache, s.who.root)
	if err != nil {
		return err
	}
	over := &bind{source: tree.Dir, target: b.target, write: d.Write, strict: true}
	if s.who.root {
		f, _, err := s.who.mount(files.Dir{Path: tree.Dir, Write: true})
		if err != nil {
			return err
		}
		over.mount = r.add(f, true)
	}
	b.over = over
	if earlier, found := r.layer.base.tree(d.Path); found {
		b.between = &bind{source: earlier.Dir, target: d.Path, strict: true}
		if s.who.root {
			f, _, err := s.who.mount(files.Dir{Path: earlier.Dir})
			if err != nil {
				return err
			}
			b.between.mount = r.add(f, true)
		}
	}
	return nil
}

// layersAt is where the halves of layers are mounted while overlays are made of them.
const layersAt = "/.layers"

// halves are the mounts that an overlay is made of.
type halves struct {
	lower, upper arg
	between      *arg // nil: nothing
}

// overlay makes a mount of two halves, with what earlier commands left between them.
// They are not seen afterwards.
func (s *script) overlay(h halves, target string, write bool, i int, covers []sandbox.Cover) arg {
	l := label{stepFiles, "making a layer over " + target}
	s.mkdir(l, layersAt)
	lowerAt, betweenAt, upperAt := layersAt+"/lower"+strconv.Itoa(i), layersAt+"/between"+strconv.Itoa(i), layersAt+"/upper"+strconv.Itoa(i)
	parts, lowest := map[string]arg{lowerAt: h.lower, upperAt: h.upper}, lowerAt
	if h.between != nil {
		parts[betweenAt], lowest = *h.between, betweenAt+"/"+layer.UpperName+":"+lowerAt
	}
	for at, tree := range parts {
		s.mkdir(l, at)
		to := s.openat2(l, at, 0, strictly)
		s.do(l, unix.SYS_MOVE_MOUNT, tree, s.text(""), to, s.text(""), num(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
		s.close(l, to)
	}
	s.lookedAt(covers, target, lowerAt)
	open := s.kept(l, unix.SYS_FSOPEN, s.text("overlay"), num(unix.FSOPEN_CLOEXEC))
	for _, option := range [][2]string{{"lowerdir", lowest}, {"upperdir", upperAt + "/" + layer.UpperName}, {"workdir", upperAt + "/" + layer.WorkName}, {"index", "off"}, {"metacopy", "off"}} {
		s.do(l, unix.SYS_FSCONFIG, open, num(unix.FSCONFIG_SET_STRING), s.text(option[0]), s.text(option[1]), num(0))
	}
	// volatile: without it the kernel writes the whole file system to the disk when the
	// program ends, though nothing of the layer is promised to anybody yet.
	for _, flag := range []string{"userxattr", "volatile"} {
		s.do(l, unix.SYS_FSCONFIG, open, num(unix.FSCONFIG_SET_FLAG), s.text(flag), num(0), num(0))
	}
	s.do(l, unix.SYS_FSCONFIG, open, num(unix.FSCONFIG_CMD_CREATE), num(0), num(0), num(0))
	attributes := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if !write {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	made := s.kept(l, unix.SYS_FSMOUNT, open, num(unix.FSMOUNT_CLOEXEC), num(attributes))
	s.close(l, open)
	for at := range parts {
		s.do(l, unix.SYS_UMOUNT2, s.text(at), num(unix.MNT_DETACH))
		s.do(l, unix.SYS_UNLINKAT, num(unix.AT_FDCWD), s.text(at), num(unix.AT_REMOVEDIR))
	}
	return made
}

// lookedAt makes sure that what is to be covered is what was looked at: somebody outside
// may have put something else there meanwhile, and what was protected elsewhere.
func (s *script) lookedAt(covers []sandbox.Cover, target, lower string) {
	if len(covers) == 0 {
		return
	}
	seen, place := s.put(make([]byte, 144)), s.slot() // a struct stat
	for _, c := range covers {
		if c.ID == (sandbox.FileID{}) {
			continue
		}
		l := label{stepCover, c.Path}
		s.openPlace(l, place, lower+strings.TrimPrefix(c.Path, target))
		s.do(l, unix.SYS_FSTAT, place, at(seen))
		s.do(l, callSame, num(int(c.ID.Device)), num(int(c.ID.Inode))).store = seen
		s.close(l, place)
	}
}

// coversOf are the covers that lie in the layer over a directory, and in none inside it.
func (j *job) coversOf(target string) []sandbox.Cover {
	return slices.DeleteFunc(slices.Clone(j.covers), func(c sandbox.Cover) bool {
		inner := ""
		for _, b := range j.binds {
			if b.over != nil && strings.HasPrefix(c.Path, b.target+"/") && len(b.target) > len(inner) {
				inner = b.target
			}
		}
		return inner != target
	})
}
