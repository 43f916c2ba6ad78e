// Package gitchange says what changes within a Git directory mean: which are ordinary
// (objects, refs, the index), which files a moved ref or the index would put into the
// work tree, and which are what git and others obey. So a person is asked about a
// commit, and guards judge the files of it, instead of paths below .git/objects.
//
// It starts no git and trusts nothing that the command wrote. Its invariant: a change
// that is not understood is asked about, and one that git would not have made is
// denied; neither is ever ordinary.
package gitchange

import (
	"errors"
	"io/fs"
	"time"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// Repo is a repository before and after a command.
type Repo struct {
	Before, After gitobject.Dir // of the Git directory
	WorkChanged   bool          // the command changed files outside of it, too
	// Work opens a file of the work tree after the command. Nil: nobody knows what is there.
	Work func(name string) (*WorkFile, error)
}

// WorkFile is a file of the work tree, or a link, whose content is where it leads.
type WorkFile struct {
	gitobject.File

	Written time.Time
}

// Change is what became of one path in a Git directory.
type Change struct {
	Name          string      // below it, with slashes
	Before, After fs.FileMode // as far as it Existed, and Exists
	Existed       bool
	Exists        bool
	ModeOnly      bool // nothing but the permissions is different
}

// Answer is how a change is judged.
type Answer uint8

// The answers. The zero value is none.
const (
	Nothing  Answer = iota + 1 // git remembers other times of files, and that is all
	Ordinary                   // git does that every day, and what it means is judged by itself
	Ask                        // others obey it, or it is not understood, or history is lost
	Deny                       // git does not do that
)

// Finding is what is known of a change.
type Finding struct {
	Answer Answer
	Rule   string // why it is asked about, in a word
	Text   string // what was done, or why it is asked about or denied; empty: nothing to be told
}

// Guard is the name under which findings are told as verdicts. No approval is remembered
// for one that asks: the same command would change something else the next time.
const Guard = "git"

// The rules of findings that ask or deny.
const (
	Obeyed  = "obeyed"  // git, or another program, obeys what lies there
	History = "history" // commits are on no branch any more
	Unread  = "unread"  // it is not understood
	Forged  = "forged"  // git would not have written it
)

// File is a file that a commit or the index would write or remove in the work tree.
type File struct {
	Path     string // from the top of the work tree, with slashes
	By       string // what holds it
	Old, New gitobject.Entry
}

// Result is what the changes of one repository mean.
type Result struct {
	Findings []Finding // one for each change, in their order
	Files    []File    // by path, each content once
	Shown    []string  // lines for a person

	store *gitobject.Store
	files *gitobject.Store // with a budget of its own
}

// Close closes what was read.
func (r *Result) Close() error { return errors.Join(r.store.Close(), r.files.Close()) }

// Content gives the beginning of a file, of where a link leads, or of a submodule as
// git shows it.
func (r *Result) Content(e gitobject.Entry, most int64) ([]byte, error) {
	switch e.Mode {
	case 0:
		return nil, nil
	case gitobject.ModeModule:
		return []byte("Subproject commit " + e.ID.String() + "\n"), nil
	}
	return r.files.Head(e.ID, most)
}
