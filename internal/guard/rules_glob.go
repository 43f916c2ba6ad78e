package guard

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// glob is a path pattern cut into elements. * and ? stay within one element,
// ** is any number of elements, {a,b} was expanded before.
type glob []string

// maxBraces bounds what {a,b}{c,d} can grow to.
const maxBraces = 64

// expandBraces writes out the alternatives of a pattern.
func expandBraces(text string) ([]string, error) {
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
	rest, err := expandBraces(text[open+end+1:])
	if err != nil {
		return nil, err
	}
	var out []string
	for word := range strings.SplitSeq(text[open+1:open+end], ",") {
		for _, tail := range rest {
			if out = append(out, text[:open]+word+tail); len(out) > maxBraces {
				return nil, fmt.Errorf("it has more than %d alternatives", maxBraces)
			}
		}
	}
	return out, nil
}

// parseGlob cuts a clean pattern into elements and checks each.
func parseGlob(text string) (glob, error) {
	var g glob
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
				return nil, fmt.Errorf("%q is not a pattern: %w", clip(e), err)
			}
		}
		g = append(g, e)
	}
	return g, nil
}

// match holds the pattern against the elements of a path. If below is set, what
// lies in a matched directory matches as well. It goes through both once: of
// several ** only the last one seen can still take more.
func (g glob) match(elems []string, below bool) bool {
	p, e, star, mark := 0, 0, -1, 0
	for e < len(elems) {
		switch {
		case p == len(g) && below:
			return true
		case p < len(g) && g[p] == "**":
			star, mark = p, e
			p++
		case p < len(g) && matchElem(g[p], elems[e]):
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

// fixed counts the leading elements that are no pattern.
func (g glob) fixed() int {
	for i, e := range g {
		if strings.ContainsAny(e, "*?[\\") {
			return i
		}
	}
	return len(g)
}

// foldPath is one element of a path under which some file system would find the
// same entry: case, invisible characters, accents written in two ways, dots and
// spaces at the end and what follows a colon do not count. Two different names
// may fold to the same: it is for what takes away.
func foldPath(elem string) string {
	plain := true
	for i := range len(elem) {
		if c := elem[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' || c == ':' {
			plain = false
			break
		}
	}
	if !plain {
		elem, _, _ = strings.Cut(elem, ":")
		elem = foldRunes(elem)
	}
	if t := strings.TrimRight(elem, ". "); t != "" {
		return t
	}
	return elem
}

func foldRunes(s string) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:]) // a broken byte is one of its own
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		if unicode.Is(unicode.Mn, next) || accented(r) {
			continue // a letter goes with its accent, however the two are written
		}
		low := unicode.ToLower(r)
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f < utf8.RuneSelf {
				low = unicode.ToLower(f) // the Kelvin sign is a k, a long s is an s
			}
		}
		b.WriteRune(low)
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

// folded is the pattern for folded paths. What folding breaks matches anything.
func (g glob) folded() glob {
	out := make(glob, len(g))
	for i, e := range g {
		if out[i] = e; e == "**" {
			continue
		}
		out[i] = foldPath(e)
		if _, err := path.Match(out[i], "x"); err != nil || strings.ContainsAny(e, "[\\") && out[i] != strings.ToLower(e) {
			out[i] = "*"
		}
	}
	return out
}
