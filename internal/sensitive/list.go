package sensitive

import (
	"fmt"
	"path/filepath"
	"strings"
)

// List is what nobody may read: places, names, and exceptions.
type List struct {
	// Places are absolute: each is a file or a directory with all below it.
	Places []string
	// Unled are directories in places: what links in them lead to is not meant.
	Unled []string

	names, keyed, except *Set
	above                *Set // what stands before the last element of names and keyed
}

// Answer says whether something is on a list.
type Answer uint8

// The answers.
const (
	Open   Answer = iota // it is not
	Keyed                // a regular file is if it holds a key; see [HoldsKey]
	Closed               // it is
)

// KeyWord begins a pattern of files that are protected only if they hold a key.
const KeyWord = "key:"

// UnledWord begins a directory, in a place, whose links are not followed.
const UnledWord = "nolinks:"

// ParseList reads patterns. One that begins with / or ~/ is a place. Any other
// is a name such as .env*, or the end of a path such as .config/fish; after
// key: it means only files that hold a key, and after ! it is an exception. A
// place after nolinks: is a directory whose links make nothing of what they lead to.
// Letter case never matters. Without a home, patterns with ~ are left out.
func ParseList(home string, patterns ...string) (*List, error) {
	l := &List{}
	var names, keyed, except []Pattern
	for _, text := range patterns {
		if dir, unled := strings.CutPrefix(text, UnledWord); unled && filepath.IsAbs(dir) {
			l.Unled = append(l.Unled, filepath.Clean(dir))
			continue
		}
		pattern, excepted := strings.CutPrefix(text, "!")
		pattern, byContent := strings.CutPrefix(pattern, KeyWord)
		if rest, ok := strings.CutPrefix(pattern, "~"); ok && (rest == "" || rest[0] == '/') {
			if home == "" {
				continue
			}
			pattern = home + rest
		}
		if filepath.IsAbs(pattern) && !excepted && !byContent {
			l.Places = append(l.Places, filepath.Clean(pattern))
			continue
		}
		if strings.HasPrefix(pattern, "/") && !excepted && !byContent {
			continue // a place of other systems
		}
		p, err := ParsePattern(pattern)
		if err != nil {
			return nil, fmt.Errorf("%q is no pattern of protected files", text)
		}
		switch {
		case excepted:
			except = append(except, p)
		case byContent:
			keyed = append(keyed, p)
		default:
			names = append(names, p)
		}
	}
	l.names, l.keyed, l.except = NewSet(names...), NewSet(keyed...), NewSet(except...)
	var above []Pattern
	for _, p := range append(names, keyed...) {
		for n := 1; n < len(p); n++ {
			above = append(above, p[:n])
		}
	}
	l.above = NewSet(above...)
	return l, nil
}

// Judge says whether an entry is on the list by its name, or by the name of the
// file that it is an editor's copy of. Its path is given as its elements.
func (l *List) Judge(elems []string) Answer {
	answer := l.judge(elems)
	if answer == Closed || len(elems) == 0 {
		return answer
	}
	last := len(elems) - 1
	copied(elems[last], func(original string) bool {
		answer = max(answer, l.judge(append(elems[:last:last], original)))
		return answer == Closed
	})
	return answer
}

func (l *List) judge(elems []string) Answer {
	switch {
	case l.names.Match(elems):
		if !l.except.Match(elems) {
			return Closed
		}
	case l.keyed.Match(elems):
		if !l.except.Match(elems) {
			return Keyed
		}
	}
	return Open
}

// May reports whether an entry of this name may be on the list, wherever it
// lies. It is quick, and a no is certain.
func (l *List) May(name string) bool { return l.may(name) || copied(name, l.may) }

func (l *List) may(name string) bool { return l.names.May(name) || l.keyed.May(name) }

// Above reports whether a directory may have something on the list in it because
// of how it is called, as .kube has its config. Its path is given as its elements.
func (l *List) Above(elems []string) bool { return l.above.Match(elems) }

// Excepted reports whether something is named by an exception, so that it is
// open whoever else leads to it: .env may be a link to .env.example.
func (l *List) Excepted(elems []string) bool { return l.except.Match(elems) }
