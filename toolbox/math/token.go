package math

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokName tokenKind = iota // identifiers and keywords
	tokNumber
	tokString
	tokOp // an operator, a bracket, or the end of a line outside brackets
	tokEnd
)

type token struct {
	kind tokenKind
	text string
}

// lexer cuts an expression into tokens.
type lexer struct {
	src   string
	pos   int
	open  []byte // brackets
	out   []token
	power bool // read ^ as **, as people write equations
}

// lex gives the tokens, up to what is none.
func lex(src string, caretIsPower bool) ([]token, error) {
	l := &lexer{src: strings.ReplaceAll(src, "\r\n", "\n"), power: caretIsPower}
	for l.pos < len(l.src) {
		if err := l.next(); err != nil {
			return l.out, err
		}
	}
	if n := len(l.open); n > 0 {
		return l.out, syntaxError(fmt.Sprintf("'%c' was never closed", l.open[n-1]))
	}
	l.emit(tokEnd, "")
	return l.out, nil
}

func (l *lexer) emit(k tokenKind, text string) {
	l.out = append(l.out, token{k, text})
	l.pos += len(text)
}

// number matches the longest number at the beginning of a text.
var number = regexp.MustCompile(`^(0[xX](_?[0-9a-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+|` +
	`([0-9](_?[0-9])*(\.([0-9](_?[0-9])*)?)?|\.[0-9](_?[0-9])*)([eE][+-]?[0-9](_?[0-9])*)?[jJ]?)`)

// next reads one token, or what stands between tokens.
func (l *lexer) next() error {
	rest := l.src[l.pos:]
	c := rest[0]
	switch {
	case c == ' ' || c == '\t' || c == '\f' || c == '\n' && len(l.open) > 0:
		l.pos++
	case c == '#':
		line, _, _ := strings.Cut(rest, "\n")
		l.pos += len(line)
	case c == '\\' && strings.HasPrefix(rest, "\\\n"):
		l.pos += 2
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		text := number.FindString(rest)
		if after := rest[len(text):]; after != "" && isNameByte(after[0]) && after[0] < utf8.RuneSelf {
			return syntaxError("invalid decimal literal")
		}
		if c == '0' && strings.Trim(text, "0123456789_") == "" && strings.Trim(text, "0_") != "" {
			return syntaxError("leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
		}
		l.emit(tokNumber, text)
	case c == '\'' || c == '"':
		return l.quoted(rest)
	case isNameByte(c):
		return l.name(rest)
	default:
		return l.operator(rest)
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNameByte says whether c can be part of a name; what the bytes above
// ASCII really are is checked when the name is complete.
func isNameByte(c byte) bool {
	return c == '_' || c >= utf8.RuneSelf || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func (l *lexer) name(rest string) error {
	end := 0
	for end < len(rest) && isNameByte(rest[end]) {
		end++
	}
	for i, r := range rest[:end] {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc)) {
			return badRune(r)
		}
	}
	l.emit(tokName, rest[:end])
	return nil
}

func badRune(r rune) error {
	if !unicode.IsPrint(r) {
		return syntaxError(fmt.Sprintf("invalid non-printable character U+%04X", r))
	}
	return syntaxError(fmt.Sprintf("invalid character '%c' (U+%04X)", r, r))
}

func (l *lexer) quoted(rest string) error {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			l.emit(tokString, rest[:i+1])
			return nil
		}
	}
	return syntaxError("unterminated string literal")
}

// operator reads the longest operator that starts here. Characters that mean
// nothing come out as operators too; no rule accepts them.
func (l *lexer) operator(rest string) error {
	c := rest[0]
	if c < ' ' && c != '\n' || c == 0x7f {
		return badRune(rune(c))
	}
	text := rest[:1]
	for _, op := range [...]string{"**", "//", "<<", ">>", "<=", ">=", "==", "!="} {
		if strings.HasPrefix(rest, op) {
			text = op
		}
	}
	switch n := len(l.open); c {
	case '(', '[', '{':
		l.open = append(l.open, c)
	case ')', ']', '}':
		if n == 0 {
			return syntaxError(fmt.Sprintf("unmatched '%c'", c))
		}
		if !strings.Contains("()[]{}", string([]byte{l.open[n-1], c})) {
			return syntaxError(fmt.Sprintf("closing parenthesis '%c' does not match opening parenthesis '%c'", c, l.open[n-1]))
		}
		l.open = l.open[:n-1]
	}
	l.emit(tokOp, text)
	if text == "^" && l.power {
		l.out[len(l.out)-1].text = "**"
	}
	return nil
}
