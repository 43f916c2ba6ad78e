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
	return &layered{dir: dir, began: info.ModTime(), lock: lock}, nil
}

// sweepLayers deals with layers whose process was killed: what was being applied is
// put back, and the rest dropped.
func (s *Sandbox) sweepLayers() (notes []string) {
	if s.cfg.Layers == "" {
		return nil
	}
	entries, err := os.ReadDir(s.cfg.Layers)
	if err != nil {
		return nil // there are none yet
	}
	for _, e := range entries {
		dir := filepath.Join(s.cfg.Layers, e.Name())
		if !e.IsDir() {
			continue
		}
		if strings.HasPrefix(e.Name(), appliedPrefix) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) < keepApplied {
				continue
			}
		}
		lock, err := durable.TryLock(filepath.Join(dir, lockName), true)
		if err == nil && lock == nil {
			continue // somebody works on it
		}
		if err == nil {
			var undone bool
			if undone, err = layer.Recover(filepath.Join(dir, recordName)); undone && err == nil {
				notes = append(notes, "the changes of a command were being applied when Toolcrib was killed: they were taken back")
			}
			if err == nil {
				err = layer.Remove(dir)
			}
			err = errors.Join(err, lock.Close()) // last, or somebody else could take the directory for theirs
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("the layer %s of a command that was cut off cannot be put in order: %v", dir, err))
		}
	}
	return notes
}

// applyWait is how long changes may wait for others that are being applied.
const applyWait = time.Minute

// lockApplying lets one process at a time apply changes: directories may lie in each other.
func (l *layered) lockApplying(ctx context.Context) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, applyWait)
	defer cancel()
	f, err := durable.Lock(ctx, filepath.Join(filepath.Dir(l.dir), "applying"))
	if err != nil {
		return nil, fmt.Errorf("waiting for other changes that are being applied: %w", err)
	}
	return f, nil
}

// remove drops a layer with all that is in it.
func (l *layered) remove() error {
	if l == nil {
		return nil
	}
	return errors.Join(layer.Remove(l.dir), l.lock.Close())
}

// appliedPrefix begins the names of layers that were applied: they hold what was
// there before, so that it is not lost.
const appliedPrefix = "applied-"

// keepApplied is how long these are kept.
const keepApplied = 7 * 24 * time.Hour

// keep puts an applied layer aside. What fails leaves it to the next sweep.
func (l *layered) keep() {
	_ = os.Rename(l.dir, filepath.Join(filepath.Dir(l.dir), appliedPrefix+filepath.Base(l.dir)))
	_ = l.lock.Close()
}

// over makes the upper half of the layer over a granted directory. Its files get the
// owner of that directory, who is the user of the program in there.
func (l *layered) over(root string, asRoot bool) (layer.Tree, error) {
	t := layer.Tree{Root: root, Dir: filepath.Join(l.dir, strconv.Itoa(len(l.trees)))}
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

// hidden are the covers that a layer needs: what can be written is judged when the
// program has ended, so that only what must not be read is covered.
func hidden(covers []sandbox.Cover) []sandbox.Cover {
	var out []sandbox.Cover
	for _, c := range covers {
		// Git reads its index while it writes, so that a repository is still read-only.
		if c.Kind == sandbox.Hide || c.Kind == sandbox.Fix && inGit(c.Path) {
			c.ID = sandbox.FileID{} // in a layer files have other numbers
			out = append(out, c)
		}
	}
	return out
}

func inGit(path string) bool {
	return slices.Contains(strings.Split(path, "/"), ".git")
}

// changes reads what the program left in its layer.
func (l *layered) changes(ctx context.Context) (toolcrib.Changes, error) {
	set, err := layer.Read(context.WithoutCancel(ctx), l.trees, l.began)
	if err != nil {
		return nil, err // the layer goes with the run
	}
	if set.Empty() {
		return nil, l.remove()
	}
	return &changeSet{set: set, layer: l}, nil
}

// grantLayer gives a granted directory its layer: the bind shows the live directory
// as the lower half, and over is the upper one.
func (s *Sandbox) grantLayer(r *run, d files.Dir, b *bind) error {
	tree, err := r.layer.over(d.Path, s.who.root)
	if err != nil {
		return err
	}
	over := &bind{source: tree.Dir, target: d.Path, write: d.Write, strict: true}
	if s.who.root {
		f, _, err := s.who.mount(files.Dir{Path: tree.Dir, Write: true})
		if err != nil {
			return err
		}
		over.mount = r.add(f, true)
	}
	b.over = over
	return nil
}

// layersAt is where the halves of layers are mounted while overlays are made of them.
const layersAt = "/.layers"

// overlay makes a mount of two halves, which are not seen afterwards.
func (s *script) overlay(lower, upper arg, target string, write bool, i int) arg {
	l := label{stepFiles, "making a layer over " + target}
	s.mkdir(l, layersAt)
	lowerAt, upperAt := layersAt+"/lower"+strconv.Itoa(i), layersAt+"/upper"+strconv.Itoa(i)
	for at, tree := range map[string]arg{lowerAt: lower, upperAt: upper} {
		s.mkdir(l, at)
		to := s.openat2(l, at, 0, strictly)
		s.do(l, unix.SYS_MOVE_MOUNT, tree, s.text(""), to, s.text(""), num(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
		s.close(l, to)
	}
	open := s.kept(l, unix.SYS_FSOPEN, s.text("overlay"), num(unix.FSOPEN_CLOEXEC))
	for _, option := range [][2]string{{"lowerdir", lowerAt}, {"upperdir", upperAt + "/" + layer.UpperName}, {"workdir", upperAt + "/" + layer.WorkName}, {"index", "off"}, {"metacopy", "off"}} {
		s.do(l, unix.SYS_FSCONFIG, open, num(unix.FSCONFIG_SET_STRING), s.text(option[0]), s.text(option[1]), num(0))
	}
	s.do(l, unix.SYS_FSCONFIG, open, num(unix.FSCONFIG_SET_FLAG), s.text("userxattr"), num(0), num(0))
	s.do(l, unix.SYS_FSCONFIG, open, num(unix.FSCONFIG_CMD_CREATE), num(0), num(0), num(0))
	attributes := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if !write {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	made := s.kept(l, unix.SYS_FSMOUNT, open, num(unix.FSMOUNT_CLOEXEC), num(attributes))
	s.close(l, open)
	for _, at := range []string{lowerAt, upperAt} {
		s.do(l, unix.SYS_UMOUNT2, s.text(at), num(unix.MNT_DETACH))
		s.do(l, unix.SYS_UNLINKAT, num(unix.AT_FDCWD), s.text(at), num(unix.AT_REMOVEDIR))
	}
	return made
}
