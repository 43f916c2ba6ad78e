package linked_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/linked"
)

// TestOuter: links in settings at home that lead into a project are found, also
// what they lead through, and where they lead now; those to the project as a whole
// are not.
func TestOuter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	link := func(name, to string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.Symlink(to, at(name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"work/p/one", "work/p/two", "work/p/real", "home/.set/more", "home/.large", "elsewhere"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 600 { // what comes first in the alphabet must not hide the rest
		if err := os.Mkdir(at(fmt.Sprint("home/.large/", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link("home/.set/file", at("work/p/one/file"))
	link("home/.set/more/dir", "../../../work/p/two")
	link("home/.set/project", at("work/p"))
	link("home/.set/above", at("work"))
	link("home/.set/root", "/")
	link("home/.set/other", at("elsewhere/x"))
	link("home/.set/inner", "more")
	link("home/.set/loop", "loop")
	link("home/.set/except/x", at("work/p/one/x"))
	link("home/.set/.git/objects/x", at("work/p/one/x"))
	link("home/.led", at("work/p/real"))
	link("work/p/real/deep", "../one/deep")
	link("work/p/cur", "one")
	link("home/.set/by", at("work/p/cur/by"))
	o := &linked.Outer{Dirs: []string{at("home/.large"), at("home/.set"), at("home/.set/more"), at("home/.led"), at("home/.gone"), "/proc"}, Except: []string{at("home/.set/except")}}
	finds := func(want ...string) {
		t.Helper()
		var got []string
		for _, led := range o.Into([]string{at("work")}, []string{at("work"), at("work/p")}) {
			got = append(got, strings.TrimPrefix(led.Link, root)+" "+strings.TrimPrefix(led.Target, root))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	finds("/home/.set/by /work/p/one/by", "/home/.set/file /work/p/one/file", "/home/.set/more/dir /work/p/two", "/work/p/real/deep /work/p/one/deep")
	// What lies on the way counts at once.
	if err := errors.Join(os.Remove(at("work/p/cur")), os.Mkdir(at("work/p/cur"), 0o755)); err != nil {
		t.Fatal(err)
	}
	finds("/home/.set/by /work/p/cur/by", "/home/.set/file /work/p/one/file", "/home/.set/more/dir /work/p/two", "/work/p/real/deep /work/p/one/deep")
	var none *linked.Outer
	if got := none.Into([]string{root}, nil); got != nil {
		t.Errorf("%v", got)
	}
}

func BenchmarkOuter(b *testing.B) {
	root := b.TempDir()
	for i := range 500 {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprint(i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		o := &linked.Outer{Dirs: []string{root}}
		o.Into([]string{b.Name()}, nil)
	}
}
