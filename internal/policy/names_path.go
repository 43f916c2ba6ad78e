package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// A person's PATH often has directories of the project before those of the machine:
// .venv/bin, node_modules/.bin, bin. Commands fill them with the project's own programs.
// One that is called git or ls is no such program: it would be run instead of the one that
// the person and her tools mean. node_modules/.bin stands before all of PATH for what npm
// runs and for hooks, whatever PATH the person has.

// toolDir is a directory before some of the machine's.
type toolDir struct {
	dir   string
	from  int // those of PATH that it stands before begin here
	npm   bool
	where string
}

// has tells whether a program of this name would be meant to be another one.
func (d toolDir) has(name string) bool {
	return named.IsCommand(name) && (!d.npm || !named.IsPackaged(name))
}

// toolDirs gives those that commands can write, by both their names.
func (n *takenNames) toolDirs() (list []toolDir) {
	add := func(dir string, d toolDir) {
		names := bothNames(dir)
		if !n.Writes(local(names[len(names)-1])) {
			return
		}
		for _, d.dir = range names {
			list = append(list, d)
		}
	}
	for i, dir := range n.path {
		add(dir, toolDir{from: i + 1, where: "in your PATH"})
	}
	if n.First != nil {
		for _, dir := range n.First() {
			add(dir, toolDir{where: "where a script of the project, such as .envrc or a hook, puts its directory into PATH"})
		}
	}
	for _, top := range n.tops {
		dir := path.Join(top, modulesDir, binDir)
		add(dir, npmTools(dir))
	}
	return list
}

// npmTools is a directory of programs that npm puts before all of PATH.
func npmTools(dir string) toolDir {
	return toolDir{dir: dir, npm: true, where: "for hooks and for whatever npm runs"}
}

// tool finds a program that stands before one of the machine, and a link in the place of
// its directory.
func (n *takenNames) tool(name string, c *newContent) *obeyedPlace {
	dirs := n.before
	if isOuterBin(path.Dir(name)) {
		dirs = append(slices.Clone(dirs), npmTools(path.Dir(name)))
	}
	base := path.Base(name)
	for _, d := range dirs {
		if c.isLink() && pathglob.Within(d.dir, []string{name}) && !d.npm {
			return &obeyedPlace{full: name, by: "it is a link in the place of a directory " + d.where + "; what it leads to would be run"}
		}
		if !d.has(base) || !pathglob.Here().Same(path.Dir(name), d.dir) {
			continue
		}
		if meant := n.meant(base, d.from); meant != "" {
			return &obeyedPlace{full: name, by: "it stands before " + meant + " " + d.where + " and would be run instead"}
		}
	}
	return nil
}

// meant is the program of a name that a later directory of PATH has, where commands cannot
// write; empty if there is none.
func (n *takenNames) meant(name string, from int) string {
	for _, dir := range n.path[from:] {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if there, err := filepath.EvalSymlinks(dir); err == nil && !n.Writes(there) {
			return file
		}
	}
	return ""
}
