package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FoldFile gives the name under which some file system would find the same
// entry: one that ignores case, invisible characters, dots and spaces at the end,
// or takes what stands behind a colon for a part of the file. Two different names
// may fold to the same: it is for what takes away, never for what gives.
func FoldFile(name string) string {
	if isFolded(name) {
		return name
	}
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r < utf8.RuneSelf:
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
			if s < utf8.RuneSelf {
				return unicode.ToLower(s) // the Kelvin sign is a k, a long s is an s
			}
		}
		return unicode.ToLower(r)
	}, name)
	return strings.TrimRight(name, ". ")
}

// isFolded finds the names that folding leaves as they are: nearly all.
func isFolded(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' || c == ':' {
			return false
		}
	}
	return name == "" || name[len(name)-1] != '.' && name[len(name)-1] != ' '
}
