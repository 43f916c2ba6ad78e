package sandbox

import (
	"path/filepath"
	"strings"
)

// LedTo are the places that others obey, or find something protected by, although
// their names do not say so: links or settings lead there, from anywhere in what was
// granted. What has a telling name is judged by that, and what lies in a .git by what it
// means to git.
type LedTo struct{ at map[string]Cover }

// LedTo gives those of this look.
func (c *Covering) LedTo() LedTo {
	e := LedTo{map[string]Cover{}}
	for _, cover := range c.Covers {
		if cover.Kind == Hide || cover.Kind == Pin && cover.Dir || inGit(cover.Path) || c.named(cover.Path) {
			continue
		}
		e.at[cover.Path] = cover
	}
	return e
}

// named tells whether a place is obeyed by what it is called, or a directory around it in
// what was granted.
func (c *Covering) named(path string) bool {
	rest := path
	for _, d := range c.dirs {
		if below := strings.TrimPrefix(path, strings.TrimSuffix(d.Path, "/")); within(path, d.Path) && len(below) < len(rest) {
			rest = below
		}
	}
	n := 0
	if c.shield != nil {
		n, _ = c.shield.Obeyed.In(elements(rest))
	}
	return n > 0
}

func inGit(path string) bool {
	for part := range strings.SplitSeq(path, string(filepath.Separator)) {
		if isGitName(part) {
			return true
		}
	}
	return false
}

// Join gives those of two looks.
func (e LedTo) Join(other LedTo) LedTo {
	all := LedTo{map[string]Cover{}}
	for _, one := range []LedTo{e, other} {
		for path, cover := range one.at {
			if all.at[path].Kind != Fix { // which says more
				all.at[path] = cover
			}
		}
	}
	return all
}

// Why says why others obey what lies at a path, or in a directory around it; empty: they
// do not, as far as these places go.
func (e LedTo) Why(path string) string {
	for at := path; len(e.at) > 0 && at != filepath.Dir(at); at = filepath.Dir(at) {
		switch cover, ok := e.at[at]; {
		case !ok || at != path && cover.Kind != Fix:
		case cover.Kind == Pin:
			return "it leads to what other programs obey, or to what is protected"
		default:
			return "other programs obey it: links or settings lead them there"
		}
	}
	return ""
}
