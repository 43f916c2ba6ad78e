// Package partial says which part of a change set can be applied, if some of it is
// refused, or a person takes only some of it.
//
// The core imports it. Its invariant: what it gives can be applied as it is. The two
// halves of a move are in it or both are not, a repository is whole, a directory is
// deleted only with all that is in it, and a new file has its directory.
package partial

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Change is what became of one path.
type Change struct {
	Path  string // absolute
	From  string // where the content was moved from, which is deleted in the same set
	Moved bool   // it was moved from a path that is not known
	// Was and Is say what there was before and what there is now.
	Was, Is Kind
	// Group names what the change belongs to, of which all is applied or nothing: a
	// repository. Empty: it stands for itself.
	Group string
	// Meaning says what it is, where a person cannot see that by its path. Unsaid: nothing is
	// said of it, since the meaning of another change has it in.
	Meaning string
	Unsaid  bool
}

// Kind is what a path stands for.
type Kind uint8

// The kinds.
const (
	Nothing Kind = iota
	Directory
	Other // a file or a link
)

// Of makes a change of what was there and what is there now; nil: nothing.
func Of(path, from string, before, after fs.FileInfo) Change {
	return Change{Path: path, From: from, Was: kindOf(before), Is: kindOf(after)}
}

func kindOf(info fs.FileInfo) Kind {
	switch {
	case info == nil:
		return Nothing
	case info.IsDir():
		return Directory
	}
	return Other
}

// Word is what became of a path.
func (c Change) Word() string {
	switch Nothing {
	case c.Was:
		return "created"
	case c.Is:
		return "deleted"
	}
	return "changed"
}

// Set is a change set: a directory stands before what is in it.
type Set []Change

// Without gives what is left of a set if some paths are refused: what is in a refused
// directory goes with it.
func (s Set) Without(refused map[string]bool) map[string]bool {
	return s.part(refused, func(string) bool { return true })
}

// Only gives the part of a set that a person names, by paths or by directories around
// them, without what is refused. What a named change needs comes with it: the other half
// of a move, and new directories around it.
func (s Set) Only(named []string, refused map[string]bool) (map[string]bool, error) {
	for _, name := range named {
		if !s.has(name) {
			return nil, fmt.Errorf("the command changed nothing at %s", name)
		}
	}
	chosen := map[string]bool{}
	for _, name := range named {
		chosen[name] = true
	}
	in := s.part(refused, func(path string) bool { return within(chosen, path) })
	at := s.byPath()
	for path := range in {
		for dir := around(path); dir != ""; dir = around(dir) {
			i, changed := at[dir]
			if changed && !in[dir] && s[i].Was == Other && s[i].Is == Directory {
				return nil, fmt.Errorf("%s can be taken only together with %s, which was no directory before", path, dir)
			}
		}
	}
	return in, nil
}

// has tells whether something at a path or below it was changed.
func (s Set) has(name string) bool {
	for _, c := range s {
		if c.Path == name || strings.HasPrefix(c.Path, strings.TrimSuffix(name, "/")+"/") {
			return true
		}
	}
	return false
}

func (s Set) byPath() map[string]int {
	at := make(map[string]int, len(s))
	for i, c := range s {
		at[c.Path] = i
	}
	return at
}

// part gives what can be applied of what is wanted.
func (s Set) part(refused map[string]bool, wanted func(path string) bool) map[string]bool {
	at := s.byPath()
	kept := map[string]bool{}
	for {
		in := s.complete(s.out(refused, kept, at), at, wanted)
		if !s.keepFull(in, kept, at) {
			return in
		}
	}
}

// out is what cannot be applied if some paths are refused, and directories are kept.
func (s Set) out(refused, kept map[string]bool, at map[string]int) map[string]bool {
	out, groups := map[string]bool{}, map[string]bool{}
	for again := len(refused)+len(kept) > 0; again; {
		again = false
		drop := func(path string) {
			if !out[path] {
				out[path], again = true, true
			}
		}
		for _, c := range s {
			if refused[c.Path] || kept[c.Path] || s.inRefused(c.Path, refused, out, at) {
				drop(c.Path)
			}
			if c.From != "" && (out[c.Path] || out[c.From]) {
				drop(c.Path)
				drop(c.From)
			}
			if c.Group != "" && out[c.Path] && !groups[c.Group] {
				groups[c.Group], again = true, true
			}
			if groups[c.Group] {
				drop(c.Path)
			}
		}
		s.dropAround(out, at, drop)
	}
	return out
}

// inRefused tells whether a path lies in a directory that is refused, or in one that
// stays away.
func (s Set) inRefused(path string, refused, out map[string]bool, at map[string]int) bool {
	for dir := around(path); dir != ""; dir = around(dir) {
		if refused[dir] {
			return true
		}
		if i, changed := at[dir]; changed && out[dir] && s[i].Is == Directory && s[i].Was != Directory {
			return true
		}
	}
	return false
}

// dropAround keeps directories in which something is kept.
func (s Set) dropAround(out map[string]bool, at map[string]int, drop func(string)) {
	for _, c := range s {
		if !out[c.Path] || c.Was == Nothing {
			continue
		}
		for dir := around(c.Path); dir != ""; dir = around(dir) {
			if i, changed := at[dir]; changed && s[i].Was == Directory && s[i].Is != Directory {
				drop(dir)
			}
		}
	}
}

// complete gives the changes that are wanted and not out, with what they need.
func (s Set) complete(out map[string]bool, at map[string]int, wanted func(path string) bool) map[string]bool {
	in, groups := map[string]bool{}, map[string]bool{}
	for again := true; again; {
		again = false
		take := func(path string) {
			if !in[path] && !out[path] {
				in[path], again = true, true
			}
		}
		for _, c := range s {
			if wanted(c.Path) {
				take(c.Path)
			}
			if c.From != "" && (in[c.Path] || in[c.From]) {
				take(c.Path)
				take(c.From)
			}
			if groups[c.Group] {
				take(c.Path)
			}
			if in[c.Path] && c.Group != "" && !groups[c.Group] {
				groups[c.Group], again = true, true
			}
			if !in[c.Path] {
				continue
			}
			for dir := around(c.Path); dir != "" && !in[dir]; dir = around(dir) { // one that is in brings its own
				if i, changed := at[dir]; changed && s[i].Was == Nothing {
					take(dir)
				}
			}
		}
	}
	return in
}

// around gives the directory of a path: empty for what lies at the top. Paths are clean,
// and [filepath.Dir] would look at all of a long one again for each of its directories.
func around(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// keepFull finds the directories that would be deleted although not everything in them
// is. It tells whether there are any that were not known.
func (s Set) keepFull(in, kept map[string]bool, at map[string]int) (found bool) {
	for _, c := range s {
		if in[c.Path] || c.Was == Nothing {
			continue
		}
		for dir := around(c.Path); dir != ""; dir = around(dir) {
			if i, changed := at[dir]; changed && s[i].Was == Directory && s[i].Is != Directory {
				if in[dir] && !kept[dir] {
					kept[dir], found = true, true
				}
			}
		}
	}
	return found
}

// within tells whether a path, or a directory around it, is one of some.
func within(some map[string]bool, path string) bool {
	for ; ; path = filepath.Dir(path) {
		if some[path] {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}
