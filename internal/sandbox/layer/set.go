package layer

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Tree is one granted directory of a layer.
type Tree struct {
	// Root is the granted directory: absolute, clean and without links.
	Root string
	// Dir is the directory on the host that holds the upper half of the overlay:
	// [UpperName] with what was changed, and [WorkName] for the kernel. Nothing but
	// the command may write in it, and only until it has ended.
	Dir string
}

// The directories in Tree.Dir. Old holds what Apply took out of the tree.
const (
	UpperName = "upper"
	WorkName  = "work"
	oldName   = "old"
)

// Upper is where what was changed lies.
func (t Tree) Upper() string { return filepath.Join(t.Dir, UpperName) }

// Work is the directory that the kernel needs beside it.
func (t Tree) Work() string { return filepath.Join(t.Dir, WorkName) }

// Kind says what became of a path.
type Kind uint8

// The kinds of changes.
const (
	Created Kind = iota + 1 // there was nothing
	Changed                 // other content, another mode, or something of another type
	Deleted                 // there is nothing any more
)

func (k Kind) String() string {
	switch k {
	case Created:
		return "created"
	case Changed:
		return "changed"
	case Deleted:
		return "deleted"
	}
	return "unknown"
}

// Entry is a file, a directory or a link as it was seen.
type Entry struct {
	Mode   fs.FileMode // type and permissions; zero: there is nothing
	Size   int64       // of a regular file
	Target string      // of a symbolic link
	Links  uint64      // how many names it has
	Owner  Owner

	id    identity
	mtime time.Time
	ctime time.Time
}

// Owner is the user and the group of a file.
type Owner struct{ UID, GID uint32 }

// Exists tells whether there was anything.
func (e Entry) Exists() bool { return e.Mode != 0 || e.id != identity{} }

// Info gives an entry in the form of the standard library; nil if there is nothing.
func (e Entry) Info() fs.FileInfo {
	if !e.Exists() {
		return nil
	}
	return info{e}
}

type info struct{ entry Entry }

func (i info) Name() string       { return "" }
func (i info) Size() int64        { return i.entry.Size }
func (i info) Mode() fs.FileMode  { return i.entry.Mode }
func (i info) ModTime() time.Time { return i.entry.mtime }
func (i info) IsDir() bool        { return i.entry.Mode.IsDir() }
func (i info) Sys() any           { return nil }

// identity tells one file from another on this machine.
type identity struct {
	Device uint64 `json:"-"` // another one after a restart of the machine, perhaps
	Inode  uint64 `json:"inode"`
}

// Change is what a command did to one path.
type Change struct {
	Path   string // absolute
	Kind   Kind
	Before Entry // what was there
	After  Entry // what is there now
	// From is the path that the content was moved from. It is a Deleted change of
	// the same set.
	From string
	// ModeOnly: of a Changed file nothing but its permissions is different.
	ModeOnly bool
	// Conflict: somebody else changed the path while the command ran.
	Conflict bool

	tree   int
	rel    string // below the root of the tree
	copied bool   // the kernel made it as a copy of a live file
}

// Set is what a layer holds: the change set of a command.
type Set struct {
	Changes []Change // by path; a directory stands before what is in it
	// Ignored are paths of the layer that are never applied: sockets and pipes,
	// which mean nothing outside of it, and device nodes.
	Ignored []string

	trees   []Tree
	since   time.Time
	leftOut []string // files of the upper half that are no change: Ignored, and whiteouts of nothing
}

// Empty tells whether the command left everything as it was.
func (s *Set) Empty() bool { return len(s.Changes) == 0 }

// Find gives the change of a path.
func (s *Set) Find(path string) (Change, bool) {
	i, found := slices.BinarySearchFunc(s.Changes, path, func(c Change, path string) int { return comparePaths(c.Path, path) })
	if !found {
		return Change{}, false
	}
	return s.Changes[i], true
}

// File is where the new content of a created or changed file can be read until
// the set was applied or dropped.
func (s *Set) File(c Change) string {
	if !c.After.Exists() {
		return ""
	}
	return filepath.Join(s.trees[c.tree].Upper(), c.rel)
}

// comparePaths sorts a directory before what is in it.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}
