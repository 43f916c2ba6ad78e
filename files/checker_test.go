package files_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/files"
)

// TestCheckerIsLikeCheck: in whatever order names come, a row of checks says what single
// checks say.
func TestCheckerIsLikeCheck(t *testing.T) {
	g := newGrounds(t)
	for _, name := range []string{"in/a.txt", "in/dir/sub/c", "in/.env", "in/dir/.env", "in/key.pem", "in/bare/HEAD", "in/bare/objects/x", "in/.git/HEAD", "in/.git/config", "in/read/x", "in/read/w/y"} {
		g.put(t, name, "-----BEGIN PRIVATE KEY-----\nx\n")
	}
	g.link(t, "dir", "in/link")
	g.link(t, "../../out", "in/dir/away")
	g.link(t, "a.txt", "in/dir/file")
	f := g.open(t, files.Options{Base: filepath.Join(g.base, "in")}, "w in", "in/read", "w in/read/w")
	var names []string
	for _, dir := range []string{"", "dir/", "dir/sub/", "new/", "new/deep/", "link/", "link/sub/", "dir/away/", "bare/", ".git/", "a.txt/", "read/", "read/w/", "../out/", "dir/../", "./"} {
		for _, base := range []string{"a.txt", "x", ".env", "key.pem", "b\nc", "HEAD", "refs", "config", "objects", ".git", "sub", "file", "away", "read", "w", "link", "..", ".", ""} {
			names = append(names, g.base+"/in/"+dir+base)
		}
	}
	c := f.Checker()
	defer c.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		name, write, link := names[(i/2+random.IntN(25))%len(names)], random.IntN(3) > 0, random.IntN(3) > 0
		want, got := f.Check(name, write, link), c.Check(name, write, link, 0)
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("%q, write %v, link %v: %v in a row, %v alone", name, write, link, got, want)
		}
	}
}

// TestCheckerOfReplaced: what comes in the place of a file or of a link is judged by its
// own names, not by what is there.
func TestCheckerOfReplaced(t *testing.T) {
	g := newGrounds(t)
	g.link(t, g.base+"/out", "in/link")
	f := g.open(t, files.Options{}, "w in")
	for _, top := range []string{"a.txt", "link", "new"} {
		c := f.Checker()
		for name, want := range map[string]string{"x": "", "y": "", "sub/x": "", "sub/.env": "protected", ".env": "protected", "a\nb": "plain text", "sub/.git": "protected", ".git/config": "protected"} {
			err := c.Check(g.base+"/in/"+top+"/"+name, true, true, strings.Count(name, "/")+2)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s in %s: %v, want %q", name, top, err, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := f.Checker().Check(g.base+"/in/link/x", true, true, 0); err == nil {
		t.Error("what a link leads to is within reach")
	}
}
