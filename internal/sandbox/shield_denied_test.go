package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// listed gives covers as "kind path" lines below a directory.
func listed(t testing.TB, root string, list []sandbox.Cover) []string {
	t.Helper()
	out := []string{}
	for _, c := range list {
		rel, err := filepath.Rel(root, c.Path)
		if err != nil {
			t.Fatal(err)
		}
		line := []string{"hide", "fix", "pin"}[c.Kind] + " " + filepath.ToSlash(rel)
		if c.Dir {
			line += "/"
		}
		if c.Empty {
			line += " empty"
		}
		out = append(out, line)
	}
	return out
}

// TestShieldDenied: what rules deny is hidden, what they deny to be written is
// fixed; also by links, below what is granted inside, and beside what is
// protected.
func TestShieldDenied(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, root, "secrets/k", "secrets/deep/k", "conf/a.yml", "conf/b.txt", "a/b/x.key", "a/b/x.txt", "real/f", "realsec/a.txt", "realsec/b.md", "x/l/secret/k", "x/other", ".env", "in/secrets/k", ".git/HEAD", ".git/objects/p/x.key", "CASE/K",
		"vault/d/x", "hidden/a", "hidden/store/k", "node_modules/x", "pack/x")
	for link, to := range map[string]string{"lsrc": "real", "lsec": "realsec", "conf/c.yml": "../x/other", "y": "x/l", "gone": "nowhere",
		"vault/k": "../real/f", "vault/d/s": "../../x/l", "vault/d/up": "../..", "vault/in": "d", "node_modules/p": "../pack"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name          string
		denied, fixed []string
		dirs          []string // of the grant, besides the root
		want          string
	}{
		{"a directory", []string{"secrets/**"}, nil, nil, "hide secrets/ empty"},
		{"a directory by its name", []string{"secrets"}, nil, nil, "hide secrets/ empty"},
		{"in other letters", []string{"case/k"}, nil, nil, "pin CASE/|hide CASE/K"},
		{"anywhere", []string{"**/*.key"}, nil, nil, "pin a/|pin a/b/|hide a/b/x.key"},
		{"in a Git directory", []string{".git/objects/**/*.key"}, nil, nil, "hide .git/objects/p/x.key"},
		{"fixed", nil, []string{"conf/*.yml"}, nil, "pin conf/|fix conf/a.yml|pin conf/c.yml|pin x/|fix x/other"},
		{"both", []string{"secrets/k"}, []string{"secrets/**"}, nil, "fix secrets/|hide secrets/k"},
		{"a link on the way", []string{"lsec/*.txt"}, []string{"lsrc/**"}, nil, "pin lsec|pin lsrc|fix real/|pin realsec/|hide realsec/a.txt"},
		{"a link that a pattern means", []string{"*/secret/**"}, nil, nil, "pin gone|pin lsec|pin lsrc|pin x/|pin x/l/|hide x/l/secret/ empty|pin y"},
		{"protected as well", []string{".env", "secrets/**"}, nil, nil, "hide secrets/ empty"},
		{"granted inside", []string{"in/secrets/**"}, nil, []string{"in"}, "hide in/secrets/ empty"},
		{"links in a directory", []string{"vault/**"}, nil, nil, "pin real/|hide real/f|hide vault/ empty|pin x/|hide x/l/ empty"},
		{"links in a directory, by its name", []string{"**/vault"}, nil, nil, "pin real/|hide real/f|hide vault/ empty|pin x/|hide x/l/ empty"},
		{"a workspace", []string{"node_modules/**"}, nil, nil, "hide node_modules/ empty"},
		{"a workspace, fixed", nil, []string{"node_modules/**"}, nil, "fix node_modules/"},
		{"missing", []string{"nothing/**", "a/b/nothing"}, nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sandbox.NewShield("", []string{".env"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
			for _, d := range c.dirs {
				grant.Dirs = append(grant.Dirs, files.Dir{Path: filepath.Join(root, d), Write: true})
			}
			for _, p := range c.denied {
				grant.Denied = append(grant.Denied, root+"/"+p)
			}
			for _, p := range c.fixed {
				grant.Fixed = append(grant.Fixed, root+"/"+p)
			}
			want := []string{"hide .env"}
			if c.want != "" {
				want = append(want, strings.Split(c.want, "|")...)
			}
			for range 2 { // the second time from memory
				found, err := s.LookAt(grant)
				if err != nil {
					t.Fatal(err)
				}
				got := slices.DeleteFunc(listed(t, root, found.Covers), func(l string) bool { return l == "fix .git/" })
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("covers (-want +got):\n%s", diff)
				}
			}
		})
	}
	s := shield(t, "", nil, nil)
	for _, denied := range []string{"/**", "", "/in/**"} {
		grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root}, {Path: filepath.Join(root, "in")}}, Denied: []string{root + denied}}
		if _, err := s.LookAt(grant); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("%q: a denied directory was granted: %v", denied, err)
		}
	}
	if _, err := (*sandbox.Shield)(nil).LookAt(toolcrib.Grant{Denied: []string{"/x"}}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("without a shield: %v", err)
	}
	found, err := s.LookAt(toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: []string{root + "/secrets/**"}})
	if err != nil || slices.ContainsFunc(found.Covers, func(c sandbox.Cover) bool { return c.Empty }) {
		t.Errorf("where git is writable, nothing must look removed: %v, error %v", found, err)
	}
}

// TestShieldDeniedSeesChanges: what is remembered about rules is remembered by
// the time of a directory and for these rules only.
func TestShieldDeniedSeesChanges(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is remembered elsewhere")
	}
	root := t.TempDir()
	plantTree(t, root, "a/x", "b/x")
	s := shield(t, "", nil, nil)
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: []string{root + "/**/*.key"}}
	look := func() []string {
		found, err := s.LookAt(grant)
		if err != nil {
			t.Fatal(err)
		}
		return listed(t, root, found.Covers)
	}
	time.Sleep(1200 * time.Millisecond) // until what was seen is remembered
	if got := look(); len(got) > 0 {
		t.Fatalf("covers %q", got)
	}
	plantTree(t, root, "b/n.key")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, "b"), old, old); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pin b/", "hide b/n.key"}, look()); diff != "" {
		t.Errorf("after a file came (-want +got):\n%s", diff)
	}
	grant.Denied[0] = root + "/**/x"
	if diff := cmp.Diff([]string{"pin a/", "hide a/x", "pin b/", "hide b/x"}, look()); diff != "" {
		t.Errorf("by other rules (-want +got):\n%s", diff)
	}
}

// TestShieldDeniedIsBounded: directories that only rules look into are hidden
// if there are too many; nothing is refused for that.
func TestShieldDeniedIsBounded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is covered there")
	}
	root := t.TempDir()
	plantTree(t, root, ".git/HEAD", "a/x.key")
	for i := range sandbox.MaxAside + 10 {
		if err := os.MkdirAll(filepath.Join(root, ".git", "objects", fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := shield(t, "", nil, nil)
	found, err := s.LookAt(toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: []string{root + "/*/*.key", root + "/.git/objects/**/*.key"}})
	if err != nil {
		t.Fatal(err)
	}
	got := listed(t, root, found.Covers)
	for _, want := range []string{"hide .git/objects/", "hide a/x.key"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if len(found.Notes) == 0 {
		t.Error("nobody is told")
	}
}

func BenchmarkShieldDenied(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		plantTree(b, root, fmt.Sprintf("d%d/e%d/file", i/100, i%100))
	}
	s := shield(b, "", files.DefaultProtected(), nil)
	time.Sleep(1200 * time.Millisecond)
	for name, denied := range map[string][]string{"none": nil, "anywhere": {root + "/**/*.key"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.LookAt(toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: denied}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
