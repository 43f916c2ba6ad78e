// Package grep finds lines that match a pattern, at the speed the memory
// gives. Only toolbox/files imports it.
//
// A query goes one of four ways. A plain text is looked for directly. From a
// regular expression the literal is taken that every match must contain; only
// lines with it are looked at. Where there is no such literal, an automaton
// over bytes, built while it runs, reads everything once. The last word has
// always the standard library's regexp or an exact comparison. Only what that
// cannot read, look-around and back references, goes line by line through an
// engine that backtracks, within bounds.
//
// Its one invariant: a query finds exactly the lines in which regexp finds a
// match, a line being what stands between newlines without a carriage return
// at its end.
package grep

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/toolcrib/toolcrib/internal/backtrack"
)

// Options says how a pattern is meant.
type Options struct {
	Regex      bool // a regular expression; else a plain text
	IgnoreCase bool
	Binary     bool // texts with NUL bytes are searched too
}

// Query is a compiled pattern. Many searchers may use it at once.
type Query struct {
	re    *regexp.Regexp
	back  *backtrack.Pattern // instead of re
	lits  []*literal         // every match contains one of them; none: read everything
	exact bool               // containing one is a match
	all   bool               // binary files too
	auto  *nfa               // nil: too large, only regexp can tell
}

// maxPattern bounds the work of compiling.
const maxPattern = 4096

// Compile reads a pattern. The error is fit for who wrote it.
func Compile(pattern string, opt Options) (*Query, error) {
	switch {
	case pattern == "":
		return nil, errors.New("the pattern is empty")
	case len(pattern) > maxPattern:
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	if !opt.Regex {
		if strings.Contains(pattern, "\n") {
			return nil, errors.New("the pattern holds a newline, but the search is line by line")
		}
		pattern = regexp.QuoteMeta(pattern)
	}
	if opt.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		back := newBacktracker(pattern, err)
		if back == nil {
			return nil, badPattern(err)
		}
		return &Query{back: back, all: opt.Binary}, nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, badPattern(err)
	}
	tree = tree.Simplify()
	q := &Query{re: re, all: opt.Binary}
	q.lits, q.exact = required(tree)
	if !q.exact {
		prog, err := syntax.Compile(tree)
		if err != nil {
			return nil, badPattern(err)
		}
		q.auto = newNFA(prog)
	}
	return q, nil
}

func badPattern(err error) error {
	return fmt.Errorf("the pattern is not a regular expression: %s",
		strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}

// Apart gives a query that finds something in every text which this one finds
// something in after parts of it were replaced by a mark: it looks for the texts
// that a match must contain, if none of them can take in a piece of a mark. Nil:
// there is no such query.
func (q *Query) Apart(mark string) *Query {
	if len(q.lits) == 0 {
		return nil
	}
	for _, l := range q.lits {
		if touches(strings.ToLower(string(l.text)), strings.ToLower(mark)) {
			return nil
		}
	}
	return &Query{lits: q.lits, exact: true, all: q.all}
}

// touches reports whether a text can stand so that it shares bytes with a mark.
func touches(text, mark string) bool {
	if strings.Contains(text, mark) || strings.Contains(mark, text) {
		return true
	}
	for n := 1; n < len(text) && n < len(mark)+1; n++ {
		if strings.HasPrefix(mark, text[len(text)-n:]) || strings.HasSuffix(mark, text[:n]) {
			return true
		}
	}
	return false
}
