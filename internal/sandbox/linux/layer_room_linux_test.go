//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// TestLayerIsBounded: a command that writes too much is ended or refused, whatever way
// it takes, and nothing of it is applied.
func TestLayerIsBounded(t *testing.T) {
	const size = 1 << 20
	for name, script := range map[string]string{
		"many files":           `i=0; while :; do head -c 1000000 /dev/urandom > f$i; i=$((i+1)); done`,
		"deep":                 `while :; do mkdir d; cd d; head -c 1000000 /dev/urandom > f; done`,
		"a shut directory":     `mkdir d; chmod 000 d; exec 3>&1; while :; do chmod 700 d; head -c 1000000 /dev/urandom > d/$(date +%N); chmod 000 d; done`,
		"holes":                `for i in 1 2 3 4 5 6; do truncate -s 1000000 f$i; done`,
		"a large live file":    `i=0; while [ $i -lt 6 ]; do chmod 600 live$i; i=$((i+1)); done`,
		"longer than its time": `(i=0; while :; do head -c 1000000 /dev/urandom > f$i; i=$((i+1)); done) & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			project := tempProject(t)
			put(t, project, map[string]string{"a": "one\n"})
			for _, i := range []string{"0", "1", "2", "3", "4", "5"} {
				put(t, project, map[string]string{"live" + i: strings.Repeat("x", size-1)})
			}
			before := strings.Join(tree(t, project), "\n")
			s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers"), Limits: sandbox.Limits{FileBytes: size}})
			exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "echo two > a; " + script}, Dir: project, Env: []string{"PATH=/usr/bin:/bin"}, OnLayer: true},
				toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}}, Programs: []string{"*"}, Time: time.Minute})
			said := strings.Join(exit.Notes, " ")
			if err != nil {
				said = err.Error()
			}
			if exit.Changes != nil || !strings.Contains(said, "wrote more than 4 MiB") && !strings.Contains(said, "in each other") {
				t.Errorf("%+v, %v", exit, err)
			}
			if now := strings.Join(tree(t, project), "\n"); now != before {
				t.Errorf("the project was changed:\n%s", now)
			}
			noLayers(t, s)
		})
	}
}

// TestLayerRoom: as much as is granted fits, and a disk that somebody else fills is
// left room.
func TestLayerRoom(t *testing.T) {
	r, err := roomForLayer(t.TempDir(), 1<<20)
	if err != nil || r.most != 4<<20 || r.spareBytes <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = roomForLayer(t.TempDir(), 1<<60); err != nil || r.most <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if bytes, _, err := freeAt(t.TempDir()); err != nil || r.most > bytes {
		t.Errorf("a layer may hold %d where %d are free: %v", r.most, bytes, err)
	}
	l := &layered{dir: t.TempDir(), room: room{most: 1 << 20, spareBytes: 1 << 62}}
	if (&gauge{layer: l}).fits() {
		t.Error("a full disk leaves room for more")
	}
	l.room.spareBytes = 0
	l.trees = []layer.Tree{{Dir: l.dir}}
	if err := os.Mkdir(filepath.Join(l.dir, layer.UpperName), 0o700); err != nil {
		t.Fatal(err)
	}
	g := &gauge{layer: l, usedBytes: 2 << 20} // somebody else wrote that
	if !g.fits() || g.usedBytes >= 1<<20 {
		t.Errorf("what others write counts: %+v", g)
	}
	put(t, l.dir, map[string]string{layer.UpperName + "/f": strings.Repeat("x", 1<<20+1)})
	if g.usedBytes = 2 << 20; g.fits() {
		t.Error("too much fits")
	}
}

// TestLayerOnAFullDisk: a command that fills the disk sees it or is ended, and where
// there is no room left nothing is applied in part.
func TestLayerOnAFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root mounts a small file system")
	}
	for name, options := range map[string]string{"bytes": "size=8m,mode=755", "files": "size=64m,nr_inodes=400,mode=755"} {
		t.Run(name, func(t *testing.T) {
			disk := tempProject(t)
			if err := unix.Mount("none", disk, "tmpfs", 0, options); err != nil {
				t.Skipf("mounting: %v", err)
			}
			t.Cleanup(func() {
				if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			project := filepath.Join(disk, "project")
			put(t, project, map[string]string{"a": "one\n", "d/b": "b\n", "gone": "x\n"})
			before := strings.Join(tree(t, project), "\n")
			s := open(t, Config{Layers: filepath.Join(disk, "layers")})
			exit, out := onLayer(t, s, `echo two > a; i=0; while [ $i -lt 5000 ]; do head -c 20000 /dev/zero > f$i || exit 3; i=$((i+1)); done`, project)
			if exit.Code == 0 {
				t.Errorf("%+v\n%s", exit, out)
			}
			if exit.Changes != nil {
				if err := exit.Changes.Drop(); err != nil {
					t.Error(err)
				}
			}
			if now := strings.Join(tree(t, project), "\n"); now != before {
				t.Errorf("the project was changed:\n%s", now)
			}
			exit, out = onLayer(t, s, `echo two > a; rm gone; mkdir -p n/m; i=0; while [ $i -lt 40 ]; do echo $i > d/$i; echo $i > n/m/$i; i=$((i+1)); done`, project)
			if exit.Changes == nil {
				t.Fatalf("%+v\n%s", exit, out)
			}
			full := filepath.Join(disk, "full")
			if err := os.Mkdir(full, 0o700); err != nil {
				t.Fatal(err)
			}
			for i := 0; ; i++ {
				if err := os.WriteFile(filepath.Join(full, strconv.Itoa(i)), make([]byte, 4096), 0o600); err != nil {
					break
				}
			}
			all := func(string) bool { return true }
			if err := exit.Changes.Apply(t.Context(), all); err == nil {
				t.Error("it was applied where nothing can be written down")
			}
			if now := strings.Join(tree(t, project), "\n"); now != before {
				t.Errorf("a part was applied:\n%s", now)
			}
			if err := os.RemoveAll(full); err != nil {
				t.Fatal(err)
			}
			if err := exit.Changes.Apply(t.Context(), all); err != nil {
				t.Errorf("with room again: %v", err)
			}
			for name, want := range map[string]string{"a": "two\n", "d/39": "39\n", "n/m/39": "39\n", "d/b": "b\n"} {
				if text, err := os.ReadFile(filepath.Join(project, name)); err != nil || string(text) != want {
					t.Errorf("%s: %q, %v", name, text, err)
				}
			}
		})
	}
}

// TestLayersOnFileSystems: what a layer is made of works on every file system that the
// docs name, also where the state lies on another one.
func TestLayersOnFileSystems(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root mounts file systems")
	}
	for kind, size := range map[string]int64{"ext4": 64 << 20, "xfs": 320 << 20, "btrfs": 128 << 20} {
		t.Run(kind, func(t *testing.T) {
			mkfs, err := exec.LookPath("mkfs." + kind)
			if err != nil {
				t.Logf("left out: there is no mkfs.%s", kind)
				return
			}
			image, disk := filepath.Join(t.TempDir(), "image"), tempProject(t)
			if err := os.WriteFile(image, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(image, size); err != nil {
				t.Fatal(err)
			}
			for _, c := range [][]string{{mkfs, "-q", image}, {"mount", "-o", "loop", image, disk}} {
				if out, err := exec.CommandContext(t.Context(), c[0], c[1:]...).CombinedOutput(); err != nil {
					t.Logf("left out: %v: %v\n%s", c, err, out) // no loop devices
					return
				}
			}
			t.Cleanup(func() {
				if out, err := exec.Command("umount", "-l", disk).CombinedOutput(); err != nil { //nolint:noctx // after the test
					t.Errorf("%v\n%s", err, out)
				}
			})
			for where, layers := range map[string]string{"beside it": filepath.Join(disk, "layers"), "elsewhere": filepath.Join(t.TempDir(), "layers")} {
				project := filepath.Join(disk, "project "+where)
				put(t, project, map[string]string{"a": "one\n", "d/b": "b\n", "e/f": "f\n"})
				s := open(t, Config{Layers: layers})
				exit, out := onLayer(t, s, `echo two > a; rm -r d; mkdir d; echo n > d/n; mv e/f e/g; ln -s a l; mkdir -p x/y; echo z > x/y/z; truncate -s 3M holes; chmod 700 e`, project)
				if exit.Code != 0 || exit.Changes == nil {
					t.Fatalf("%s: %+v\n%s", where, exit, out)
				}
				if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
					t.Errorf("%s: %v", where, err)
				}
				var st unix.Stat_t
				if err := unix.Stat(filepath.Join(project, "holes"), &st); err != nil || st.Size != 3<<20 || st.Blocks > 512 {
					t.Errorf("%s: a file with holes has %d bytes in %d blocks, %v", where, st.Size, st.Blocks, err)
				}
				for name, want := range map[string]string{"a": "two\n", "d/n": "n\n", "d/b": "-", "e/g": "f\n", "e/f": "-", "l": "two\n", "x/y/z": "z\n"} {
					text, err := os.ReadFile(filepath.Join(project, name))
					if err != nil {
						text = []byte("-")
					}
					if string(text) != want {
						t.Errorf("%s: %s: %q", where, name, text)
					}
				}
			}
		})
	}
}
