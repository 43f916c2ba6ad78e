package toolcrib

import (
	"context"
	"io/fs"
	"strings"

	"github.com/toolcrib/toolcrib/internal/partial"
)

// Changes is what a program did to the granted directories while it ran on a layer.
// None of it has happened yet. What earlier programs of the same session did, and
// nobody has answered for, belongs to it.
type Changes interface {
	// ID names what was applied, so that it can be taken back; empty: it cannot.
	ID() string
	// List gives the changes by path, a directory before what is in it.
	List() []Change
	// Read gives a part of the new content of a file. Several goroutines may call it.
	Read(path string, from, most int64) ([]byte, error)
	// Floor says what of it a person is asked about in every mode, and why.
	Floor() []string
	// Overwrite has a change count although somebody else changed its path meanwhile.
	Overwrite(path string)
	// Show tells a person what would be applied, with the differences.
	Show(accept func(path string) bool) string
	// Apply carries out the accepted changes and drops the others. If one of them
	// cannot be carried out, or somebody else has changed what it is about, none is.
	Apply(ctx context.Context, accept func(path string) bool) error
	// Keep has all of it wait for an answer: it is not lost with Drop, and the next
	// program of the session sees it. The name is what a person settles it by.
	Keep(ctx context.Context) (name string, err error)
	// Earlier is the name of what earlier programs left waiting. Empty: there is none.
	Earlier() string
	Others() bool // it has what other commands than this one did
	Whole() bool  // nothing of it can be left out
	// Drop forgets what this program did. What waits for an answer stays.
	Drop() error
	DropAll(ctx context.Context) error // forgets that as well
}

// Change is what became of one path: Before is nil if it was created, and After if it
// was deleted.
type Change struct {
	Path          string // absolute
	Before, After fs.FileInfo
	Target        string // where a symbolic link leads now
	From          string // where the content was moved from, which is deleted in the same set
	Moved         bool   // it was moved from a path that is not known, which is deleted in the same set
	ModeOnly      bool   // nothing but the permissions is different
	Linked        bool   // the file that was there has further names (hard links)
	Conflict      bool   // somebody else changed it while the program ran

	// Git is what is known of a change within a Git directory, where names say little,
	// and of a carried file. Nothing of its repository is left out.
	Git *Verdict
	// Led is what the sandbox says of a path that others obey not by its name, but
	// because links or settings lead them there; nil: nothing.
	Led *Verdict
	// Carried reads a file that only a commit or an index would have. It is judged like
	// the others, and there is nothing to apply.
	Carried func(most int64) ([]byte, error)
}

// Link: it made a symbolic link, which gives names to all that lies where it leads.
func (c *Change) Link() bool {
	return c != nil && c.After != nil && c.After.Mode()&fs.ModeSymlink != 0
}

// partial is the change as it counts for what of a set can be applied.
func (c *Change) partial() partial.Change {
	p := partial.Of(c.Path, c.From, c.Before, c.After)
	p.Moved = c.Moved
	if c.Git != nil {
		p.Group, _, _ = strings.Cut(c.Path, "/.git/")
		if c.Git.Decision == Allow {
			p.Meaning, p.Unsaid = c.Git.Reason, c.Git.Reason == ""
		}
	}
	return p
}
