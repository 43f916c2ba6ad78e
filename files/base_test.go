package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestFilesBase: relative names begin in one place, whatever was granted in
// whatever order.
func TestFilesBase(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "in/deep/er/c.txt", "c\n")
	g.put(t, "in/deep/top.txt", "top\n")
	g.put(t, "in/other/o.txt", "o\n")
	g.put(t, "lib/l.txt", "l\n")
	g.link(t, "deep/er", "in/short")
	g.link(t, filepath.Join(g.base, "lib"), "in/deep/lib")
	for _, tt := range []struct {
		base  string
		dirs  []string
		names map[string]string // name to real path, or to ! and a part of the error
	}{
		{"in", []string{"lib", "in"}, map[string]string{
			"a.txt": "in/a.txt", ".": "in", "./deep/../a.txt": "in/a.txt", "../lib/l.txt": "lib/l.txt", "../in/a.txt": "in/a.txt", "..": "!outside", "../out/secret.txt": "!outside",
			// Where a link leads is where .. goes up from.
			"short/../top.txt": "in/deep/top.txt", "short/../a.txt": "in/deep/a.txt", "short/c.txt": "in/deep/er/c.txt", "deep/lib/../out/secret.txt": "!outside", "deep/lib/../in/a.txt": "in/a.txt",
			"gone/../a.txt": "!no such file", "a.txt/../a.txt": "!not a directory",
		}},
		{"in/deep", []string{"in"}, map[string]string{
			"er/c.txt": "in/deep/er/c.txt", "../a.txt": "in/a.txt", "../../out/secret.txt": "!outside", "lib/l.txt": "!outside", "a.txt": "in/deep/a.txt",
		}},
		// The base itself is granted no more; what lies below it is.
		{"in", []string{"in/deep/er", "in/other"}, map[string]string{
			"deep/er/c.txt": "in/deep/er/c.txt", "other/o.txt": "in/other/o.txt", "a.txt": "!outside", ".": "!outside", "deep": "!outside", "deep/top.txt": "!outside", "short/c.txt": "!outside",
			"other/../a.txt": "!outside", "other/../deep/er/c.txt": "in/deep/er/c.txt", "nothing/../other/o.txt": "!outside", "other/../../out/secret.txt": "!outside",
			filepath.Join(g.in, "other", "o.txt"): "in/other/o.txt",
		}},
		{"", []string{"lib", "in"}, map[string]string{"l.txt": "lib/l.txt", "a.txt": "lib/a.txt"}},
		{"out", []string{"in"}, map[string]string{"secret.txt": "!outside", "../in/a.txt": "!outside", filepath.Join(g.in, "a.txt"): "in/a.txt"}},
		{"in", nil, map[string]string{"a.txt": "!outside", "..": "!outside"}},
	} {
		opt := files.Options{}
		if tt.base != "" {
			opt.Base = filepath.Join(g.base, tt.base)
		}
		f := g.open(t, opt, tt.dirs...)
		for name, want := range tt.names {
			got, err := f.Real(name)
			if text, bad := strings.CutPrefix(want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("base %q of %v: %s leads to %s, %v; want %s", tt.base, tt.dirs, name, got, err, text)
				}
				continue
			}
			if err != nil || got != filepath.Join(g.base, want) {
				t.Errorf("base %q of %v: %s leads to %s, %v; want %s", tt.base, tt.dirs, name, got, err, want)
			}
		}
	}
	for _, bad := range []files.Options{{Base: "rel"}, {Base: g.base + "/a/../b"}, {Within: []string{"rel"}}} {
		if _, err := files.New(nil, bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// TestFilesBaseAfterMeet: guards narrow a grant and sort it; names still mean
// the same.
func TestFilesBaseAfterMeet(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "aaa/x.txt", "other\n")
	wide := toolcrib.Grant{Dirs: []files.Dir{{Path: g.in, Write: true}, {Path: filepath.Join(g.base, "aaa")}}}
	met := wide.Meet(toolcrib.Grant{Dirs: []files.Dir{{Path: g.base}}})
	if met.Dirs[0].Path == g.in {
		t.Fatal("the order is kept by now: this test shows nothing")
	}
	f, err := files.New(met.Dirs, files.Options{Base: g.in, Protected: protection(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, _, err := f.ReadFile("a.txt", 100); string(data) != "a\n" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// TestFilesNarrowedLink: who may write in a directory cannot choose by a link
// what a grant means that is narrowed to a part of it.
func TestFilesNarrowedLink(t *testing.T) {
	g := newGrounds(t)
	g.link(t, "../out", "in/vendor")
	g.link(t, "../out", "in/dir/sub")
	g.link(t, "in", "alias")
	for _, opt := range []files.Options{{Base: g.in}, {Within: []string{g.in}}, {Base: g.base, Within: []string{g.in, g.base}}, {Base: g.in, Within: []string{g.base}}} {
		for _, dir := range []string{"in/vendor", "in/dir/sub", "in/vendor/deeper", "w in/vendor"} {
			f := g.open(t, opt, dir)
			for _, name := range []string{"vendor/secret.txt", "dir/sub/secret.txt", filepath.Join(g.in, "vendor", "secret.txt"), filepath.Join(g.out, "secret.txt")} {
				if data, _, err := f.ReadFile(name, 100); err == nil {
					t.Errorf("%s with %s granted gives %q", name, dir, data)
				}
				if err := f.WriteFile(name, []byte("x"), nil); err == nil {
					t.Errorf("%s with %s granted was written", name, dir)
				}
			}
		}
		if data, _, err := g.open(t, opt, "in/dir").ReadFile(filepath.Join(g.in, "dir", "b.txt"), 100); string(data) != "b\n" || err != nil {
			t.Errorf("a real directory: %q, %v", data, err)
		}
	}
	g.link(t, "in/dir", "direct")
	f := g.open(t, files.Options{Base: g.base, Within: []string{filepath.Join(g.base, "direct")}}, "direct")
	if data, _, err := f.ReadFile("direct/b.txt", 100); string(data) != "b\n" || err != nil {
		t.Errorf("a link that was granted as such: %q, %v", data, err)
	}
	// The wider directory itself is the choice of who set it up, link or not.
	f = g.open(t, files.Options{Base: filepath.Join(g.base, "alias")}, "alias/dir")
	if data, _, err := f.ReadFile("dir/b.txt", 100); string(data) != "b\n" || err != nil {
		t.Errorf("below a base that is a link: %q, %v", data, err)
	}
	if g.read(t, "out/secret.txt") != "SECRET\n" {
		t.Error("something outside changed")
	}
}

// TestFilesPlacesThroughLinks: a home that is reached by a link is protected
// by its real path too, also what is not there yet.
func TestFilesPlacesThroughLinks(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "in/users/ann/.ssh/id", "SECRET\n")
	g.link(t, filepath.Join("in", "users"), "home")
	trash := filepath.Join(g.base, "home", "ann", "trash")
	f := g.open(t, files.Options{Protected: protection(t, filepath.Join(g.base, "home", "ann")), Trash: trash}, "w in")
	for _, name := range []string{"users/ann/.ssh/id", "users/ann/.ssh/new", "users/ann/.zshenv", "users/ANN/.Aws/credentials", "users/ann/trash/x", "users/ann/.config/fish/config.fish"} {
		if data, _, err := f.ReadFile(name, 100); err == nil {
			t.Errorf("%s gives %q", name, data)
		}
		if err := f.WriteFile(name, []byte("x"), nil); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	if err := f.WriteFile("users/ann/notes", []byte("x"), nil); err != nil {
		t.Errorf("what is not protected: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(g.in, "users", "ANN")); err == nil {
		t.Error("a directory was made for a file that was then refused")
	}
}
