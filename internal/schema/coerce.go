package schema

import (
	"bytes"
	"strconv"
)

// The conversions below are those of pydantic's lax mode, which the tools of OpenVoiceOS rely on. None of them loses
// anything; whatever is doubtful (an empty string, 3.5 for an integer, 2 for a boolean, anything for a string) is left
// for the validator to refuse.

// maxDigits is the longest string that is read as an integer, as in Python.
const maxDigits = 4300

// stringToNumber reads the text of a string as a number and gives it as a JSON literal. White space around it, a plus
// sign, leading zeros and single underscores between digits are accepted; with integer, a fraction must be all zeros and
// there must be no exponent.
func stringToNumber(s []byte, integer bool) ([]byte, bool) {
	s = bytes.TrimSpace(s)
	if len(s) == 0 || len(s) > maxDigits {
		return nil, false
	}
	lit := make([]byte, 0, len(s)+1)
	switch s[0] {
	case '-':
		lit = append(lit, '-')
		s = s[1:]
	case '+':
		s = s[1:]
	}
	whole, rest, ok := digits(s)
	if !ok {
		return nil, false
	}
	fraction, exponent := []byte(nil), []byte(nil)
	point := len(rest) > 0 && rest[0] == '.'
	if point {
		if fraction, rest, ok = digits(rest[1:]); !ok {
			return nil, false
		}
	}
	if len(rest) > 0 {
		if exponent, ok = exponentOf(rest); !ok {
			return nil, false
		}
	}
	if len(whole) == 0 && len(fraction) == 0 {
		return nil, false
	}
	lit = append(lit, bytes.TrimLeft(whole, "0")...)
	if n := len(lit); n == 0 || lit[n-1] == '-' {
		lit = append(lit, '0')
	}
	if integer {
		zeros := len(bytes.Trim(fraction, "0")) == 0
		if len(whole) == 0 || (point && len(fraction) == 0) || !zeros || exponent != nil {
			return nil, false
		}
		if string(lit) == "-0" {
			lit = lit[1:]
		}
		return lit, true
	}
	if len(fraction) > 0 {
		lit = append(append(lit, '.'), fraction...)
	}
	lit = append(lit, exponent...)
	if _, err := strconv.ParseFloat(string(lit), 64); err != nil {
		return nil, false // beyond any float: it would have become an infinity
	}
	return lit, true
}

// digits reads a run of digits with single underscores between them.
func digits(s []byte) (run, rest []byte, ok bool) {
	j, under := 0, false
	for ; j < len(s); j++ {
		if s[j] == '_' {
			if under = true; j == 0 || j+1 == len(s) || s[j+1]-'0' > 9 {
				return nil, nil, false
			}
			continue
		}
		if s[j]-'0' > 9 {
			break
		}
	}
	run = s[:j]
	if under {
		run = bytes.ReplaceAll(run, []byte("_"), nil)
	}
	return run, s[j:], true
}

// exponentOf reads e, a sign and digits that fill the rest of the string.
func exponentOf(s []byte) ([]byte, bool) {
	if s[0]|0x20 != 'e' {
		return nil, false
	}
	e, s := []byte{'e'}, s[1:]
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		e = append(e, s[0])
		s = s[1:]
	}
	run, rest, ok := digits(s)
	if !ok || len(run) == 0 || len(rest) > 0 {
		return nil, false
	}
	return append(e, run...), true
}

// stringToBool reads the words that stand for a boolean.
func stringToBool(s []byte) (string, bool) {
	if len(s) > 5 {
		return "", false
	}
	switch string(bytes.ToLower(s)) {
	case "1", "t", "true", "y", "yes", "on":
		return "true", true
	case "0", "f", "false", "n", "no", "off":
		return "false", true
	}
	return "", false
}

// convert gives the value at node i as a literal of type t, if that loses nothing. A value that has the type already is
// not its business.
func convert(d *Doc, i uint32, t typeSet) ([]byte, bool) {
	n := &d.nodes[i]
	switch {
	case t == integerType || t == kindBit(Number):
		switch n.kind {
		case String:
			return stringToNumber(d.str(i), t == integerType)
		case Bool:
			return []byte{'0' + n.flags/flagTrue&1}, true
		}
	case t == kindBit(Bool):
		switch n.kind {
		case String:
			word, ok := stringToBool(d.str(i))
			return []byte(word), ok
		case Number:
			x := parseDecimal(d.raw(i))
			if x.n == 0 {
				return []byte("false"), true
			}
			if one := parseDecimal([]byte{'1'}); x.compare(&one) == 0 {
				return []byte("true"), true
			}
		}
	}
	return nil, false
}
