package linked_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/linked"
)

// TestBelow: links are listed and not followed, and it comes to an end.
func TestBelow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root, strings.Repeat("d/", 40))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"a": "..", "d/b": "../file", "d/gone": "x/../../../y", "loop": "loop", "d/readme": "../../AGENTS.md"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3000 {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprint("w", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found := linked.Below(root, linked.Read)
	if len(found) == 0 || len(found) > 2000 {
		t.Errorf("%d directories", len(found))
	}
	want := map[string]string{"b": filepath.Join(root, "file"), "gone": filepath.Join(root, "d", "x")}
	for _, l := range found {
		for _, link := range l.Links {
			target, ok := linked.Obeyed(link)
			if name := filepath.Base(link); ok != (want[name] != "") || ok && target != want[name] {
				t.Errorf("%s leads to %s, %v", link, target, ok)
			}
			delete(want, filepath.Base(link))
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	if _, err := linked.Read(filepath.Join(root, "a")); err == nil {
		t.Error("a link was taken for a directory")
	}
}

func FuzzTrace(f *testing.F) {
	f.Add("a/../b//./c", "../x")
	f.Add("l/l/l", "l")
	f.Add("l/../..", "/")
	f.Fuzz(func(t *testing.T, path, to string) {
		root := t.TempDir()
		if strings.ContainsRune(path+to, 0) || to == "" || os.Symlink(to, filepath.Join(root, "l")) != nil {
			return
		}
		full := root + string(filepath.Separator) + path
		want, err := filepath.EvalSymlinks(full)
		if err != nil {
			return
		}
		if got, err := linked.Target(full); err != nil || got != want {
			t.Errorf("%q leads to %q, error %v, the system says %q", full, got, err, want)
		}
	})
}

// TestMemory: links of wanted names are found wherever they lie, as they are now,
// and also once a program has made more directories than are looked at.
func TestMemory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mkdir := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := linked.Memory{
		Most:  20,
		Link:  func(_, name string) bool { return strings.HasPrefix(name, "x") },
		Enter: func(_, name string) bool { return name != "closed" },
	}
	finds := func(want ...string) {
		t.Helper()
		for i := range want {
			want[i] = filepath.Join(root, want[i])
		}
		if got := m.Links(root, filepath.Join(root, "a"), root); !slices.Equal(got, want) {
			t.Errorf("found %v, not %v", got, want)
		}
	}
	link := func(name string) {
		t.Helper()
		if err := os.Symlink("to", filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	mkdir("a/b/c/d", "node_modules/p", ".git", "closed")
	for _, name := range []string{"a/y", "closed/x", "a/b/c/d/x", "node_modules/p/x", ".git/x"} {
		link(name)
	}
	if err := os.Symlink(".", filepath.Join(root, "loop")); err != nil {
		t.Fatal(err)
	}
	finds(".git/x", "a/b/c/d/x", "node_modules/p/x")
	link("a/b/x")
	finds(".git/x", "a/b/c/d/x", "a/b/x", "node_modules/p/x")
	if err := os.Rename(filepath.Join(root, "a", "b", "c", "d"), filepath.Join(root, "e")); err != nil {
		t.Fatal(err)
	}
	finds(".git/x", "a/b/x", "e/x", "node_modules/p/x")
	if err := os.RemoveAll(filepath.Join(root, "node_modules")); err != nil {
		t.Fatal(err)
	}
	finds(".git/x", "a/b/x", "e/x")
	for i := range 40 {
		mkdir(fmt.Sprint("w", i))
	}
	finds(".git/x", "a/b/x", "e/x")
}
