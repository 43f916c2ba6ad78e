package sensitive

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Pattern is the last elements of a path, each with the wildcards of
// [path.Match], in lower case.
type Pattern []string

// ParsePattern reads a name such as .env*, or the end of a path such as
// .config/fish.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == '/' || r == filepath.Separator }))
	p = slices.DeleteFunc(p, func(e string) bool { return e == "." })
	_, err := path.Match(text, "")
	if err != nil || len(p) == 0 || slices.Contains(p, "..") || filepath.IsAbs(text) || strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("%q is no pattern of protected files", text)
	}
	return p, nil
}

// match holds a pattern against the end of a path.
func (p Pattern) match(elems []string) bool {
	if len(p) > len(elems) {
		return false
	}
	for i, want := range p {
		name := text.FoldFile(elems[len(elems)-len(p)+i])
		if want == name {
			continue
		}
		if ok, err := path.Match(want, name); err != nil || !ok {
			return false
		}
	}
	return true
}

// Set is patterns in the form in which most names are let through at a glance:
// trees with a million names are held against it.
type Set struct {
	exact map[string][]Pattern // by the last element, which has no wildcard
	tail  map[string][]Pattern // by what follows the last dot, if all before is one *
	other []Pattern
	first [256]bool // how the last element of the others begins
}

// NewSet makes a set of patterns.
func NewSet(patterns ...Pattern) *Set {
	s := &Set{exact: map[string][]Pattern{}, tail: map[string][]Pattern{}}
	for _, p := range patterns {
		last := p[len(p)-1]
		ext, isTail := strings.CutPrefix(last, "*.")
		switch {
		case !strings.ContainsAny(last, `*?[\`):
			s.exact[last] = append(s.exact[last], p)
		case isTail && !strings.ContainsAny(ext, `*?[\.`):
			s.tail[ext] = append(s.tail[ext], p)
		default:
			s.other = append(s.other, p)
			for b := range s.first {
				s.first[b] = s.first[b] || byte(b) == last[0] || strings.IndexByte(`*?[\`, last[0]) >= 0
			}
		}
	}
	return s
}

// Match reports whether a pattern is the end of a path, given as its elements.
func (s *Set) Match(elems []string) bool { return s.find(elems) != nil }

func (s *Set) find(elems []string) Pattern {
	if s == nil || len(elems) == 0 {
		return nil
	}
	last := text.FoldFile(elems[len(elems)-1])
	if last == "" {
		return nil
	}
	if p := firstMatch(s.exact[last], elems); p != nil {
		return p
	}
	if _, ext, ok := cutLast(last); ok && len(s.tail) > 0 {
		if p := firstMatch(s.tail[ext], elems); p != nil {
			return p
		}
	}
	if s.first[last[0]] {
		return firstMatch(s.other, elems)
	}
	return nil
}

func firstMatch(list []Pattern, elems []string) Pattern {
	for _, p := range list {
		if p.match(elems) {
			return p
		}
	}
	return nil
}

// cutLast cuts a name at its last dot.
func cutLast(name string) (stem, ext string, found bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return name, "", false
	}
	return name[:dot], name[dot+1:], true
}

// May reports whether a pattern may end with this name. It is quick, and a no
// is certain.
func (s *Set) May(name string) bool {
	name = text.FoldFile(name)
	if s == nil || name == "" {
		return false
	}
	if s.first[name[0]] || len(s.exact[name]) > 0 {
		return true
	}
	_, ext, ok := cutLast(name)
	return ok && len(s.tail[ext]) > 0
}
