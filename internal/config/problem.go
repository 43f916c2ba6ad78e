package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Problem is one mistake in one layer. Load returns all of them joined, so that a person can mend them in one go.
type Problem struct {
	File    string // empty for the environment and for flags
	Line    int    // 1-based; 0 when the problem is the file itself
	Column  int    // 1-based, in characters; 0 when only the line is known
	Key     string // dotted key; empty when the problem is not about a key
	Message string
	Err     error // the cause, where the file could not be read
}

func (p *Problem) Error() string { return place(p.File, p.Line, p.Column, p.Key) + p.Message }

// Unwrap gives the cause, so that errors.Is(err, fs.ErrNotExist) works for a missing file.
func (p *Problem) Unwrap() error { return p.Err }

// Warning is something that was left out of the result and need not stop the program.
type Warning struct {
	File    string // empty for the environment
	Line    int
	Column  int
	Key     string // dotted key; empty for an unknown environment variable
	Message string
}

func (w Warning) String() string { return place(w.File, w.Line, w.Column, w.Key) + w.Message }

// place writes "file:line:column: key: ", leaving out what is not known.
func place(file string, line, column int, key string) string {
	var b strings.Builder
	if file != "" {
		b.WriteString(printable(file))
		if line > 0 {
			fmt.Fprintf(&b, ":%d", line)
			if column > 0 {
				fmt.Fprintf(&b, ":%d", column)
			}
		}
		b.WriteString(": ")
	}
	if key != "" {
		b.WriteString(key)
		b.WriteString(": ")
	}
	return b.String()
}

// printable quotes a path that holds characters a terminal would act on: a checkout can name its folders as it likes.
func printable(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}

// clip quotes foreign text for a message and bounds its length.
func clip(foreign string) string {
	const most = 60
	if cut := text.ClipRunes(foreign, most); cut != foreign {
		return strconv.Quote(strings.TrimSuffix(cut, "…")) + "…"
	}
	return strconv.Quote(foreign)
}

// maxProblems bounds the work and the output that one broken file can cause.
const maxProblems = 50

// problems collects what is wrong with one layer.
type problems struct {
	file string
	list []*Problem
	full bool
}

func (ps *problems) add(at mark, key, format string, args ...any) {
	ps.append(&Problem{File: ps.file, Line: at.line, Column: at.column, Key: key, Message: fmt.Sprintf(format, args...)})
}

func (ps *problems) append(p *Problem) {
	if ps.full {
		return
	}
	ps.list = append(ps.list, p)
	if len(ps.list) == maxProblems {
		ps.full = true
		ps.list = append(ps.list, &Problem{File: ps.file, Message: "too many problems; the rest is not shown"})
	}
}

// mark is a place in a file; zero where there is none.
type mark struct{ line, column int }

// join makes one error of the problems of several layers, nil if there are none.
func join(layers ...*problems) error {
	var errs []error
	for _, layer := range layers {
		for _, p := range layer.list {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}
