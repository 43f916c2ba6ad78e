package layer

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
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
	// Cache: it holds the caches of builds. What becomes of it is judged by nobody: it
	// is kept if the whole change set is, and dropped otherwise.
	Cache bool
	// Later has the paths below the root that were first changed by a later command
	// than the first which worked on the tree, and when that one began. It counts for
	// what is in them as well, and "" for everything. With a slash at its end a path is
	// that of a directory in which names came and went while changes were applied and
	// taken back.
	Later map[string]time.Time
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
	// Moved: the content was moved from a path that is not known, and edited.
	Moved bool
	// ModeOnly: of a Changed file nothing but its permissions is different.
	ModeOnly bool
	// Conflict: somebody else changed the path while the command ran.
	Conflict bool

	tree   int
	rel    string // below the root of the tree
	copied bool   // the kernel made it as a copy of a live file
}

// link is a created file that is to be a further name of a live one.
type link struct {
	change int    // of the set
	source string // the live file, below the root of its tree
	tree   int
	live   Entry  // the same
	aside  string // where the name is made, below the stage
}

// Set is what a layer holds: the change set of a command.
type Set struct {
	Changes []Change // by path; a directory stands before what is in it
	// Ignored are paths of the layer that are never applied: sockets and pipes,
	// which mean nothing outside of it, and device nodes.
	Ignored []string
	// ListFile is where Show writes the whole list of what it has no room for. Empty:
	// nowhere.
	ListFile string

	trees   []Tree   // but caches
	caches  *Set     // what became of these; nil: nothing
	touched []Change // of a cache: files with another time and nothing else
	bytes   int64    // of all files
	since   time.Time
	copies  map[identity]bool // files of the upper half with further names that have their original
	renewed int               // live files that the command replaced by others like them, and may have moved
	leftOut []string          // files of the upper half that are no change: Ignored, and whiteouts of nothing

	apart     map[string]bool                // live files that get no further names, by path
	lies      func(Change) (dir, rel string) // where the new content lies; nil: in the upper half
	unchanged map[identity]link              // files of the upper half with further names, which are as their live ones

	lastMu sync.Mutex
	last   lastDir
}

// lastDir is the directory of new content that was read last.
type lastDir struct {
	root, rel string
	dir       *os.File
}

// Empty tells whether the command left everything as it was, but for caches.
func (s *Set) Empty() bool { return len(s.Changes) == 0 }

// Leave takes changes out of the set that count as none: nothing of them is applied.
func (s *Set) Leave(none func(Change) bool) {
	s.Changes = slices.DeleteFunc(s.Changes, func(c Change) bool {
		if !none(c) {
			return false
		}
		s.leftOut = append(s.leftOut, filepath.Join(s.trees[c.tree].Upper(), c.rel))
		return true
	})
}

// size is how much content the upper halves have, as the sizes of files tell it.
func (s *Set) size() int64 {
	if s.caches != nil {
		return s.bytes + s.caches.bytes
	}
	return s.bytes
}

// Find gives the change of a path.
func (s *Set) Find(path string) (Change, bool) {
	i, found := s.index(path)
	if !found {
		return Change{}, false
	}
	return s.Changes[i], true
}

func (s *Set) index(path string) (int, bool) {
	return slices.BinarySearchFunc(s.Changes, path, func(c Change, path string) int { return comparePaths(c.Path, path) })
}

// Overwrite has a change count although somebody else changed its path while the command
// ran: a person has decided so. What is there now is kept for undo.
func (s *Set) Overwrite(path string) {
	for i := range s.Changes {
		if s.Changes[i].Path == path {
			s.Changes[i].Conflict = false
		}
	}
}

// File is where the new content of a created or changed file can be read until
// the set was applied or dropped.
func (s *Set) File(c Change) string {
	if !c.After.Exists() {
		return ""
	}
	dir, rel := s.at(c)
	return filepath.Join(dir, rel)
}

func (s *Set) at(c Change) (dir, rel string) {
	if s.lies != nil {
		return s.lies(c)
	}
	return s.trees[c.tree].Upper(), c.rel
}

// comparePaths sorts a directory before what is in it.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch x, y := a[i], b[i]; {
		case x == y:
		case x == '/':
			return -1
		case y == '/':
			return 1
		default:
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}
