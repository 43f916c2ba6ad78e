//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// mounted mounts something for the time of a test.
func mounted(t *testing.T, source, target, kind string, flags uintptr) {
	t.Helper()
	if err := os.MkdirAll(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(source, target, kind, flags, ""); err != nil {
		t.Skipf("mounting: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestLayerOverMounts: a file system that is mounted below a granted directory has a
// layer of its own, or is hidden and named, and what lies under it is never seen.
func TestLayerOverMounts(t *testing.T) {
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers"), Shield: obeyedShield(t)})
	if !s.who.root {
		t.Skip("only root of the machine mounts and maps owners")
	}
	root, other := tempProject(t), tempProject(t)
	put(t, root, map[string]string{"a": "a\n", "memory/under": "UNDER", "bound/under": "UNDER", "odd/under": "UNDER", "in/deep er/under": "UNDER"})
	put(t, other, map[string]string{"b": "b\n", ".env": "SECRET"})
	mounted(t, "none", filepath.Join(root, "memory"), "tmpfs", 0)
	put(t, root, map[string]string{"memory/m": "m\n", "memory/.env": "SECRET", "memory/in/x": "x\n"})
	mounted(t, "none", filepath.Join(root, "memory", "in"), "tmpfs", 0)
	put(t, root, map[string]string{"memory/in/y": "y\n"})
	mounted(t, other, filepath.Join(root, "bound"), "", unix.MS_BIND)
	mounted(t, "none", filepath.Join(root, "odd"), "ramfs", 0) // its owners cannot be mapped
	put(t, root, map[string]string{"odd/o": "ODD"})
	mounted(t, "none", filepath.Join(root, "in", "deep er"), "tmpfs", 0)
	before := strings.Join(tree(t, root), "\n")

	exit, out := onLayer(t, s, `cat a memory/m memory/in/y bound/b; cat memory/.env bound/.env memory/under bound/under odd/* 'in/deep er/under' memory/in/x 2>/dev/null
		echo 1 >> a; echo 1 >> memory/m; echo 1 > memory/in/n; echo 1 > bound/n; rm bound/b; echo 1 > 'in/deep er/n'
		echo 1 > odd/n 2>/dev/null; rm -rf memory bound odd in 2>/dev/null; ls -d memory bound odd in`, root)
	if strings.Contains(out, "UNDER") || strings.Contains(out, "SECRET") || strings.Contains(out, "ODD") || !strings.HasPrefix(out, "a\nm\ny\nb\n") || !strings.HasSuffix(out, "bound\nin\nmemory\nodd\n") {
		t.Errorf("%+v\n%s", exit, out)
	}
	if now := strings.Join(tree(t, root), "\n"); now != before {
		t.Errorf("it reached the live files:\n%s", now)
	}
	if notes := strings.Join(exit.Notes, "\n"); !strings.Contains(notes, filepath.Join(root, "odd")) {
		t.Errorf("it is not told what was hidden: %q", notes)
	}
	if exit.Changes == nil {
		t.Fatal("there are no changes")
	}
	_ = exit.Changes.Drop()

	exit, out = onLayer(t, s, `echo 1 >> a; echo 1 >> memory/m; echo 1 > memory/in/n; echo 1 > bound/n; rm bound/b; echo 1 > 'in/deep er/n'`, root)
	if exit.Changes == nil {
		t.Fatalf("%+v\n%s", exit, out)
	}
	if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "a\n1\n", "memory/m": "m\n1\n", "memory/in/n": "1\n", "bound/n": "1\n", "in/deep er/n": "1\n", "memory/.env": "SECRET"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(other, "b")); !os.IsNotExist(err) {
		t.Errorf("what was removed in the bound directory: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*", ".toolcrib-layer-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestLayerBelowAMount: a plain user has no layer over a directory in which something is
// mounted, and is told so before anything runs.
func TestLayerBelowAMount(t *testing.T) {
	root := os.Getenv("LAYER_MOUNTED")
	if os.Getuid() == 0 {
		root = tempProject(t)
		dir, err := os.MkdirTemp("", "nobody")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		mounted(t, "none", filepath.Join(root, "sub"), "tmpfs", 0)
		self, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		binary := filepath.Join(dir, "test")
		cribtest.Program(t, binary, self)
		for _, path := range []string{dir, root, filepath.Dir(root)} {
			if err := os.Chmod(path, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		c := exec.CommandContext(t.Context(), binary, "-test.run=^TestLayerBelowAMount$", "-test.v")
		c.Dir, c.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "LAYER_MOUNTED="+root)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestLayerBelowAMount") {
			t.Errorf("as nobody: %v\n%s", err, out)
		}
		return
	}
	if root == "" {
		return // root runs this once more as nobody
	}
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	dirs := []files.Dir{{Path: root, Write: true}}
	if err := s.Layers(t.Context(), dirs); err == nil || !strings.Contains(err.Error(), filepath.Join(root, "sub")) {
		t.Errorf("layers: %v", err)
	}
	_, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "echo x > " + root + "/x"}, Dir: root, OnLayer: true}, toolcrib.Grant{Dirs: dirs, Programs: []string{"*"}})
	if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), filepath.Join(root, "sub")) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(root, "x")); !os.IsNotExist(err) {
		t.Errorf("it ran: %v", err)
	}
	if err := s.Layers(t.Context(), []files.Dir{{Path: filepath.Join(root, "sub")}}); err != nil {
		t.Errorf("over the mounted file system itself: %v", err)
	}
	noLayers(t, s)
}

// TestLayersAreTried: where no layer can be had it is said why, and where one can be had
// nothing is left of the trial.
func TestLayersAreTried(t *testing.T) {
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	project := tempProject(t)
	if err := s.Layers(t.Context(), []files.Dir{{Path: project, Write: true}}); err != nil {
		t.Error(err)
	}
	noLayers(t, s)
	if err := open(t, Config{}).Layers(t.Context(), nil); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("without a directory for layers: %v", err)
	}
	if err := s.Layers(t.Context(), []files.Dir{{Path: filepath.Join(project, "missing"), Write: true}}); err == nil {
		t.Error("a layer over nothing")
	}
	noLayers(t, s)
}
