package shellguard

import (
	"path"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// FuzzSaysPlace: no pattern makes it fail or go on for ever, and the name of the
// place with any of its letters as a ? is always found.
func FuzzSaysPlace(f *testing.F) {
	for _, s := range []string{"sec*", "**/secrets/**", "secret[s]", `s\e*`, "[", "*?*?*?*", "secrets/**/*"} {
		f.Add(s, uint(2))
	}
	g := pathglob.Glob{"repo", "secrets", "**"}
	f.Fuzz(func(t *testing.T, spec string, at uint) {
		if len(spec) > 300 {
			return
		}
		saysPlace("/repo/"+spec, g)
		name := []byte("/repo/secrets/x")
		name[6+at%7] = '?'
		if !saysPlace(string(name), g) {
			t.Errorf("%s is not found", name)
		}
	})
}

// FuzzPlainPattern: what is written with nothing but * and ? means at least as
// much as before.
func FuzzPlainPattern(f *testing.F) {
	for _, s := range []string{"d*", "[d]x", "[!a]b", "[[:alpha:]]y", "[", "[]a]b", "…/x", "a[b"} {
		f.Add(s, "dx")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		plain := plainPattern(pattern)
		if strings.ContainsAny(plain, "[…") {
			t.Errorf("%q became %q", pattern, plain)
		}
		was, err := path.Match(pattern, name)
		if err != nil || strings.Contains(pattern, `\`) || !was {
			return
		}
		if now, err := path.Match(plain, name); err != nil || !now {
			t.Errorf("%q means %q, and %q does not (%v)", pattern, name, plain, err)
		}
	})
}
