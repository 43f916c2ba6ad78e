package math

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokName tokenKind = iota // identifiers and keywords
	tokNumber
	tokString
	tokOp
	tokNewline
	tokIndent
	tokEnd
	tokError    // text is the message
	tokUnclosed // the source ended inside brackets; text is the message
)

// token is one lexical unit of Python source.
type token struct {
	kind  tokenKind
	text  string
	level int // how many brackets are open after it
	line  int
}

// The bracket limit is CPython's own.
const maxBrackets = 200

type bracket struct {
	char byte
	line int
}

// lexer cuts Python source into tokens. It stops at the first error, which
// becomes the last token: the parser reports it when it gets there, or
// instead of its own vaguer complaint.
type lexer struct {
	src   string
	pos   int
	line  int
	open  []bracket
	out   []token
	power bool // read ^ as **, as people write equations
}

// lex never fails: the last token is tokEnd, tokError or tokUnclosed.
func lex(src string, caretIsPower bool) []token {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\r", "\n")
	l := &lexer{src: src, line: 1, power: caretIsPower}
	if strings.IndexByte(src, 0) >= 0 {
		l.fail("source code string cannot contain null bytes")
		return l.out
	}
	for l.next() {
	}
	return l.out
}

func (l *lexer) emit(k tokenKind, text string) {
	l.out = append(l.out, token{k, text, len(l.open), l.line})
}

// fail ends the tokens with an error; it returns false for the caller to
// pass on.
func (l *lexer) fail(format string, args ...any) bool {
	l.emit(tokError, fmt.Sprintf(format, args...))
	return false
}

// at is the byte at an offset from here, 0 past the end.
func (l *lexer) at(offset int) byte {
	if l.pos+offset < len(l.src) {
		return l.src[l.pos+offset]
	}
	return 0
}

// next reads one token and says whether there may be more.
func (l *lexer) next() bool {
	for l.at(0) == ' ' || l.at(0) == '\t' || l.at(0) == '\f' {
		l.pos++
	}
	if l.at(0) == '#' {
		for l.pos < len(l.src) && l.src[l.pos] != '\n' {
			l.pos++
		}
	}
	if l.pos >= len(l.src) {
		return l.finish()
	}
	c := l.src[l.pos]
	switch {
	case c == '\n':
		return l.newline()
	case c == '\\':
		if l.at(1) != '\n' {
			return l.fail(lineContinuation)
		}
		l.pos += 2
		l.line++
		return true
	case isDigit(c) || c == '.' && isDigit(l.at(1)):
		return l.number()
	case c == '\'' || c == '"':
		return l.quoted(l.pos)
	case isNameByte(c):
		return l.name()
	}
	return l.operator(c)
}

// finish adds what the end of the source means.
func (l *lexer) finish() bool {
	if n := len(l.open); n > 0 {
		l.emit(tokUnclosed, fmt.Sprintf("'%c' was never closed", l.open[n-1].char))
		return false
	}
	l.emit(tokNewline, "")
	l.emit(tokEnd, "")
	return false
}

// newline ends a logical line outside brackets; empty and comment lines do
// not count. Any indented further line is out of place in an expression.
func (l *lexer) newline() bool {
	l.pos++
	l.line++
	if len(l.open) > 0 {
		return true
	}
	if n := len(l.out); n > 0 && l.out[n-1].kind != tokNewline {
		l.emit(tokNewline, "")
	}
	p := l.pos
	for p < len(l.src) && (l.src[p] == ' ' || l.src[p] == '\t') {
		p++
	}
	if p > l.pos && p < len(l.src) && !strings.ContainsRune("\n#\f", rune(l.src[p])) {
		l.emit(tokIndent, "")
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNameByte says whether c can be part of a name; what the bytes above
// ASCII really are is checked when the name is complete.
func isNameByte(c byte) bool {
	return c == '_' || c >= utf8.RuneSelf || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func (l *lexer) name() bool {
	start := l.pos
	// A run of prefix letters directly before a quote belongs to a string.
	prefix := l.pos
	for prefix < len(l.src) && prefix-start < 2 && strings.IndexByte("bBrRuUfF", l.src[prefix]) >= 0 {
		prefix++
	}
	for p := start + 1; p <= prefix && p < len(l.src); p++ {
		if q := l.src[p]; (q == '\'' || q == '"') && isStringPrefix(l.src[start:p]) {
			l.pos = p
			return l.quoted(start)
		}
	}
	for l.pos < len(l.src) && isNameByte(l.src[l.pos]) {
		l.pos++
	}
	text := l.src[start:l.pos]
	for i, r := range text {
		if r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_ID_Start) {
			continue
		}
		if i > 0 && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Other_ID_Continue) {
			continue
		}
		return l.badRune(r)
	}
	l.emit(tokName, text)
	return true
}

func isStringPrefix(p string) bool {
	switch strings.ToLower(p) {
	case "", "b", "r", "u", "f", "br", "rb", "fr", "rf":
		return true
	}
	return false
}

func (l *lexer) badRune(r rune) bool {
	if !unicode.IsPrint(r) {
		return l.fail("invalid non-printable character U+%04X", r)
	}
	return l.fail("invalid character '%c' (U+%04X)", r, r)
}

// quoted reads a string literal whose prefix starts at start and whose
// quote is here.
func (l *lexer) quoted(start int) bool {
	q := l.src[l.pos]
	triple := strings.HasPrefix(l.src[l.pos:], strings.Repeat(string(q), 3))
	size := 1
	if triple {
		size = 3
	}
	first := l.line
	for l.pos += size; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; {
		case c == '\n' && !triple:
			return l.fail("unterminated string literal (detected at line %d)", l.line)
		case c == '\n':
			l.line++
		case c == '\\':
			l.pos++
			if l.at(0) == '\n' {
				l.line++
			}
		case c == q && (!triple || l.at(1) == q && l.at(2) == q):
			l.pos += size
			l.out = append(l.out, token{tokString, l.src[start:l.pos], len(l.open), first})
			return true
		}
	}
	if triple {
		return l.fail("unterminated triple-quoted string literal (detected at line %d)", l.line)
	}
	return l.fail("unterminated string literal (detected at line %d)", l.line)
}

// operator reads the longest operator that starts here. Characters that mean
// nothing in Python come out as operators too; no rule accepts them.
func (l *lexer) operator(c byte) bool {
	if c < ' ' || c == 0x7f {
		return l.badRune(rune(c))
	}
	rest := l.src[l.pos:]
	text := rest[:1]
	for _, op := range [...]string{
		"**=", "//=", ">>=", "<<=", "...",
		"!=", "%=", "&=", "**", "*=", "+=", "-=", "->", "//", "/=", ":=", "<<", "<=", "<>", "==", ">=", ">>", "@=", "^=", "|=",
	} {
		if strings.HasPrefix(rest, op) {
			text = op
			break
		}
	}
	l.pos += len(text)
	switch c {
	case '(', '[', '{':
		if len(l.open) >= maxBrackets {
			return l.fail("too many nested parentheses")
		}
		l.open = append(l.open, bracket{c, l.line})
	case ')', ']', '}':
		n := len(l.open)
		if n == 0 {
			return l.fail("unmatched '%c'", c)
		}
		last := l.open[n-1]
		l.open = l.open[:n-1]
		if want := [...]byte{'(': ')', '[': ']', '{': '}'}[last.char]; c != want {
			if last.line != l.line {
				return l.fail("closing parenthesis '%c' does not match opening parenthesis '%c' on line %d", c, last.char, last.line)
			}
			return l.fail("closing parenthesis '%c' does not match opening parenthesis '%c'", c, last.char)
		}
	case '^':
		if l.power && text == "^" {
			text = "**"
		}
	}
	l.emit(tokOp, text)
	return true
}
