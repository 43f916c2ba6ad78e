package seatbelt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// What is denied is written as a regular expression and means a name in every letter
// case: the disk finds it under each, and the kernel may tell any of them.

// below is a filter for a path and all that lies in it.
func below(name string) (string, error) {
	var b strings.Builder
	for _, elem := range pathglob.Elements(name) {
		b.WriteString("/")
		if err := letters(&b, elem, false); err != nil {
			return "", err
		}
	}
	return filter(b.String()), nil
}

// meaning is a filter for what a pattern means, and all that lies in it.
func meaning(g pathglob.Glob) (string, error) {
	var b strings.Builder
	for _, elem := range realGlob(g) {
		if elem == "**" {
			b.WriteString("(/[^/]+)*")
			continue
		}
		b.WriteString("/")
		if err := letters(&b, elem, true); err != nil {
			return "", err
		}
	}
	return filter(b.String()), nil
}

// realGlob is a pattern with the three links at the top followed.
func realGlob(g pathglob.Glob) pathglob.Glob {
	if len(g) == 0 {
		return g
	}
	if at := Real("/" + g[0]); at != "/"+g[0] {
		return append(pathglob.Glob(pathglob.Elements(at)), g[1:]...)
	}
	return g
}

func filter(re string) string { return `(regex #"^` + re + `(/|$)")` }

// letters writes one name. What is beyond ASCII, and the letter before it, stands for
// anything: a disk may tell it in pieces.
func letters(b *strings.Builder, elem string, glob bool) error {
	if _, err := quoted(elem); err != nil {
		return err
	}
	if glob && strings.ContainsAny(elem, `[\`) {
		b.WriteString("[^/]*") // wider than it says, never narrower
		return nil
	}
	for i, r := range elem {
		next, _ := utf8.DecodeRuneInString(elem[i+utf8.RuneLen(r):])
		switch {
		case r >= utf8.RuneSelf, next >= utf8.RuneSelf && next != utf8.RuneError:
			b.WriteString("[^/]*")
		case glob && r == '*':
			b.WriteString("[^/]*")
		case glob && r == '?':
			b.WriteString("[^/]")
		case unicode.IsLetter(r):
			fmt.Fprintf(b, "[%c%c]", unicode.ToLower(r), unicode.ToUpper(r))
		case unicode.IsDigit(r) || strings.ContainsRune("_-~ ,=@%:;!#&'<>", r):
			b.WriteRune(r)
		case r == '"' || r == '\\' || r == '[' || r == ']' || r == '^':
			b.WriteString("[^/]") // one of any kind: how these are quoted differs from reader to reader
		default:
			fmt.Fprintf(b, "[%c]", r)
		}
	}
	return nil
}
