package condition

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The kinds of tokens. Operators and words of the language are told by their text.
const (
	atEnd = iota
	symbol
	word
	quotedWord // in backquotes, after a dot only
	literal
)

type token struct {
	kind  int
	text  string
	value any // of a literal
	at    int
}

// is: the token is this symbol, or this word of the language.
func (t token) is(text string) bool { return t.kind == symbol && t.text == text }

type scanner struct {
	problem
	text string
	pos  int
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c|32 >= 'a' && c|32 <= 'f' }
func isOctal(c byte) bool { return c >= '0' && c <= '7' }
func isQuote(c byte) bool { return c == '"' || c == '\'' }
func isWord(c byte) bool  { return isDigit(c) || c == '_' || c|32 >= 'a' && c|32 <= 'z' }

// isKey: it may stand between backquotes.
func isKey(c byte) bool { return isWord(c) || strings.IndexByte(".-/ ", c) >= 0 }

// span gives the end of the bytes from i on that fit.
func (s *scanner) span(i int, fits func(byte) bool) int {
	for i < len(s.text) && fits(s.text[i]) {
		i++
	}
	return i
}

func (s *scanner) at(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

// next reads a token. After a problem there is only the end.
func (s *scanner) next() token {
	for {
		s.pos = s.span(s.pos, func(c byte) bool { return strings.IndexByte("\t\n\f\r ", c) >= 0 })
		if !strings.HasPrefix(s.text[s.pos:], "//") {
			break
		}
		s.pos = s.span(s.pos, func(c byte) bool { return c != '\n' })
	}
	if s.err != nil || s.pos == len(s.text) {
		return token{at: len(s.text)}
	}
	start, c := s.pos, s.text[s.pos]
	t := token{kind: symbol, at: start}
	switch {
	case isQuote(c):
		t.kind, t.value = literal, s.quoted(start, false)
	case c|32 == 'r' && isQuote(s.at(start+1)):
		t.kind, t.value = literal, s.quoted(start+1, true)
	case isDigit(c) || c == '.' && isDigit(s.at(start+1)):
		t.kind, t.value = literal, s.number()
	case isWord(c):
		t.kind, s.pos = word, s.span(start, isWord)
		switch t.text = s.text[start:s.pos]; t.text {
		case "true", "false":
			t.kind, t.value = literal, t.text == "true"
		case "null":
			t.kind = literal
		case "in":
			t.kind = symbol
		}
		if isQuote(s.at(s.pos)) && strings.EqualFold(strings.TrimRight(t.text, "rR"), "b") {
			s.report(start, "bytes are left out: write a string, without the b before it")
		}
	case c == '`':
		t.kind, s.pos = quotedWord, s.span(start+1, isKey)
		t.text = s.text[start+1 : s.pos]
		if s.at(s.pos) != '`' || t.text == "" {
			s.report(start, "between backquotes are letters, digits and any of _ . - / and space; for other names write [\"...\"]")
		}
		s.pos++
	default:
		s.pos++
		if two := s.text[start:min(start+2, len(s.text))]; strings.Contains(" == != <= >= && || ", " "+two+" ") {
			s.pos++
		} else if strings.IndexByte("<>!+-*/%()[]{}.,?:", c) < 0 {
			r, _ := utf8.DecodeRuneInString(s.text[start:])
			s.report(start, "%q means nothing here%s", r, map[rune]string{'=': "; write == to compare", '&': "; write &&", '|': "; write ||", ';': "; an expression is one line of thought"}[r])
		}
		t.text = s.text[start:s.pos]
	}
	if s.err != nil {
		return token{at: len(s.text)}
	}
	return t
}

// number reads an int, a uint with a u behind it, or a double.
func (s *scanner) number() any {
	start := s.pos
	base, digits := 10, s.pos
	if s.at(start) == '0' && s.at(start+1) == 'x' && isHex(s.at(start+2)) {
		base, digits = 16, start+2
		s.pos = s.span(digits, isHex)
	} else {
		s.pos = s.span(start, isDigit)
		whole := s.pos
		if s.at(s.pos) == '.' && isDigit(s.at(s.pos+1)) {
			s.pos = s.span(s.pos+1, isDigit)
		}
		if e := s.pos; s.at(e)|32 == 'e' {
			if e++; s.at(e) == '+' || s.at(e) == '-' {
				e++
			}
			if isDigit(s.at(e)) {
				s.pos = s.span(e, isDigit)
			}
		}
		if s.pos > whole {
			f, err := strconv.ParseFloat(s.text[start:s.pos], 64)
			if err != nil {
				s.report(start, "the number %s is too large", s.text[start:s.pos])
			}
			return f
		}
	}
	text := s.text[digits:s.pos]
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		s.report(start, "the number %s is too large", text)
	}
	if s.at(s.pos)|32 == 'u' {
		s.pos++
		return n
	}
	return wholeNumber(n) // its sign is not known yet
}

// wholeNumber is the digits of an int: -9223372036854775808 is one, and without
// its sign it would be too large.
type wholeNumber uint64

// quoted reads a string from its first quote on.
func (s *scanner) quoted(open int, raw bool) string {
	quote := s.text[open : open+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.text[open:], triple) {
		quote = triple
	}
	var out strings.Builder
	for i := open + len(quote); i < len(s.text); {
		c := s.text[i]
		switch {
		case strings.HasPrefix(s.text[i:], quote):
			s.pos = i + len(quote)
			return out.String()
		case len(quote) == 1 && (c == '\n' || c == '\r'):
			s.report(open, "the string does not end on its line: use three quotes, or \\n")
			return ""
		case c == '\r': // the end of a line is always \n
			if s.at(i+1) != '\n' {
				out.WriteByte('\n')
			}
			i++
		case c == '\\' && !raw:
			r, size := s.escaped(i + 1)
			if size == 0 {
				s.report(i, "this escape is not known: write \\\\ for a backslash, or r before the string")
				return ""
			}
			out.WriteRune(r)
			i += 1 + size
		default:
			out.WriteByte(c)
			i++
		}
	}
	s.report(open, "the string does not end: there is no %s behind it", quote)
	return ""
}

// escaped gives the character of what stands behind a backslash, and how many
// bytes that are; none if it is no escape.
func (s *scanner) escaped(i int) (rune, int) {
	const letters, means = "abfnrtv\\'\"`?", "\a\b\f\n\r\t\v\\'\"`?"
	c, digits, base, fits := s.at(i), 0, 16, isHex
	switch c {
	case 'x', 'X':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case '0', '1', '2', '3':
		digits, base, fits = 2, 8, isOctal
	default:
		if at := strings.IndexByte(letters, c); at >= 0 && c != 0 {
			return rune(means[at]), 1
		}
		return 0, 0
	}
	from, end := i+1, i+1+digits
	if s.span(from, fits) < end {
		return 0, 0
	}
	if base == 8 {
		from = i
	}
	n, err := strconv.ParseUint(s.text[from:end], base, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return rune(n), end - i
}
