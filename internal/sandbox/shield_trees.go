package sandbox

import (
	"path/filepath"
	"slices"
	"time"
)

// A person who makes a work tree or a clone while a program runs has one in which
// nothing is covered for that program. What git wrote there is known by its index,
// so that at least what is no longer as git has it is told.

// madeTree is a tree that was made while a program ran.
type madeTree struct {
	git string // its Git directory
	own bool   // a person's for certain, and no program could write its index
}

// The bounds on what is looked at there: a program can make many such trees.
const (
	maxMadeIndex = 4 << 20
	madeTime     = 5 * time.Second
)

// enclosing gives the tree that was made around a place, if the place is looked at
// with it. A repository that the program made where a directory was before does not
// count: "git init" would take every project out of what is looked at.
func (c *Covering) enclosing(made map[string]madeTree, top string) (tree madeTree, at string, is bool) {
	for at = top; len(made) > 0; at = filepath.Dir(at) {
		if tree, is = made[at]; is {
			_, before := c.visited[at]
			return tree, at, !slices.Contains(c.tops, at) && (tree.own || !before)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return madeTree{}, "", false
}

// madeTree looks at a new repository, before it may be set aside.
func (c *Covering) madeTree(dot string) (top string, tree madeTree, is bool) {
	git := gitDirOf(dot)
	if filepath.Base(dot) != ".git" || git == "" {
		return "", tree, false
	}
	return filepath.Dir(dot), madeTree{git: git, own: git != dot && c.ownTree(dot, git)}, true
}

// changed tells whether something in a tree is not as its index has it. In one that
// the program may have made itself, what git does not know at all is its own work.
func (t madeTree) changed(top, path string) bool {
	most := int64(maxMadeIndex)
	if t.own {
		most = maxIndex
	}
	files, ok := indexHas(t.git, atOrBelow(top, path), most)
	if !t.own && len(files) == 0 {
		return false
	}
	return !ok || !asInGit(files, top, path)
}
