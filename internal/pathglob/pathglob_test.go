package pathglob

import (
	"strings"
	"testing"
)

func elems(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

func TestSet(t *testing.T) {
	s, err := NewSet([]string{"/w/Secrets/**", "/**/*.key", "/w/a/*/c"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"/w/secrets": true, "/w/SECRETS/k": true, "/w/secrets/a/b": true, "/w/secrets2": false, "/w": false, "/x.key": true, "/w/d/X.KEY": true, "/w/d/x.key/below": true,
		"/w/a/b/c": true, "/w/a/b/c/d": true, "/w/a/c": false, "/w/a/b": false, "/": false,
	} {
		if got := s.Has(elems(path)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	narrow, err := NewSet([]string{"/w/secrets/**"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/": true, "/w": true, "/w/src": false, "/x": false} {
		if got := narrow.Reaches(elems(path)); got != want {
			t.Errorf("%s is reached: %v", path, got)
		}
	}
	for _, bad := range []string{"", "w/secrets", "/w/../x", "/w/[", "/w/a**"} {
		if _, err := NewSet([]string{bad}); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}

// FuzzSet: what a pattern means is reached from everywhere above it, so that a
// walk that goes by Reaches finds all that is covered.
func FuzzSet(f *testing.F) {
	f.Add("/w/secrets/**", "/w/secrets/k")
	f.Add("/**/*.key", "/a/b.key")
	f.Add("/a/*/c", "/a/B/c/d")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		s, err := NewSet([]string{pattern})
		if err != nil {
			return
		}
		all := elems(path)
		for i := range all {
			if s.Has(all[:i+1]) {
				for k := range i + 1 {
					if !s.Has(all[:k]) && !s.Reaches(all[:k]) {
						t.Fatalf("%q means %q, which is not reached from %q", pattern, all[:i+1], all[:k])
					}
				}
				return
			}
		}
	})
}

// TestMeets: a path of which elements are patterns may be what a rule means.
func TestMeets(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"/p/deploy/**", "/p/dep*", true}, {"/p/deploy/**", "/p/dep*/x", true}, {"/p/deploy/**", "/p/?eploy/x/y", true}, {"/p/deploy/**", "/p/*oy", true},
		{"/p/deploy/**", "/p/src*/x", false}, {"/p/deploy/**", "/p/*/x", false}, {"/p/deploy/**", "/p/x/dep*", false}, {"/p/deploy/**", "/d*", false},
		{"/**/deploy/**", "/p/q/d*/x", true}, {"/**/*.env", "/p/*.env", true}, {"/**/*.env", "/p/a*", false}, {"/p/deploy/prod.yml", "/p/deploy/p*", true}, {"/p/deploy/prod.yml", "/p/dep*", false},
	} {
		g, err := Parse(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		elems := strings.Split(strings.Trim(c.path, "/"), "/")
		if got := g.Meets(elems); got != c.want {
			t.Errorf("%s and %s: %v", c.glob, c.path, got)
		}
	}
}
