package files

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// maxPath is the longest name taken; longer ones no system opens.
const maxPath = 4096

// badName finds what no name can hold.
func badName(name string) error {
	switch {
	case name == "":
		return failure("", "a path is needed", fs.ErrInvalid)
	case len(name) > maxPath:
		return failure("", fmt.Sprintf("the path is longer than %d bytes", maxPath), fs.ErrInvalid)
	case strings.ContainsRune(name, 0):
		return failure(name, "a path cannot hold a NUL byte", fs.ErrInvalid)
	}
	return nil
}

// newName finds what a name had better not hold where one is made: it would
// be read wrongly wherever names are listed line by line.
func newName(name, elem string) error {
	if strings.ContainsFunc(elem, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(elem) {
		return failure(name, "new names must be plain text without control characters", fs.ErrInvalid)
	}
	return nil
}

// fileError is a failure that a model can read: its text names the path as the
// caller gave it and nothing else of this machine.
type fileError struct {
	text string
	err  error // one of the errors of package fs, or nil
}

func (e *fileError) Error() string { return e.text }
func (e *fileError) Unwrap() error { return e.err }

func failure(name, text string, err error) error {
	if name != "" {
		text += ": " + shown(name)
	}
	return &fileError{text, err}
}

// shown is a name as a text can carry it.
func shown(name string) string {
	if len(name) > 200 {
		name = name[:200] + "…"
	}
	return fmt.Sprintf("%q", name)
}

// Why [Handle] refuses a name; the causes of its refusals.
var (
	ErrOutside   = errors.New("outside the granted directories")
	ErrProtected = errors.New("protected")
	ErrReadOnly  = errors.New("granted for reading only")
)

// ErrMoved says that a name leads to another place than when its call was
// judged.
var ErrMoved = errors.New("leads somewhere else than when it was judged")

func outside(name string) error {
	return refusal.New(refusal.Denied, shown(name)+" is outside the granted directories", ErrOutside)
}

// denied is the error of a place that a rule keeps out of reach. It counts as a
// protected one.
func denied(name string) error {
	return refusal.New(refusal.Denied, shown(name)+" is out of reach: a rule denies it", ErrProtected)
}

func protected(name string) error {
	return refusal.New(refusal.Denied, shown(name)+" is protected and stays out of reach", ErrProtected)
}

func readOnly(name string) error {
	return refusal.New(refusal.Denied, shown(name)+" is in a directory that was granted for reading only", ErrReadOnly)
}

// told turns an error of the system into one for a model.
func told(name string, err error) error {
	var own *fileError
	if err == nil || errors.As(err, &own) {
		return err
	}
	if no, ok := errors.AsType[*refusal.Error](err); ok {
		return no
	}
	if busy(err) {
		return failure(name, "another program uses it now; close it there, or try again", nil)
	}
	for _, known := range []struct {
		is   error
		text string
	}{
		{fs.ErrNotExist, "no such file or directory"},
		{fs.ErrClosed, "the granted directories are closed, the call has ended"},
		{fs.ErrPermission, "the operating system does not permit it"},
		{syscall.ENOTDIR, "not a directory"},
		{syscall.ENAMETOOLONG, "the name is too long"},
		{syscall.ENOSPC, "the disk is full"},
		{errSwapped, "it kept changing while it was being opened"},
	} {
		if errors.Is(err, known.is) {
			return failure(name, known.text, known.is)
		}
	}
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return failure(name, no.Error(), no)
	}
	return failure(name, "it cannot be used", nil)
}
