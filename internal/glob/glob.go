// Package glob matches paths against patterns: those that people write for
// files, and those of .gitignore. The toolbox of files goes by it, and the handle on
// files, which knows what other programs would read.
//
// A path is a text with slashes, relative, without "." and "..". Its one
// invariant: matching takes time in proportion to pattern times path, however
// many stars there are.
package glob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled pattern, or several alternatives of one.
type Pattern struct {
	ways [][]segment
	base bool // it has no slash: the last element of a path is meant
}

const (
	maxPattern = 4096
	maxWays    = 64 // alternatives out of {a,b}
)

// Compile reads a pattern: * and ? stand for characters of one element, [a-z]
// for one of them, ** as a whole element for any number of elements, {a,b} for
// either, \ takes the next character as it is. A pattern with ".." or a slash
// in front is refused: it could only mean what is outside.
func Compile(pattern string) (*Pattern, error) {
	if pattern == "" || len(pattern) > maxPattern || !utf8.ValidString(pattern) {
		return nil, fmt.Errorf("a pattern has 1 to %d bytes of text", maxPattern)
	}
	texts, err := braces(pattern)
	if err != nil {
		return nil, err
	}
	p := &Pattern{base: true}
	for _, text := range texts {
		if strings.HasPrefix(text, "/") {
			return nil, errors.New("a pattern cannot begin with a slash: it is relative to the path given beside it")
		}
		elems := slices.DeleteFunc(strings.Split(text, "/"), func(e string) bool { return e == "." || e == "" })
		p.base = p.base && len(elems) < 2
		if slices.Contains(elems, "..") {
			return nil, errors.New("a pattern cannot hold .. : it stays below the path given beside it")
		}
		var way []segment
		for _, e := range elems {
			s, ok := compileSegment(e, false)
			if !ok {
				return nil, fmt.Errorf("the pattern %q is malformed", pattern)
			}
			if !s.deep || len(way) == 0 || !way[len(way)-1].deep {
				way = append(way, s)
			}
		}
		p.ways = append(p.ways, way)
	}
	return p, nil
}

// Match reports whether the whole path matches.
func (p *Pattern) Match(path string) bool {
	return slices.ContainsFunc(p.ways, func(way []segment) bool { return matchPath(way, path) })
}

// MatchName is for patterns about names at any depth: one without a slash is
// held against the last element, any other against the whole path.
func (p *Pattern) MatchName(path, name string) bool {
	if !p.base {
		return p.Match(path)
	}
	for _, way := range p.ways {
		if len(way) == 1 && (way[0].deep || way[0].match(name)) {
			return true
		}
	}
	return false
}

// Below reports whether a path below this directory could match, so that a
// walk need not enter it otherwise.
func (p *Pattern) Below(dir string) bool {
	return slices.ContainsFunc(p.ways, func(way []segment) bool { return prefixPath(way, dir) })
}

// braces expands {a,b} into alternatives.
func braces(pattern string) ([]string, error) {
	done, todo := []string{}, []string{pattern}
	for len(todo) > 0 {
		text := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, parts, end := firstBraces(text)
		if open < 0 {
			done = append(done, text)
		}
		for _, part := range slices.Backward(parts) {
			todo = append(todo, text[:open]+part+text[end:])
		}
		if len(done)+len(todo) > maxWays {
			return nil, fmt.Errorf("the pattern has more than %d alternatives", maxWays)
		}
	}
	return done, nil
}

// firstBraces finds the first group with a comma and its parts.
func firstBraces(text string) (open int, parts []string, end int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			if parts, end := splitBraces(text[i:]); len(parts) > 1 {
				return i, parts, i + end
			}
		}
	}
	return -1, nil, 0
}

func splitBraces(text string) (parts []string, end int) {
	depth, from := 0, 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return append(parts, text[from:i]), i + 1
			}
		}
	}
	return nil, 0
}

// matchPath matches all elements; a ** takes as few as it must at first, and
// only the last one has to be tried again.
func matchPath(way []segment, path string) bool {
	backWay, backPath := -1, ""
	for i := 0; ; {
		switch {
		case i < len(way) && way[i].deep:
			if i == len(way)-1 {
				return true
			}
			i++
			backWay, backPath = i, path
			continue
		case i == len(way) && path == "":
			return true
		case i < len(way) && path != "":
			elem, rest, _ := strings.Cut(path, "/")
			if way[i].match(elem) {
				i, path = i+1, rest
				continue
			}
		}
		if backWay < 0 || backPath == "" {
			return false
		}
		_, backPath, _ = strings.Cut(backPath, "/")
		i, path = backWay, backPath
	}
}

// prefixPath reports whether the elements of a directory fit the beginning.
func prefixPath(way []segment, dir string) bool {
	for dir != "" {
		if len(way) == 0 {
			return false
		}
		if way[0].deep {
			return true
		}
		elem, rest, _ := strings.Cut(dir, "/")
		if !way[0].match(elem) {
			return false
		}
		way, dir = way[1:], rest
	}
	return len(way) > 0
}
