package bus

import (
	"bytes"
	"math"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// str reads a string. The text is known to be UTF-8; a surrogate can only come
// in as an escape.
func (s *scanner) str() error {
	s.pos++
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c < 0x20:
			return s.fail("not JSON: a control character in a string")
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default:
			s.pos++
		}
	}
	return s.fail("not JSON: a string without end")
}

func (s *scanner) escape() error {
	if s.pos+1 >= len(s.text) {
		return s.fail("not JSON: a string without end")
	}
	switch s.text[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return nil
	case 'u':
	default:
		return s.fail("not JSON: an unknown escape")
	}
	r, ok := jsontext.EscapedUnit(s.text, s.pos)
	switch {
	case !ok:
		return s.fail("not JSON: an unknown escape")
	case r < 0xD800 || r > 0xDFFF:
		s.pos += 6
		return nil
	}
	if low, ok := jsontext.EscapedUnit(s.text, s.pos+6); r < 0xDC00 && ok && low >= 0xDC00 && low <= 0xDFFF {
		s.pos += 12
		return nil
	}
	if !s.mend {
		return s.fail("half a surrogate pair")
	}
	if !s.own {
		s.text, s.own = bytes.Clone(s.text), true
	}
	copy(s.text[s.pos:], `\ufffd`) // of the same length, so that spans stay true
	s.pos += 6
	return nil
}

// number reads a number and makes sure that it is finite as a double: Python's
// fast reader refuses a frame with 1e999 as a whole.
func (s *scanner) number() error {
	from := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	first := s.pos
	if !s.digits() || s.text[first] == '0' && s.pos > first+1 {
		return s.fail("not JSON: a malformed number")
	}
	digits, whole := s.pos-first, true
	if s.peek() == '.' {
		s.pos++
		whole = false
		if !s.digits() {
			return s.fail("not JSON: a malformed number")
		}
	}
	exponent := false
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		whole, exponent = false, true
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.fail("not JSON: a malformed number")
		}
	}
	text := s.text[from:s.pos]
	if s.ints && whole && digits > 18 && !fits64(string(text)) {
		return s.fail(BigInteger)
	}
	if exponent || digits > 308 {
		if f, _ := strconv.ParseFloat(string(text), 64); math.IsInf(f, 0) { // its error is the same infinity
			return s.fail("a number that is not finite")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.text) && isDigit(s.text[s.pos]) {
		s.pos++
	}
	return s.pos > from
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// fits64 takes what Python's fast writer takes: int64 and uint64.
func fits64(number string) bool {
	if _, err := strconv.ParseInt(number, 10, 64); err == nil {
		return true
	}
	_, err := strconv.ParseUint(number, 10, 64)
	return err == nil
}

// falsy tells whether Python counts a scanned JSON value as false.
func falsy(raw []byte) bool {
	switch raw[0] {
	case 'n', 'f':
		return true
	case '"':
		return len(raw) == 2
	case '[':
		return len(bytes.TrimLeft(raw[1:], " \t\r\n")) == 1
	case '-', '0':
		f, err := strconv.ParseFloat(string(raw), 64)
		return err == nil && f == 0
	}
	return false
}
