//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// layerTrial needs all that a layer is made of: a directory that is removed and made
// anew is marked by an attribute, and a removed file by a device node.
const layerTrial = "rm -r d && mkdir d && echo new >d/new && rm f"

// layerTrialTime is how long it may take.
const layerTrialTime = 20 * time.Second

// Layers says why commands cannot work on layers over these directories; nil: they can.
// It runs a program of its own on such a layer.
func (s *Sandbox) Layers(ctx context.Context, dirs []files.Dir) error {
	if s.cfg.Layers == "" {
		return sandbox.Unavailable("there is no directory for layers", nil)
	}
	if err := os.MkdirAll(s.cfg.Layers, 0o700); err != nil {
		return sandbox.Unavailable("no directory for layers can be made: "+err.Error(), err)
	}
	dir, err := os.MkdirTemp("", "toolcrib-layer-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return sandbox.Unavailable("no layer can be tried: "+err.Error(), err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing of a person lies in it
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o755), os.WriteFile(filepath.Join(dir, "d", "old"), nil, 0o600), os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)); err != nil {
		return sandbox.Unavailable("no layer can be tried: "+err.Error(), err)
	}
	grant := toolcrib.Grant{Dirs: append([]files.Dir{{Path: dir, Write: true}}, dirs...), Programs: []string{"*"}, Time: layerTrialTime}
	trial := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", layerTrial}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, OnLayer: true}
	if err = s.tryLayer(ctx, trial, grant); s.cleared(err) {
		err = s.tryLayer(ctx, trial, grant)
	}
	if err == nil {
		return nil
	}
	return sandbox.Unavailable("no layers can be had here: "+err.Error()+"; "+s.layerHint(), err)
}

// cleared tells whether it is worth while to try again: the kernel makes no layer that is
// not flushed on a file system with an error of writing that nobody was told of. Flushing
// it tells us.
func (s *Sandbox) cleared(err error) bool {
	failed, ok := errors.AsType[*scriptError](err)
	if !ok || failed.errno != unix.EIO || failed.label.step != stepFiles {
		return false
	}
	dir, err := os.Open(s.cfg.Layers)
	if err != nil {
		return false
	}
	_ = unix.Syncfs(int(dir.Fd())) // it gives that error
	return dir.Close() == nil
}

// tryLayer runs a program of ours on a layer. What is protected need not be looked for,
// since it reads nothing of what was granted.
func (s *Sandbox) tryLayer(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) error {
	s.running.RLock()
	defer s.running.RUnlock()
	r := &run{sandbox: s, job: s.job(cmd, grant, false), network: s.openNetwork(ctx, nil)}
	defer r.close()
	err := s.furnish(r, cmd)
	if err == nil {
		r.layer, err = s.openLayer()
	}
	if err == nil {
		err = s.granted(r, grant.Dirs)
	}
	if err != nil {
		return err
	}
	exit, err := r.run(ctx, cmd, grant)
	if err != nil {
		return err
	}
	set, err := layer.Read(ctx, r.layer.trees, r.layer.began)
	if err != nil {
		return err
	}
	var got []string
	for _, c := range set.Changes {
		rel, _ := filepath.Rel(cmd.Dir, c.Path) // both are absolute
		got = append(got, c.Kind.String()+" "+rel)
	}
	if want := []string{"created d/new", "deleted d/old", "deleted f"}; exit.Code != 0 || !slices.Equal(got, want) {
		return fmt.Errorf("a program on a layer ended with %d, and its changes read %q", exit.Code, strings.Join(got, ", "))
	}
	return nil
}

// layerHint says what layers need, with what is here.
func (s *Sandbox) layerHint() string {
	var name unix.Utsname
	_ = unix.Uname(&name) // an empty name is told then
	where := "an unknown file system"
	var st unix.Statfs_t
	if unix.Statfs(s.cfg.Layers, &st) == nil {
		where = fileSystem(int64(st.Type)) //nolint:unconvert // its width differs
	}
	as := ""
	if s.who.root {
		as = ", from 5.19 on for root"
	}
	return fmt.Sprintf("they need a kernel from 5.11 on%s (this one is %s), its overlay file system, and Toolcrib's state on ext4, xfs, btrfs or tmpfs with attributes of users (%s lies on %s)",
		as, unix.ByteSliceToString(name.Release[:]), s.cfg.Layers, where)
}

// fileSystem names a file system by its number.
func fileSystem(magic int64) string {
	for name, number := range map[string]int64{
		"ext4": unix.EXT4_SUPER_MAGIC, "xfs": unix.XFS_SUPER_MAGIC, "btrfs": unix.BTRFS_SUPER_MAGIC, "tmpfs": unix.TMPFS_MAGIC,
		"overlay, which cannot hold one: in a container, keep the state on a volume": unix.OVERLAYFS_SUPER_MAGIC,
		"NFS": unix.NFS_SUPER_MAGIC, "FUSE": unix.FUSE_SUPER_MAGIC, "ecryptfs": unix.ECRYPTFS_SUPER_MAGIC,
	} {
		if magic == number {
			return name
		}
	}
	return fmt.Sprintf("a file system of the kind %#x", magic)
}
