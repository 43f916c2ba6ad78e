package toolcrib

import (
	"context"
	"io/fs"
)

// Changes is what a program did to the granted directories while it ran on a layer.
// None of it has happened yet.
type Changes interface {
	// List gives the changes by path, a directory before what is in it.
	List() []Change
	// Read gives the beginning of the new content of a file.
	Read(path string, most int64) ([]byte, error)
	// Show tells a person what would be applied, with the differences.
	Show(accept func(path string) bool) string
	// Apply carries out the accepted changes and drops the others. If one of them
	// cannot be carried out, or somebody else has changed what it is about, none is.
	Apply(ctx context.Context, accept func(path string) bool) error
	// Drop forgets all of them.
	Drop() error
}

// Change is what became of one path: Before is nil if it was created, and After if it
// was deleted.
type Change struct {
	Path          string // absolute
	Before, After fs.FileInfo
	Target        string // where a symbolic link leads now
	From          string // where the content was moved from, which is deleted in the same set
	ModeOnly      bool   // nothing but the permissions is different
	Linked        bool   // the file that was there has further names (hard links)
	Conflict      bool   // somebody else changed it while the program ran
}
