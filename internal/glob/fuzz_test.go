package glob

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// slow matches the plain way: every star tries everything. It knows *, ? and **.
func slow(way []string, elems []string) bool {
	if len(way) == 0 {
		return len(elems) == 0
	}
	if len(way[0]) > 1 && strings.Trim(way[0], "*") == "" {
		for i := 0; i <= len(elems); i++ {
			if slow(way[1:], elems[i:]) {
				return true
			}
		}
		return false
	}
	if len(elems) == 0 {
		return false
	}
	ok, err := path.Match(way[0], elems[0])
	return err == nil && ok && slow(way[1:], elems[1:])
}

// FuzzGlob: no pattern breaks the matcher, what it finds lies where it says
// that something may, and it agrees with the plain way.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{{"**/*.go", "a/b.go"}, {"{a,b}/**", "b/c/d"}, {"[a-z]?*", "abc"}, {`\*/x`, "*/x"}, {"a/**/b/**/c", "a/b/x/c"}, {"***", "x"}, {"{a,{b,c}}d", "cd"}, {"[[:digit:]]", "1"}, {"a//b/.", "a/b"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := Compile(pattern)
		if err != nil || len(pattern) > 60 || len(name) > 60 {
			return
		}
		var elems []string
		for e := range strings.SplitSeq(name, "/") {
			if e != "" && e != "." && e != ".." {
				elems = append(elems, e)
			}
		}
		if len(elems) == 0 || !utf8.ValidString(name) {
			return
		}
		name = strings.Join(elems, "/")
		got := p.Match(name)
		p.MatchName(name, elems[len(elems)-1])
		for i := 1; got && i < len(elems); i++ {
			if dir := strings.Join(elems[:i], "/"); !p.Below(dir) {
				t.Errorf("%q matches %q, but nothing below %q", pattern, name, dir)
			}
		}
		if strings.ContainsAny(pattern, `{[\`) || strings.Count(pattern, "*") > 8 {
			return // the plain way does not know it, or takes too long
		}
		var way []string
		for e := range strings.SplitSeq(pattern, "/") {
			if e != "" && e != "." {
				way = append(way, e)
			}
		}
		if want := slow(way, elems); got != want && len(way) > 0 {
			t.Errorf("%q and %q: %v, the plain way says %v", pattern, name, got, want)
		}
	})
}
