package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/seal"
)

func TestKeepAndFind(t *testing.T) {
	t.Parallel()
	s := &Store{State: t.TempDir(), Bytes: 1 << 20}
	want := Change{Call: "c", Subject: "ann", Path: "/p/a", Before: []byte("old\x00\xff"), After: files.StampOf([]byte("new"))}
	if err := s.Keep(want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Find("ann", "c")
	if err != nil || !bytes.Equal(got.Before, want.Before) || !got.After.Same(want.After) || got.Path != want.Path {
		t.Fatal(got, err)
	}
	for _, who := range [][2]string{{"bob", "c"}, {"ann", "d"}} {
		if _, err := s.Find(who[0], who[1]); !errors.Is(err, ErrNothing) {
			t.Error(who, err)
		}
	}
	info, err := os.Stat(s.file("ann", "c"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Error("others can read it", info.Mode(), err)
	}
	if err := s.Keep(Change{Call: "big", Path: "/p/a", Before: make([]byte, MaxFile+1)}); err != nil {
		t.Error(err)
	}
	if _, err := s.Find("", "big"); !errors.Is(err, ErrNothing) {
		t.Error("a large file is kept", err)
	}
	off := &Store{State: filepath.Join(t.TempDir(), "off")}
	if err := off.Keep(want); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(off.State); !os.IsNotExist(err) {
		t.Error("something is kept although nothing should be")
	}
}

func TestOldestGoFirst(t *testing.T) {
	t.Parallel()
	s := &Store{State: t.TempDir(), Bytes: 100_000}
	for i := range 40 {
		if err := s.Keep(Change{Call: fmt.Sprint(i), Path: "/p/a", Before: make([]byte, 6000)}); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(i-1000) * time.Second)
		if err := os.Chtimes(s.file("", fmt.Sprint(i)), when, when); err != nil {
			t.Fatal(err)
		}
	}
	size := int64(0)
	entries, err := os.ReadDir(DirOf(s.State))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > s.Bytes || len(entries) < 5 {
		t.Errorf("%d bytes in %d files", size, len(entries))
	}
	if _, err := s.Find("", "39"); err != nil {
		t.Error("the newest is gone:", err)
	}
	if _, err := s.Find("", "0"); !errors.Is(err, ErrNothing) {
		t.Error("the oldest is still there", err)
	}
	old := time.Now().Add(-MaxAge - time.Hour)
	if err := os.Chtimes(s.file("", "39"), old, old); err != nil {
		t.Fatal(err)
	}
	fresh := &Store{State: s.State, Bytes: s.Bytes}
	if err := fresh.Keep(Change{Call: "x", Path: "/p/a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Find("", "39"); !errors.Is(err, ErrNothing) {
		t.Error("what is too old is still there", err)
	}
}

// What somebody else wrote there is not put back, nor what was kept of another call, nor
// what a version without seals kept.
func TestOnlyWhatWasSealedIsFound(t *testing.T) {
	t.Parallel()
	s := &Store{State: t.TempDir(), Bytes: 1 << 20}
	for _, call := range []string{"c", "d"} {
		if err := s.Keep(Change{Call: call, Subject: "ann", Path: "/p/" + call, Before: []byte("old"), After: files.StampOf([]byte("new"))}); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(s.file("ann", "c"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(s.file("ann", "d"))
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := bytes.Cut(good, []byte("\n"))
	for name, content := range map[string][]byte{
		"another path":     bytes.Replace(good, []byte("/p/c"), []byte("/p/x"), 1),
		"without its seal": body,
		"an empty seal":    append(bytes.Clone(body), '\n'),
		"another call":     other,
		"nothing":          {},
		"the empty key":    append(append(bytes.Clone(body), '\n'), seal.NewDigest(seal.Key(nil).For(dirName), dirName).Sum(body)...),
	} {
		if err := os.WriteFile(s.file("ann", "c"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Find("ann", "c"); err == nil || errors.Is(err, ErrNothing) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if err := os.WriteFile(s.file("ann", "c"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Store{State: s.State}).Find("ann", "c"); err != nil || got.Path != "/p/c" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.RemoveAll(filepath.Join(s.State, "seal")); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Store{State: s.State}).Find("ann", "c"); err == nil {
		t.Errorf("without the key: %+v", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"call":"c","subject":"s","path":"/a","sum":"","slot":"../x"}`)
	f.Add(`{"call":"c","subject":"s","path":"a"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := read([]byte(text), "s", "c")
		if err == nil && (!filepath.IsAbs(c.Path) || strings.ContainsAny(c.Slot, "./\\")) {
			t.Fatalf("%+v", c)
		}
	})
}

// bench is a granted directory with a trash beside it.
type bench struct {
	t          *testing.T
	dir, trash string
	box        *Box
}

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(root, "work"), trash: filepath.Join(root, "trash")}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b.box = &Box{Trash: Trash{b.trash}}
	return b
}

func (b *bench) handle() *files.Handle {
	b.t.Helper()
	h, err := files.New([]files.Dir{{Path: b.dir, Write: true}}, files.Options{Base: b.dir, Trash: b.trash})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = h.Close() })
	return h
}

func (b *bench) put(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// run runs the tool as the crib would, with the box's own input unless another is given.
func (b *bench) run(input map[string]string) (*toolcrib.Result, error) {
	b.t.Helper()
	tools, err := b.box.Tools(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	if input == nil {
		input = b.box.Input()
	}
	raw, err := json.Marshal(input)
	if err != nil {
		b.t.Fatal(err)
	}
	return tools[0].Run(b.t.Context(), &toolcrib.Env{Files: b.handle(), Call: toolcrib.Call{ID: "undo", Caller: toolcrib.Caller{Subject: "ann"}}}, raw)
}

func (b *bench) refused(input map[string]string) {
	b.t.Helper()
	if r, err := b.run(input); err == nil && !r.Failed {
		b.t.Errorf("it was done: %s", r)
	}
}

func (b *bench) holds(path, want string) {
	b.t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		b.t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func TestWriteIsTakenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.put("a", "new")
	var kept Change
	b.box.Keep = func(c Change) error { kept = c; return nil }
	b.box.Change = Change{Call: "c", Path: path, Before: []byte("old"), After: files.StampOf([]byte("new"))}
	b.refused(map[string]string{"path": path, "of": "another"})
	b.refused(map[string]string{"path": filepath.Join(b.dir, "b"), "of": "c"})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	b.holds(path, "old")
	if kept.Call != "undo" || string(kept.Before) != "new" {
		t.Errorf("taking it back cannot be taken back: %+v", kept)
	}
	b.put("a", "somebody's work")
	b.refused(nil)
	b.holds(path, "somebody's work")
}

func TestNewFileGoesToTheTrash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.put("a", "made")
	b.box.Change = Change{Call: "c", Path: path, New: true, After: files.StampOf([]byte("other"))}
	b.refused(nil)
	b.holds(path, "made")
	b.box.Change.After = files.StampOf([]byte("made"))
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if list, _, err := b.box.Trash.List(); err != nil || len(list) != 1 || list[0].Path != path {
		t.Error(list, err)
	}
}

func TestDeletedFileComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.put("a", "precious")
	gone, err := b.handle().Remove("a")
	if err != nil {
		t.Fatal(err)
	}
	b.box.Change = Change{Path: path, Slot: gone.Slot}
	b.put("a", "another")
	b.refused(nil)
	b.holds(path, "another")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	b.holds(path, "precious")
	if list, _, err := b.box.Trash.List(); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	b.refused(nil)
}

// Whoever can write in the directory puts a link in the place of a parent: what is put back
// must not come out somewhere else.
func TestNothingIsPutBackThroughALink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := os.Mkdir(filepath.Join(b.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := b.put("sub/authorized_keys", "evil")
	gone, err := b.handle().Remove("sub/authorized_keys")
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(b.dir), "outside")
	if err := errors.Join(os.Mkdir(outside, 0o700), os.Remove(filepath.Join(b.dir, "sub")), os.Symlink(outside, filepath.Join(b.dir, "sub"))); err != nil {
		t.Fatal(err)
	}
	b.box.Change = Change{Path: path, Slot: gone.Slot}
	b.refused(nil)
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Error("it came out elsewhere", entries, err)
	}
}

// The same within what is granted: a file of another name that holds the same is not the
// one that the person is asked about.
func TestNothingIsTakenBackThroughALink(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(b *bench, victim string) error{
		"the file": func(b *bench, victim string) error {
			return errors.Join(os.Rename(filepath.Join(b.dir, "sub", "a"), filepath.Join(b.dir, "sub", "b")), os.Symlink(victim, filepath.Join(b.dir, "sub", "a")))
		},
		"its directory": func(b *bench, victim string) error {
			return errors.Join(os.Rename(filepath.Join(b.dir, "sub"), filepath.Join(b.dir, "was")), os.Symlink(filepath.Dir(victim), filepath.Join(b.dir, "sub")))
		},
	} {
		for kind, change := range map[string]Change{
			"edited": {Call: "c", Before: []byte("old")}, "new": {Call: "c", New: true},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				b := newBench(t)
				if err := errors.Join(os.Mkdir(filepath.Join(b.dir, "sub"), 0o700), os.Mkdir(filepath.Join(b.dir, "other"), 0o700)); err != nil {
					t.Fatal(err)
				}
				path, victim := b.put("sub/a", "new"), b.put("other/a", "new")
				b.box.Change = change
				b.box.Change.Path, b.box.Change.After = path, files.StampOf([]byte("new"))
				if err := link(b, victim); err != nil {
					t.Fatal(err)
				}
				b.refused(nil)
				b.holds(victim, "new")
				b.holds(path, "new")
			})
		}
	}
	t.Run("from the trash", func(t *testing.T) {
		b := newBench(t)
		if err := errors.Join(os.Mkdir(filepath.Join(b.dir, "sub"), 0o700), os.Mkdir(filepath.Join(b.dir, "other"), 0o700)); err != nil {
			t.Fatal(err)
		}
		path := b.put("sub/conf", "evil")
		gone, err := b.handle().Remove("sub/conf")
		if err = errors.Join(err, os.Remove(filepath.Join(b.dir, "sub")), os.Symlink("other", filepath.Join(b.dir, "sub"))); err != nil {
			t.Fatal(err)
		}
		b.box.Change = Change{Path: path, Slot: gone.Slot}
		b.refused(nil)
		if entries, err := os.ReadDir(filepath.Join(b.dir, "other")); err != nil || len(entries) > 0 {
			t.Error("it came out elsewhere", entries, err)
		}
	})
}

func TestTrashTakesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	trash := Trash{b.trash}
	victim := filepath.Join(filepath.Dir(b.dir), "victim")
	if err := os.Mkdir(victim, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../victim", "..", ".", "", "a/b", "a\\b"} {
		if _, err := trash.Get(id); err == nil {
			t.Errorf("%q is something in the trash", id)
		}
		if err := trash.Drop(id); err == nil {
			t.Errorf("%q was removed", id)
		}
	}
	if _, err := os.Stat(victim); err != nil {
		t.Fatal(err)
	}
	b.put("x", "1")
	if _, err := b.handle().Remove("x"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(b.trash, "BROKEN"), 0o700), os.Symlink(victim, filepath.Join(b.trash, "LINK"))); err != nil {
		t.Fatal(err)
	}
	list, broken, err := trash.List()
	if err != nil || len(list) != 1 || broken != 2 {
		t.Fatal(list, broken, err)
	}
	if found, err := trash.Find(strings.ToLower(list[0].ID[:6])); err != nil || len(found) != 1 {
		t.Error(found, err)
	}
	if found, err := trash.Find(list[0].Path); err != nil || len(found) != 1 {
		t.Error(found, err)
	}
	if err := trash.Drop(list[0].ID); err != nil {
		t.Error(err)
	}
}
