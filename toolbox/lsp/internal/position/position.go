// Package position says where in a text something is, in the words of people and in
// those of language servers. toolbox/lsp imports it.
//
// People count lines and columns from 1, and a column is one Unicode character (a
// code point). Servers count from 0, and a column is a unit of the encoding that was
// agreed on. Its one invariant: no position leads outside of its text or into the
// middle of a character.
package position

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Encoding is what a server counts columns in.
type Encoding string

// The encodings of the protocol. UTF16 is meant where a server names none.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	UTF32 Encoding = "utf-32"
)

// Known reports whether columns can be counted in an encoding.
func (e Encoding) Known() bool { return e == UTF8 || e == UTF16 || e == UTF32 }

// Position is a place as servers have it.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is from a place up to another.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Place is a place as people have it.
type Place struct{ Line, Column int }

// Text is a text with its lines. They end at \n, \r\n and \r.
type Text struct {
	s      string
	starts []int
}

// New takes a text apart into lines.
func New(s string) *Text {
	t := &Text{s: s, starts: make([]int, 1, 1+strings.Count(s, "\n"))}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\n', s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n'):
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// Lines is how many lines there are; a text that ends with a line end has an empty
// last one.
func (t *Text) Lines() int { return len(t.starts) }

// Bounds is where a line, counted from 0, begins and ends, without its line end.
func (t *Text) Bounds(line int) (from, to int) {
	if line < 0 {
		return 0, 0
	}
	if line >= len(t.starts) {
		return len(t.s), len(t.s)
	}
	from, to = t.starts[line], len(t.s)
	if line+1 < len(t.starts) {
		to = t.starts[line+1]
	}
	for to > from && (t.s[to-1] == '\n' || t.s[to-1] == '\r') {
		to--
	}
	return from, to
}

// Offset is the byte of a place that a server names. One beyond the end of a line is
// that end, as the protocol says, and one within a character is its beginning.
func (t *Text) Offset(p Position, e Encoding) int {
	at, end := t.Bounds(p.Line)
	if p.Line < 0 {
		return 0
	}
	for units := 0; at < end; {
		r, size := utf8.DecodeRuneInString(t.s[at:end])
		units += width(r, size, e)
		if units > p.Character {
			break
		}
		at += size
	}
	return at
}

// Position is the place of a byte as a server has it.
func (t *Text) Position(offset int, e Encoding) Position {
	line, from := t.line(offset)
	p := Position{Line: line}
	for at := from; at < offset && at < len(t.s); {
		r, size := utf8.DecodeRuneInString(t.s[at:])
		if at+size > offset {
			break
		}
		p.Character += width(r, size, e)
		at += size
	}
	return p
}

// Place is the place of a byte as people have it.
func (t *Text) Place(offset int) Place {
	p := t.Position(offset, UTF32)
	return Place{Line: p.Line + 1, Column: p.Character + 1}
}

// line finds the line of a byte. What lies in a line end counts to its line.
func (t *Text) line(offset int) (line, from int) {
	offset = max(0, min(offset, len(t.s)))
	line = sort.SearchInts(t.starts, offset+1) - 1
	return line, t.starts[line]
}

// At is the byte of a place that a person names. The column just behind the last
// character is one, too.
func (t *Text) At(line, column int) (int, error) {
	if line < 1 || line > len(t.starts) {
		return 0, fmt.Errorf("there is no line %d: the file has %d", line, len(t.starts))
	}
	at, end := t.Bounds(line - 1)
	for n := 1; n < column; n++ {
		if at >= end {
			return 0, fmt.Errorf("there is no column %d in line %d, which has %d characters; a column counts Unicode characters from 1, a tab being one", column, line, n-1)
		}
		_, size := utf8.DecodeRuneInString(t.s[at:end])
		at += size
	}
	if column < 1 {
		return 0, fmt.Errorf("there is no column %d: they are counted from 1", column)
	}
	return at, nil
}

// Find is the byte of a symbol in a line: the whole word that is nearest to a column,
// or the first one for column 0. Of a dotted name its last part is meant.
func (t *Text) Find(line int, symbol string, column int) (int, error) {
	if line < 1 || line > len(t.starts) {
		return 0, fmt.Errorf("there is no line %d: the file has %d", line, len(t.starts))
	}
	from, to := t.Bounds(line - 1)
	near := from
	if column > 0 {
		if at, err := t.At(line, column); err == nil {
			near = at
		} else {
			near = to
		}
	}
	text, best := t.s[from:to], -1
	for at := 0; symbol != ""; at++ {
		i := strings.Index(text[at:], symbol)
		if i < 0 {
			break
		}
		at += i
		if whole(text, at, at+len(symbol)) && (best < 0 || apart(from+at, near) < apart(best, near)) {
			best = from + at
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("%q is not in line %d, which is: %s", symbol, line, shorten(text))
	}
	last := strings.LastIndexAny(symbol, ".:>")
	if last+1 < len(symbol) {
		best += last + 1
	}
	return best, nil
}

func apart(a, b int) int { return max(a-b, b-a) }

// whole reports whether a part of a text is no piece of a longer word.
func whole(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	first, _ := utf8.DecodeRuneInString(text[from:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !(wordRune(before) && wordRune(first)) && !(wordRune(last) && wordRune(after))
}

func wordRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

func shorten(text string) string {
	const most = 200
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// width is how many units a character has. A byte that is no character counts as one
// everywhere.
func width(r rune, size int, e Encoding) int {
	switch {
	case e == UTF8:
		return size
	case e == UTF32 || r < 0x10000:
		return 1
	}
	return 2
}
