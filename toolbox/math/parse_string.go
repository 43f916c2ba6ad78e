package math

import (
	"fmt"
	"strings"
)

// stringLiterals reads adjacent string literals. No string has a numeric value, but
// which complaint comes first depends on whether it is a string at all.
func (p *parser) stringLiterals() *node {
	class, typ := classConstant, ""
	for p.tok().kind == tokString {
		t := p.tok()
		p.pos++
		quote := strings.IndexAny(t.text, `'"`)
		prefix := strings.ToLower(t.text[:quote])
		body := t.text[quote:]
		size := 1
		if len(body) >= 6 && body[:3] == strings.Repeat(body[:1], 3) {
			size = 3
		}
		body = body[size : len(body)-size]
		raw := strings.Contains(prefix, "r")
		kind := "str"
		if strings.Contains(prefix, "b") {
			kind = "bytes"
		}
		if typ != "" && typ != kind {
			p.fail("cannot mix bytes and nonbytes literals")
		}
		typ = kind
		var msg string
		switch {
		case strings.Contains(prefix, "f"):
			class = "JoinedStr"
			msg = p.formatted(body, raw, 0)
		case kind == "bytes":
			msg = checkBytes(body, raw)
		case !raw:
			msg = checkEscapes(body)
		}
		if msg != "" {
			p.fail(msg)
		}
	}
	return &node{class: class, name: typ}
}

func isHex(s string) bool {
	for i := range len(s) {
		if digitValue(s[i]) >= 16 {
			return false
		}
	}
	return true
}

// checkBytes returns what is wrong with the body of a bytes literal.
func checkBytes(body string, raw bool) string {
	for i := range len(body) {
		if body[i] >= 0x80 {
			return "bytes can only contain ASCII literal characters"
		}
	}
	out := 0 // length of the value so far; the complaint counts in it
	for i := 0; !raw && i < len(body); i, out = i+1, out+1 {
		if body[i] != '\\' || i+1 >= len(body) {
			continue
		}
		i++
		if body[i] == 'x' {
			if i+3 > len(body) || !isHex(body[i+1:i+3]) {
				return fmt.Sprintf(`(value error) invalid \x escape at position %d`, i-1)
			}
			i += 2
		}
	}
	return ""
}

// checkEscapes returns what is wrong with the escapes of a text literal.
func checkEscapes(body string) string {
	for i := 0; i+1 < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		start := i
		i++
		digits, shape := 0, ""
		switch body[i] {
		case 'x':
			digits, shape = 2, `\xXX`
		case 'u':
			digits, shape = 4, `\uXXXX`
		case 'U':
			digits, shape = 8, `\UXXXXXXXX`
		case 'N':
			end := strings.IndexByte(body[i:], '}')
			opened := i+1 < len(body) && body[i+1] == '{'
			if opened && end < 3 {
				return unicodeError(start, i+1+max(0, end-1), `malformed \N character escape`)
			}
			if !opened {
				return unicodeError(start, i, `malformed \N character escape`)
			}
			i += end
			continue
		default:
			continue
		}
		n := 0
		for n < digits && i+1+n < len(body) && digitValue(body[i+1+n]) < 16 {
			n++
		}
		if n < digits {
			return unicodeError(start, i+n, "truncated "+shape+" escape")
		}
		if digits == 8 && (body[i+1:i+3] != "00" || body[i+3:i+5] > "10") {
			return unicodeError(start, i+n, "illegal Unicode character")
		}
		i += n
	}
	return ""
}

func unicodeError(from, to int, what string) string {
	return fmt.Sprintf("(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: %s", from, to, what)
}
