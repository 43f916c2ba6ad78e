// Package gitobject reads the objects of a Git repository: loose ones and those in
// packs, trees, commits and tags, and how two trees differ. It starts no git, and
// reads files only through the directory that it is given.
//
// Whoever judges what a command did to a repository goes by it. So it trusts nothing
// that lies there: every object is hashed and must have the name by which it was
// asked for, and all work is charged to a [Budget]. Its invariant: what it gives back
// is what git would read, and what it does not understand is an error.
//
// It knows repositories with SHA-1 only.
package gitobject

import (
	"encoding/hex"
	"errors"
	"io"
	"strings"
)

// Dir gives the files of a Git directory by their names in it, with slashes. No link
// is followed. What is not there is [io/fs.ErrNotExist], also if a directory is there
// in the place of a file, or a file in the place of a directory.
type Dir interface {
	Open(name string) (File, error)
	List(dir string) ([]string, error) // the names in a directory
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// ReadAll reads a file that is at most so long.
func ReadAll(dir Dir, name string, most int64) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if f.Size() > most {
		return nil, ErrTooMuch
	}
	data := make([]byte, f.Size())
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, errors.Join(ErrOdd, err)
	}
	return data, nil
}

// The errors beyond those of a Dir.
var (
	// ErrOdd is what git would not have written.
	ErrOdd = errors.New("is not understood")
	// ErrForged is content that has not the hash by which it is named.
	ErrForged = errors.New("does not have the content that its name stands for")
	// ErrTooMuch is more than is looked at.
	ErrTooMuch = errors.New("is more than is looked at")
	// ErrMissing is an object that is nowhere.
	ErrMissing = errors.New("is missing")
)

// ID is the name of an object: the hash of its content.
type ID [20]byte

// ParseID reads the 40 digits of a name.
func ParseID(text string) (id ID, ok bool) {
	if len(text) != 2*len(id) || strings.Trim(text, "0123456789abcdef") != "" {
		return ID{}, false
	}
	_, err := hex.Decode(id[:], []byte(text))
	return id, err == nil
}

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Short is how people write a name.
func (id ID) Short() string { return id.String()[:10] }

// Kind is what an object is.
type Kind uint8

// The kinds, by their numbers in packs.
const (
	Commit Kind = iota + 1
	Tree
	Blob
	Tag
)

func (k Kind) String() string {
	if k < Commit || k > Tag {
		return "unknown"
	}
	return [...]string{"commit", "tree", "blob", "tag"}[k-Commit]
}

// parseKind reads the word of a kind; zero: there is no such kind.
func parseKind(word string) Kind {
	for k := Commit; k <= Tag; k++ {
		if k.String() == word {
			return k
		}
	}
	return 0
}

// Object is an object with its content.
type Object struct {
	Kind Kind
	Data []byte
}

// Budget bounds how much is read and unpacked in one look. The zero value allows nothing.
type Budget struct{ Bytes int64 }

// spend takes from a budget.
func (b *Budget) spend(n int64) error {
	if n < 0 || n > b.Bytes {
		b.Bytes = 0
		return ErrTooMuch
	}
	b.Bytes -= n
	return nil
}

// maxObject bounds an object that is held in memory.
const maxObject = 64 << 20
