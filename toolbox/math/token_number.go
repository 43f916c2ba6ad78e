package math

import (
	"fmt"
	"strings"
)

// number reads a numeric literal. Python is strict about what may follow one
// and has a different complaint for each mistake.
func (l *lexer) number() bool {
	start := l.pos
	kind := "decimal"
	if l.at(0) == '0' && l.at(1) != 0 {
		switch l.at(1) | 0x20 {
		case 'x':
			return l.based(start, "hexadecimal", 16)
		case 'o':
			return l.based(start, "octal", 8)
		case 'b':
			return l.based(start, "binary", 2)
		}
	}
	whole := true
	if l.at(0) != '.' {
		if !l.digits() {
			return false
		}
	}
	intEnd := l.pos
	if l.at(0) == '.' {
		whole = false
		l.pos++
		if isDigit(l.at(0)) && !l.digits() {
			return false
		}
	}
	if l.at(0)|0x20 == 'e' {
		skip := 1
		signed := l.at(1) == '+' || l.at(1) == '-'
		if signed {
			skip = 2
		}
		switch {
		case isDigit(l.at(skip)):
			whole = false
			l.pos += skip
			if !l.digits() {
				return false
			}
		case signed:
			return l.fail("invalid decimal literal")
		}
	}
	switch {
	case l.at(0)|0x20 == 'j':
		kind = "imaginary"
		l.pos++
	case whole && l.src[start] == '0' && strings.Trim(l.src[start:intEnd], "0_") != "":
		return l.fail("leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
	}
	return l.endNumber(start, kind)
}

// digits reads decimal digits with single underscores between them.
func (l *lexer) digits() bool {
	for {
		for isDigit(l.at(0)) {
			l.pos++
		}
		if l.at(0) != '_' {
			return true
		}
		l.pos++
		if !isDigit(l.at(0)) {
			return l.fail("invalid decimal literal")
		}
	}
}

// based reads the digits after 0x, 0o or 0b.
func (l *lexer) based(start int, kind string, base int) bool {
	l.pos += 2
	for {
		if l.at(0) == '_' {
			l.pos++
		}
		if c := l.at(0); digitValue(c) >= base {
			if isDigit(c) {
				return l.fail("invalid digit '%c' in %s literal", c, kind)
			}
			return l.fail("invalid %s literal", kind)
		}
		for digitValue(l.at(0)) < base {
			l.pos++
		}
		if l.at(0) != '_' {
			break
		}
	}
	if c := l.at(0); isDigit(c) {
		return l.fail("invalid digit '%c' in %s literal", c, kind)
	}
	return l.endNumber(start, kind)
}

func digitValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

// endNumber checks what follows: only the start of a keyword that can come
// after a value may touch a number.
func (l *lexer) endNumber(start int, kind string) bool {
	rest := l.src[l.pos:]
	glued := false
	for _, word := range [...]string{"and", "else", "for", "if", "in", "is", "or", "not"} {
		glued = glued || strings.HasPrefix(rest, word)
	}
	if c := l.at(0); !glued && c < 0x80 && isNameByte(c) {
		return l.fail("invalid %s literal", kind)
	}
	l.emit(tokNumber, l.src[start:l.pos])
	return true
}

// tooManyDigits is CPython's refusal of very long decimal whole numbers.
func tooManyDigits(n int) string {
	return fmt.Sprintf("Exceeds the limit (4300 digits) for integer string conversion: value has %d digits; "+
		"use sys.set_int_max_str_digits() to increase the limit - "+
		"Consider hexadecimal for huge integer literals to avoid decimal conversion limits.", n)
}
