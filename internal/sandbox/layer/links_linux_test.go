package layer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// namesOf tells how many names a file has, and which file it is.
func namesOf(t *testing.T, path string) (names, inode uint64) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return uint64(st.Nlink), st.Ino //nolint:unconvert // the width of Nlink differs
}

// linkedTree is a tree with a file of one name and one of two, and a layer on which they
// got further names: as copies in the upper half, as the kernel makes them.
func linkedTree(t *testing.T) (live, upper string, set func() *Set) {
	t.Helper()
	base := t.TempDir()
	live = filepath.Join(base, "live")
	tree := Tree{Root: live, Dir: filepath.Join(base, "layer")}
	upper = tree.Upper()
	for _, dir := range []string{live, upper, filepath.Join(upper, "new")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{live + "/one": "one", live + "/two": "two", upper + "/one": "one", upper + "/moved": "two"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range [][2]string{{live + "/two", live + "/other"}, {upper + "/one", upper + "/more"}, {upper + "/one", upper + "/new/in"}} {
		if err := os.Link(l[0], l[1]); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{live + "/one": upper + "/one", live + "/two": upper + "/moved"} {
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mknod(upper+"/two", syscall.S_IFCHR, 0); err != nil {
		t.Skipf("no whiteout can be made: %v", err)
	}
	return live, upper, func() *Set {
		s, err := Read(t.Context(), []Tree{tree}, time.Now().Add(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestNamesStayTogether(t *testing.T) {
	live, _, read := linkedTree(t)
	s := read()
	record := filepath.Join(t.TempDir(), "record")
	if err := s.Apply(t.Context(), Options{Record: record}); err != nil {
		t.Fatal(err)
	}
	names, one := namesOf(t, live+"/one")
	_, more := namesOf(t, live+"/more")
	_, in := namesOf(t, live+"/new/in")
	_, other := namesOf(t, live+"/other")
	_, moved := namesOf(t, live+"/moved")
	if names != 3 || one != more || one != in || other != moved {
		t.Errorf("%d names; files %d, %d, %d and %d, %d", names, one, more, in, other, moved)
	}
	a, err := ReadApplied(record)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, two := namesOf(t, live+"/two"); two != other {
		t.Error("taken back, it is another file")
	}
	for _, name := range []string{"more", "new", "moved"} {
		if _, err := os.Lstat(filepath.Join(live, name)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// TestNamesOfChangedFilesPart: what somebody writes after the changes were read, and before
// they are applied, does not come under a new name that was judged without it.
func TestNamesOfChangedFilesPart(t *testing.T) {
	live, _, read := linkedTree(t)
	s := read()
	for _, name := range []string{"one", "other"} {
		if err := os.WriteFile(filepath.Join(live, name), []byte("written since"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var conflict *ConflictError
	if err := s.Apply(t.Context(), Options{Record: filepath.Join(t.TempDir(), "record")}); !errors.As(err, &conflict) || !slices.Equal(conflict.Paths, []string{live + "/two"}) {
		t.Fatalf("a moved file that was written since: %v", err)
	}
	ofOne := func(c Change) bool { return !slices.Contains([]string{"two", "moved"}, c.rel) }
	if err := s.Apply(t.Context(), Options{Record: filepath.Join(t.TempDir(), "record"), Accept: ofOne}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"more": "one", "new/in": "one", "one": "written since", "two": "written since"} {
		if text, err := os.ReadFile(filepath.Join(live, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := os.Lstat(live + "/moved"); !os.IsNotExist(err) {
		t.Errorf("what was not accepted is there: %v", err)
	}
}

// TestNamesOfWhatWasNotApplied: changes that cannot be applied, for whatever reason and
// however far that went, leave live files with the names that they had, and can be applied
// when nothing stands against it any more.
func TestNamesOfWhatWasNotApplied(t *testing.T) {
	inTheWay := func(t *testing.T, live string) { // of the third step
		if err := os.WriteFile(live+"/new", []byte("of a person"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, options := range map[string]func(t *testing.T, live string, opt *Options){
		"before": func(t *testing.T, live string, _ *Options) { inTheWay(t, live) },
		"prepared": func(t *testing.T, live string, opt *Options) {
			opt.at = func(point string) {
				if point == "prepared" {
					inTheWay(t, live)
				}
			}
		},
		"unrecorded": func(t *testing.T, _ string, opt *Options) {
			opt.Record = filepath.Join(t.TempDir(), "missing", "record")
		},
		"recorded": func(t *testing.T, live string, opt *Options) {
			steps := 0
			opt.at = func(point string) {
				if point == "step" {
					if steps++; steps == 2 {
						inTheWay(t, live)
					}
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			live, upper, read := linkedTree(t)
			time.Sleep(20 * time.Millisecond) // the clock of a file system has steps
			s := read()
			s.trees[0].Later, s.since = map[string]time.Time{}, time.Now()
			_, moved := namesOf(t, upper+"/moved")
			opt := Options{Record: filepath.Join(t.TempDir(), "record")}
			options(t, live, &opt)
			if err := s.Apply(t.Context(), opt); err == nil {
				t.Fatal("they were applied")
			}
			for path, want := range map[string]uint64{live + "/one": 1, live + "/two": 2, upper + "/one": 3, upper + "/moved": 1} {
				if names, _ := namesOf(t, path); names != want {
					t.Errorf("%s has %d names, want %d", path, names, want)
				}
			}
			if _, now := namesOf(t, upper+"/moved"); now != moved {
				t.Error("the layer has another file than before")
			}
			if err := os.RemoveAll(live + "/new"); err != nil {
				t.Fatal(err)
			}
			again, err := Read(t.Context(), s.trees, s.since)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Apply(t.Context(), Options{Record: filepath.Join(t.TempDir(), "record")}); err != nil {
				t.Fatalf("applied again: %v", err)
			}
			names, one := namesOf(t, live+"/one")
			if _, more := namesOf(t, live+"/more"); names != 3 || one != more {
				t.Errorf("applied again, it has %d names", names)
			}
		})
	}
}
