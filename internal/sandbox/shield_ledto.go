package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
)

// LedTo are the places that others obey, or find something protected by, although
// their names do not say so: links or settings lead there, from anywhere in what was
// granted. What has a telling name is judged by that, and what lies in a .git by what it
// means to git.
type LedTo struct{ at map[string]CoverKind }

// All gives them, to be written down; [LedToAll] takes them up again.
func (l LedTo) All() map[string]CoverKind { return l.at }

// LedToAll are places that were written down.
func LedToAll(at map[string]CoverKind) LedTo { return LedTo{at} }

// LedTo gives those of this look.
func (c *Covering) LedTo() LedTo {
	l := LedTo{map[string]CoverKind{}}
	for _, cover := range c.Covers {
		if cover.Kind != Hide && (cover.Kind == Fix || !cover.Dir) && !c.telling(cover.Path) {
			l.at[cover.Path] = cover.Kind
		}
	}
	return l
}

// Missing are those that lead to where nothing lies yet.
func (c *Covering) Missing() LedTo {
	l := LedTo{map[string]CoverKind{}}
	if c.shield == nil || c.shield.Obeyed == nil {
		return l
	}
	add := func(path string) {
		target, err := linked.Target(path)
		if err != nil || c.telling(target) || c.shield.granted(target) || !slices.ContainsFunc(c.dirs, func(d files.Dir) bool { return target != d.Path && within(target, d.Path) }) {
			return
		}
		if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
			l.at[target] = Fix
		}
	}
	below := func(dir string) {
		for _, list := range linked.Below(dir, linked.Read) {
			for _, link := range list.Links {
				add(link)
			}
		}
	}
	for _, cover := range c.Covers {
		switch {
		case cover.Kind == Pin && cover.Link:
			add(cover.Path)
		case cover.Kind == Fix && cover.Dir && c.telling(cover.Path):
			below(cover.Path)
		}
	}
	if c.shield.Git.Read == nil {
		return l
	}
	for git := range c.gits {
		if !isGitName(filepath.Base(git)) {
			continue
		}
		for _, pointed := range c.shield.Git.PointedAt(filepath.Dir(git)) {
			if pointed.Own {
				below(pointed.Path)
				continue
			}
			add(pointed.Path)
		}
	}
	return l
}

// telling: others obey it for its name or that of a directory around it in what was
// granted, or it lies in a .git there.
func (c *Covering) telling(path string) bool {
	rest := path
	for _, d := range c.dirs {
		if below := strings.TrimPrefix(path, strings.TrimSuffix(d.Path, "/")); within(path, d.Path) && len(below) < len(rest) {
			rest = below
		}
	}
	parts := elements(rest)
	if slices.ContainsFunc(parts, isGitName) {
		return true
	}
	n := 0
	if c.shield != nil {
		n, _ = c.shield.Obeyed.In(parts)
	}
	return n > 0
}

// Join adds those of another look.
func (l LedTo) Join(other LedTo) LedTo {
	all := LedTo{map[string]CoverKind{}}
	for _, one := range []LedTo{l, other} {
		for path, kind := range one.at {
			if all.at[path] != Fix { // which says more
				all.at[path] = kind
			}
		}
	}
	return all
}

// Why says why others obey what lies at a path, or in a directory around it; empty: they
// do not, as far as these places go.
func (l LedTo) Why(path string) string {
	for at := path; len(l.at) > 0 && at != filepath.Dir(at); at = filepath.Dir(at) {
		switch kind, ok := l.at[at]; {
		case !ok || at != path && kind != Fix:
		case kind == Pin:
			return "it leads to what other programs obey, or to what is protected"
		default:
			return "other programs obey it: links or settings lead them there"
		}
	}
	return ""
}
