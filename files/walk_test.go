package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// walked is a walk as a list of folders with their entries.
func walked(t *testing.T, f *files.Handle, start string) []string {
	t.Helper()
	var list []string
	err := f.Walk(t.Context(), start, func(d *files.Folder) error {
		var names []string
		for _, e := range d.Entries {
			names = append(names, e.Name)
		}
		slices.Sort(names)
		d.Value = names
		return nil
	}, func(d *files.Folder) error {
		list = append(list, d.Path+": "+strings.Join(d.Value.([]string), " "))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFilesWalk(t *testing.T) {
	g := newGrounds(t)
	for _, name := range []string{"in/z/1", "in/dir/sub/2", "in/dir/.env", "in/.git/config", "in/.git/hooks/x", "in/.git/HEAD", "in/bare/HEAD", "in/bare/config", "in/bare/objects/x", "in/bare/refs/x", "in/home/.ssh/id", "in/home/x", "in/vault/key"} {
		g.put(t, name, "text\n")
	}
	g.link(t, "../out", "in/link")
	g.link(t, "../vault", "in/home/.aws") // protected where it is kept
	f := g.open(t, files.Options{Protected: protection(t, filepath.Join(g.in, "home"))}, "in")
	if data, _, err := f.ReadFile("vault/key", 10); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("%q, %v", data, err)
	}
	want := []string{
		".: .git a.txt bare dir home link z", ".git: HEAD", "bare: HEAD objects refs", "bare/objects: x", "bare/refs: x",
		"dir: b.txt sub", "dir/sub: 2", "home: x", "z: 1",
	}
	for range 20 { // always the same
		if diff := cmp.Diff(want, walked(t, f, ".")); diff != "" {
			t.Fatal(diff)
		}
	}
	if diff := cmp.Diff([]string{".: b.txt sub", "sub: 2"}, walked(t, f, filepath.Join(g.in, "dir"))); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"link", "home/.ssh", ".git/hooks", "..", "a.txt"} {
		if err := f.Walk(t.Context(), name, func(*files.Folder) error { return nil }, nil); err == nil {
			t.Errorf("%s was walked", name)
		}
	}
}

// TestFilesWalkWork: files are opened in their folders, work is put off, and
// all of it is done before a folder is emitted.
func TestFilesWalkWork(t *testing.T) {
	g := newGrounds(t)
	for i := range 300 {
		g.put(t, fmt.Sprintf("in/d%d/%03d", i%7, i), fmt.Sprintf("%03d", i))
	}
	f := g.open(t, files.Options{}, "in")
	var got []string
	err := f.Walk(t.Context(), ".", func(d *files.Folder) error {
		var mu sync.Mutex
		var texts []string
		d.Value = &texts
		for _, e := range d.Entries {
			if !e.Type.IsRegular() {
				continue
			}
			d.Later(func() error {
				s, err := d.Open(e.Name)
				if err != nil {
					return err
				}
				data, err := io.ReadAll(s)
				mu.Lock()
				texts = append(texts, string(data))
				mu.Unlock()
				return errors.Join(err, s.Close())
			})
		}
		return nil
	}, func(d *files.Folder) error {
		texts := *d.Value.(*[]string)
		slices.Sort(texts)
		got = append(got, texts...)
		return nil
	})
	if err != nil || len(got) != 302 || got[0] != "a\n" {
		t.Errorf("%d texts, %v", len(got), err)
	}
	slices.Sort(got)
	if got[0] != "000" || got[299] != "299" {
		t.Error("some files were not read")
	}
	var refused error
	err = f.Walk(t.Context(), ".", func(d *files.Folder) error {
		if d.Path == "." {
			for _, name := range []string{"../out/secret.txt", "d1/001", "..", ".", "", "d1", "gone"} {
				if s, err := d.Open(name); err == nil {
					refused = errors.Join(refused, s.Close(), fmt.Errorf("%q was opened", name))
				}
			}
		}
		return nil
	}, nil)
	if err := errors.Join(err, refused); err != nil {
		t.Error(err)
	}
}

func TestFilesWalkEnds(t *testing.T) {
	g := newGrounds(t)
	for i := range 200 {
		g.put(t, fmt.Sprintf("in/d%d/e%d/f", i%20, i), "x")
	}
	f := g.open(t, files.Options{}, "in")
	walked(t, f, ".") // the granted directory stays open
	before := openFiles(t)
	boom := errors.New("boom")
	for range 30 {
		n := 0
		count := func(err error) func(*files.Folder) error {
			return func(*files.Folder) error {
				if n++; n == 5 {
					return err
				}
				return nil
			}
		}
		visit := func(*files.Folder) error { return nil }
		if err := f.Walk(t.Context(), ".", visit, count(fs.SkipAll)); err != nil || n != 5 {
			t.Fatalf("%d folders, %v", n, err)
		}
		n = 0
		if err := f.Walk(t.Context(), ".", visit, count(boom)); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		if err := f.Walk(t.Context(), ".", func(d *files.Folder) error {
			d.Later(func() error { return boom })
			return nil
		}, visit); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		n = 0
		if err := f.Walk(ctx, ".", visit, func(*files.Folder) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	for name, walk := range map[string]func(){
		"visit": func() { _ = f.Walk(t.Context(), ".", func(*files.Folder) error { panic("ouch") }, nil) },
		"later": func() {
			_ = f.Walk(t.Context(), ".", func(d *files.Folder) error { d.Later(func() error { panic("ouch") }); return nil }, nil)
		},
		"emit": func() {
			_ = f.Walk(t.Context(), ".", func(*files.Folder) error { return nil }, func(*files.Folder) error { panic("ouch") })
		},
	} {
		func() {
			defer func() {
				if p := recover(); p != "ouch" {
					t.Errorf("a panic in %s came out as %v", name, p)
				}
			}()
			walk()
		}()
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors were left open", after-before)
	}
}

// openFiles counts the descriptors of this process, where that can be told.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

func TestFilesWalkDeep(t *testing.T) {
	g := newGrounds(t)
	root, err := os.OpenRoot(g.in)
	if err != nil {
		t.Fatal(err)
	}
	for range 1100 { // deeper than a path can be written
		if err := root.Mkdir("d", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := root.OpenRoot("d")
		if err != nil {
			t.Fatal(err)
		}
		root.Close()
		root = next
	}
	root.Close()
	f := g.open(t, files.Options{}, "in")
	var last error
	n := 0
	if err := f.Walk(t.Context(), ".", func(*files.Folder) error { return nil }, func(d *files.Folder) error {
		n++
		last = d.Err
		if d.Path == "dir" {
			last = nil
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n < 1000 || n > 1100 {
		t.Errorf("%d folders (%v)", n, last)
	}
}
