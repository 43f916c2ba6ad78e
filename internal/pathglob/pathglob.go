// Package pathglob has the patterns of rules about paths: one way to read them
// and one way to hold paths against them, for the rules, for the handle on
// files and for what sandboxes cover. It stands below the core and imports
// nothing of ours. Its one invariant: a folded pattern means every name under
// which some file system would find the same entry.
package pathglob

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Glob is a path pattern cut into elements. * and ? stay within one element,
// ** is any number of elements, {a,b} was expanded before.
type Glob []string

// MaxBraces bounds what {a,b}{c,d} can grow to.
const MaxBraces = 64

// Braces writes out the alternatives of a pattern.
func Braces(text string) ([]string, error) {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		if strings.Contains(text, "}") {
			return nil, errors.New("it has a } without a {")
		}
		return []string{text}, nil
	}
	end := strings.IndexByte(text[open:], '}')
	if end < 0 || strings.Contains(text[open+1:open+end], "{") {
		return nil, errors.New("its braces do not match, or stand in each other")
	}
	rest, err := Braces(text[open+end+1:])
	if err != nil {
		return nil, err
	}
	var out []string
	for word := range strings.SplitSeq(text[open+1:open+end], ",") {
		for _, tail := range rest {
			if out = append(out, text[:open]+word+tail); len(out) > MaxBraces {
				return nil, fmt.Errorf("it has more than %d alternatives", MaxBraces)
			}
		}
	}
	return out, nil
}

// Parse cuts a clean pattern into elements and checks each.
func Parse(text string) (Glob, error) {
	var g Glob
	for e := range strings.SplitSeq(text, "/") {
		switch {
		case e == "" || e == ".":
			continue
		case e == "..":
			return nil, errors.New("a pattern with .. means what nobody can see: write the path out")
		case e == "**":
			if len(g) > 0 && g[len(g)-1] == "**" {
				continue
			}
		case strings.Contains(e, "**"):
			return nil, errors.New("** stands for whole directories: write it between slashes")
		default:
			if _, err := path.Match(e, "x"); err != nil {
				return nil, fmt.Errorf("%q is not a pattern: %w", e, err)
			}
		}
		g = append(g, e)
	}
	return g, nil
}

// Match holds the pattern against the elements of a path. If below is set, what
// lies in a matched directory matches as well. It goes through both once: of
// several ** only the last one seen can still take more.
func (g Glob) Match(elems []string, below bool) bool { return g.match(elems, below, matchElem) }

// Meets reports whether a path of which some elements are patterns of a shell,
// with * and ?, may be what this pattern means, or lie below it. An element of
// nothing but * is too little to mean a name.
func (g Glob) Meets(elems []string) bool { return g.match(elems, true, meetElems) }

func (g Glob) match(elems []string, below bool, same func(pattern, elem string) bool) bool {
	p, e, star, mark := 0, 0, -1, 0
	for e < len(elems) {
		switch {
		case p == len(g) && below:
			return true
		case p < len(g) && g[p] == "**":
			star, mark = p, e
			p++
		case p < len(g) && same(g[p], elems[e]):
			p++
			e++
		case star >= 0:
			mark++
			p, e = star+1, mark
		default:
			return false
		}
	}
	for p < len(g) && g[p] == "**" {
		p++
	}
	return p == len(g)
}

func matchElem(pattern, elem string) bool {
	if pattern == elem {
		return true
	}
	ok, err := path.Match(pattern, elem)
	return err == nil && ok
}

// meetElems is matchElem for an element that may be a pattern itself. Two
// patterns meet only if they are the same: others are too easily alike.
func meetElems(pattern, elem string) bool {
	switch {
	case pattern == elem || !strings.ContainsAny(elem, "*?"):
		return matchElem(pattern, elem)
	case strings.Trim(elem, "*") == "" || strings.ContainsAny(pattern, "*?[\\"):
		return false
	}
	return matchElem(elem, pattern)
}

// Fixed counts the leading elements that are no pattern.
func (g Glob) Fixed() int {
	for i, e := range g {
		if strings.ContainsAny(e, "*?[\\") {
			return i
		}
	}
	return len(g)
}

// Fold is [text.FoldFile] for one element of a path, in which accents do not
// count either, however they are written. It is never empty unless elem is.
func Fold(elem string) string {
	if strings.ContainsFunc(elem, func(r rune) bool { return r >= utf8.RuneSelf }) {
		elem = withoutAccents(elem)
	}
	if f := text.FoldFile(elem); f != "" {
		return f
	}
	elem, _, _ = strings.Cut(elem, ":")
	return elem
}

// withoutAccents takes letters with accents out, together with these.
func withoutAccents(s string) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:]) // a broken byte is one of its own
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		if !unicode.Is(unicode.Mn, next) && !accented(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// accented: characters that do not show, and letters that could be written as
// a letter and an accent.
func accented(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case unicode.In(r, unicode.Cf, unicode.Mn):
		return true
	case unicode.Is(unicode.Latin, r):
		return unicode.SimpleFold(r) == r || !foldsToASCII(r)
	case unicode.Is(unicode.Greek, r):
		return r >= 0x1f00 || r >= 0x386 && r <= 0x390 || r >= 0x3aa && r <= 0x3b0 || r >= 0x3ca && r <= 0x3ce
	}
	switch r = unicode.ToLower(r); r {
	case 0x439, 0x450, 0x451, 0x453, 0x457, 0x45c, 0x45d, 0x45e, 0x477: // Cyrillic
		return true
	}
	return r >= 0x4c1 && r <= 0x4f9
}

func foldsToASCII(r rune) bool {
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f < utf8.RuneSelf {
			return true
		}
	}
	return false
}

// Folded is the pattern for folded paths. What folding breaks matches anything.
func (g Glob) Folded() Glob {
	out := make(Glob, len(g))
	for i, e := range g {
		if out[i] = e; e == "**" {
			continue
		}
		out[i] = Fold(e)
		if _, err := path.Match(out[i], "x"); err != nil || strings.ContainsAny(e, "[\\") && out[i] != strings.ToLower(e) {
			out[i] = "*"
		}
	}
	return out
}

// Reaches reports whether something that the pattern means may lie below a
// directory.
func (g Glob) Reaches(dir []string) bool {
	for i, p := range g {
		if p == "**" || i == len(dir) {
			return true
		}
		if ok, err := path.Match(p, dir[i]); err != nil || !ok {
			return false
		}
	}
	return len(dir) <= len(g)
}

// leads reports whether a path is what the pattern names on its way to what it
// means. After a ** it names nothing any more.
func (g Glob) leads(elems []string) bool {
	if len(elems) >= len(g) {
		return false
	}
	for i, e := range elems {
		if g[i] == "**" || !matchElem(g[i], e) {
			return false
		}
	}
	return true
}

// String writes the pattern as a path from the top of the file system.
func (g Glob) String() string { return "/" + strings.Join(g, "/") }

// Set is patterns from the top of the file system, folded. The zero Set has
// none.
type Set []Glob

// NewSet reads patterns as [Glob.String] writes them.
func NewSet(patterns []string) (Set, error) {
	var s Set
	for _, text := range patterns {
		if !strings.HasPrefix(text, "/") {
			return nil, fmt.Errorf("the pattern %q does not begin at the top of the file system", text)
		}
		g, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("the pattern %q: %w", text, err)
		}
		s = append(s, g.Folded())
	}
	return s, nil
}

// Has reports whether a path, given as its elements, is what a pattern means or
// lies below it.
func (s Set) Has(elems []string) bool {
	if len(s) == 0 {
		return false
	}
	plain := FoldAll(elems)
	return slices.ContainsFunc(s, func(g Glob) bool { return g.Match(plain, true) })
}

// Reaches reports whether something that a pattern means may lie below a
// directory.
func (s Set) Reaches(dir []string) bool {
	if len(s) == 0 {
		return false
	}
	plain := FoldAll(dir)
	return slices.ContainsFunc(s, func(g Glob) bool { return g.Reaches(plain) })
}

// Leads reports whether a path is a directory, or a link to one, that a pattern
// names on the way to what it means. Of what a ** stands for it names nothing.
func (s Set) Leads(elems []string) bool {
	if len(s) == 0 {
		return false
	}
	plain := FoldAll(elems)
	return slices.ContainsFunc(s, func(g Glob) bool { return g.leads(plain) })
}

// String writes all patterns, for who remembers what they mean.
func (s Set) String() string {
	var b strings.Builder
	for _, g := range s {
		b.WriteString(g.String())
		b.WriteByte(0)
	}
	return b.String()
}

// FoldAll is [Fold] for all elements of a path.
func FoldAll(elems []string) []string {
	out := make([]string, len(elems))
	for i, e := range elems {
		out[i] = Fold(e)
	}
	return out
}
