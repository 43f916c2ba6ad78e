//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// flip keeps exchanging what a name stands for until stop is called, and
// tells how often it did.
func flip(t *testing.T, dir, name string, kinds ...func(path string) error) (turns func() int64, stop func()) {
	t.Helper()
	var over atomic.Bool
	var count atomic.Int64
	var done sync.WaitGroup
	done.Go(func() {
		for i := 0; !over.Load(); i++ {
			next := filepath.Join(dir, fmt.Sprintf(".next-%s-%d", filepath.Base(name), i%2))
			if os.RemoveAll(next) != nil || kinds[i%len(kinds)](next) != nil {
				continue
			}
			path := filepath.Join(dir, name)
			if os.Rename(next, path) != nil { // a directory gives way only to one
				old := filepath.Join(dir, ".old-"+filepath.Base(name))
				_ = os.RemoveAll(old)
				_ = os.Rename(path, old)
				if os.Rename(next, path) != nil {
					continue
				}
				_ = os.RemoveAll(old)
			}
			count.Add(1)
		}
	})
	return count.Load, func() {
		over.Store(true)
		done.Wait()
	}
}

func file(text string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }
}

func link(target string) func(string) error {
	return func(path string) error { return os.Symlink(target, path) }
}

func fifo(path string) error { return syscall.Mkfifo(path, 0o666) }

func folder(path string) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, "secret.txt"), []byte("harmless\n"), 0o644)
}

// TestRaces changes what names stand for while tools use them: files and
// directories into links that lead out or to what is protected, into pipes,
// and back. Whatever is caught in the middle, nothing comes from outside and
// nothing there changes.
func TestRaces(t *testing.T) {
	for _, tt := range []struct {
		name  string
		path  string // what the tools are given
		flip  string // what is exchanged
		kinds func(a *arena) []func(string) error
	}{
		{"file and link", "flip", "flip", func(a *arena) []func(string) error {
			return []func(string) error{file("harmless\n"), link("../out/secret.txt")}
		}},
		{"file and link to what is protected", "flip", "flip", func(a *arena) []func(string) error {
			return []func(string) error{file("harmless\n"), link(".env"), link(".git/config")}
		}},
		{"file, dangling link, nothing", "flip", "flip", func(a *arena) []func(string) error {
			return []func(string) error{file("harmless\n"), link("../out/made.txt"), link(filepath.Join(a.out, "made.txt"))}
		}},
		{"directory and link", "flip/secret.txt", "flip", func(a *arena) []func(string) error {
			return []func(string) error{folder, link("../out"), link(a.out)}
		}},
		{"directory and link, as a tree", "flip", "flip", func(a *arena) []func(string) error {
			return []func(string) error{folder, link("../out"), link("link-up")}
		}},
		{"file and pipe", "flip", "flip", func(a *arena) []func(string) error {
			return []func(string) error{file("harmless\n"), fifo}
		}},
		{"directory and pipe", "flip/secret.txt", "flip", func(a *arena) []func(string) error {
			return []func(string) error{folder, fifo}
		}},
		{"deep directory and link", "dir/flip/secret.txt", "dir/flip", func(a *arena) []func(string) error {
			return []func(string) error{folder, link("../../out"), link("../.git/hooks")}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newArena(t)
			before := a.snapshot(t)
			delete(before, a.dir)
			turns, stop := flip(t, filepath.Join(a.dir, filepath.Dir(tt.flip)), filepath.Base(tt.flip), tt.kinds(a)...)
			rounds, astray := 0, 0
			for start := time.Now(); time.Since(start) < 600*time.Millisecond || (rounds < 5 || astray == 0 || turns() < 50) && time.Since(start) < 20*time.Second; rounds++ {
				// The control: a careless program would be led astray now.
				if info, err := os.Lstat(filepath.Join(a.dir, tt.flip)); err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeNamedPipe) != 0 {
					astray++
				}
				a.assault(t, tt.path)
			}
			stop()
			if turns() < 50 || rounds < 5 || astray == 0 {
				t.Errorf("%d changes during %d rounds, %d of them astray: the race was not one", turns(), rounds, astray)
			}
			t.Logf("%d changes during %d rounds of 9 calls, %d of them astray", turns(), rounds, astray)
			after := a.snapshot(t)
			delete(after, a.dir)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("changed what it must not (-before +after):\n%s", diff)
			}
		})
	}
}

// assault uses every tool once on a path.
func (a *arena) assault(t *testing.T, path string) {
	t.Helper()
	for _, c := range []struct {
		tool string
		in   map[string]any
	}{
		{"read_file", map[string]any{"path": path}},
		{"list_files", map[string]any{"path": path, "recursive": true}},
		{"list_files", map[string]any{"path": filepath.Dir(path), "recursive": true, "gitignore": true}},
		{"find_files", map[string]any{"path": filepath.Dir(path), "glob": "**/*"}},
		{"search_files", map[string]any{"path": filepath.Dir(path), "pattern": "CANARY"}},
		{"search_files", map[string]any{"path": path, "pattern": "CANARY"}},
		{"edit_file", map[string]any{"path": path, "old_text": "harmless", "new_text": "CHANGED"}},
		{"write_file", map[string]any{"path": path, "content": "CHANGED"}},
		{"delete_file", map[string]any{"path": path}},
	} {
		out, fault := a.call(t, c.tool, c.in)
		if text := fmt.Sprint(out) + fault; strings.Contains(text, canary) || strings.Contains(text, canaryName) {
			t.Fatalf("%s %v: something came back: %.300s", c.tool, c.in, text)
		}
	}
}

// TestMovedParent moves directories in and out of the grant during walks.
func TestMovedParent(t *testing.T) {
	a := newArena(t)
	for i := range 40 {
		a.put(t, fmt.Sprintf("deep/m/d%02d/e/f.txt", i), "harmless\n")
	}
	before := a.snapshot(t)
	delete(before, a.dir)
	var over atomic.Bool
	var moves atomic.Int64
	var done sync.WaitGroup
	done.Go(func() {
		in, out := filepath.Join(a.dir, "deep", "m"), filepath.Join(a.base, "moved")
		for !over.Load() {
			if os.Rename(in, out) == nil && os.Symlink(a.out, in) == nil {
				moves.Add(1)
			}
			_ = os.Remove(in)
			if os.Rename(out, in) == nil {
				continue
			}
			if _, err := os.Lstat(out); err == nil { // a tool has made the directory anew meanwhile, and it would stay in the way
				_ = os.RemoveAll(in)
				_ = os.Rename(out, in)
			}
		}
	})
	for start := time.Now(); time.Since(start) < 600*time.Millisecond || moves.Load() < 50 && time.Since(start) < 2*time.Minute; {
		a.assault(t, "deep/m")
		a.assault(t, "deep/m/d07/e/f.txt")
	}
	over.Store(true)
	done.Wait()
	if moves.Load() < 50 {
		t.Errorf("only %d moves", moves.Load())
	}
	after := a.snapshot(t)
	delete(after, a.dir)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("changed what it must not (-before +after):\n%s", diff)
	}
}
