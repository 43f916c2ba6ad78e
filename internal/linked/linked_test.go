package linked_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
