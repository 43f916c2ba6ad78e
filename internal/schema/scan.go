package schema

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// skipPlain skips ordinary characters of a string: ASCII, no quote, no backslash, no control character. It looks at eight
// bytes at a time; a borrow can spoil only the bytes above the first hit, and those are not used.
func skipPlain(text []byte, i int) int {
	for i+8 <= len(text) {
		x := binary.LittleEndian.Uint64(text[i:])
		quote, slash := x^ones*'"', x^ones*'\\'
		hit := (x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash | x
		if hit &= tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
		i += 8
	}
	for i < len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
		i++
	}
	return i
}

// scanString reads the string that starts at i and appends its node.
func (d *Doc) scanString(i int) (int, fault) {
	start := i
	for i++; ; {
		i = skipPlain(d.text, i)
		if i == len(d.text) {
			return i, fault{start, "this string is never closed, the text ends inside it"}
		}
		switch c := d.text[i]; {
		case c == '"':
			d.nodes = append(d.nodes, node{kind: String, start: uint32(start), end: uint32(i + 1),
				next: uint32(len(d.nodes) + 1), a: uint32(start + 1), b: uint32(i)})
			return i + 1, fault{}
		case c == '\\':
			return d.scanEscaped(start, i)
		case c < ' ':
			return i, controlFault(i, c)
		default:
			r, n := utf8.DecodeRune(d.text[i:])
			if r == utf8.RuneError && n <= 1 {
				return i, fault{i, fmt.Sprintf("byte 0x%02x is not valid UTF-8", c)}
			}
			i += n
		}
	}
}

// scanEscaped finishes a string in which an escape stands at i; the decoded form goes to d.dec.
func (d *Doc) scanEscaped(start, i int) (int, fault) {
	d.tight = false
	from := len(d.dec)
	d.dec = append(d.dec, d.text[start+1:i]...)
	for {
		if i == len(d.text) {
			return i, fault{start, "this string is never closed, the text ends inside it"}
		}
		switch c := d.text[i]; {
		case c == '"':
			d.nodes = append(d.nodes, node{kind: String, flags: flagEscaped, start: uint32(start), end: uint32(i + 1),
				next: uint32(len(d.nodes) + 1), a: uint32(from), b: uint32(len(d.dec))})
			return i + 1, fault{}
		case c == '\\':
			r, n, msg := d.escape(i)
			if msg != "" {
				return i, fault{i, msg}
			}
			d.dec = utf8.AppendRune(d.dec, r)
			i += n
		case c < ' ':
			return i, controlFault(i, c)
		case c < utf8.RuneSelf:
			end := skipPlain(d.text, i)
			d.dec = append(d.dec, d.text[i:end]...)
			i = end
		default:
			r, n := utf8.DecodeRune(d.text[i:])
			if r == utf8.RuneError && n <= 1 {
				return i, fault{i, fmt.Sprintf("byte 0x%02x is not valid UTF-8", c)}
			}
			d.dec = append(d.dec, d.text[i:i+n]...)
			i += n
		}
	}
}

// escape decodes the escape at i and says how long it is.
func (d *Doc) escape(i int) (r rune, n int, msg string) {
	if i+1 >= len(d.text) {
		return 0, 0, "the text ends inside an escape"
	}
	r, n = jsontext.Escape(d.text, i)
	if half, ok := jsontext.EscapedUnit(d.text, i); ok && r == utf8.RuneError && utf16.IsSurrogate(half) {
		return 0, 0, fmt.Sprintf(`lone surrogate \u%04x: it is half of a pair and names no character`, half)
	}
	switch {
	case n > 0:
		return r, n, ""
	case d.text[i+1] == 'u':
		return 0, 0, `\u needs four hexadecimal digits`
	}
	return 0, 0, fmt.Sprintf(`%s after a backslash is not an escape of JSON; write \\ for a backslash`, d.char(i+1))
}

// scanNumber reads the number at i and appends its node. The literal is kept as written, whatever its size.
func (d *Doc) scanNumber(i int) (int, fault) {
	text, start := d.text, i
	if text[i] == '-' {
		i++
	}
	first := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	switch {
	case i == first:
		return start, d.badNumber(start)
	case text[first] == '0' && i > first+1:
		return start, fault{first, "a number must not have leading zeros"}
	}
	flags := flagInt
	if i < len(text) && text[i] == '.' {
		flags = 0
		dot, some := i, byte(0)
		for i++; i < len(text) && text[i]-'0' <= 9; i++ {
			some |= text[i] - '0'
		}
		d.wholes = d.wholes || some == 0
		if i == dot+1 {
			return start, fault{dot, "a number needs a digit after the decimal point"}
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		flags = 0
		d.wholes = true
		e := i
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		digits := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		if i == digits {
			return start, fault{e, "a number needs a digit in its exponent"}
		}
	}
	d.nodes = append(d.nodes, node{kind: Number, flags: flags, start: uint32(start), end: uint32(i), next: uint32(len(d.nodes) + 1)})
	return i, fault{}
}

// scanWord reads true, false or null.
func (d *Doc) scanWord(i int) (int, fault) {
	n := node{start: uint32(i), next: uint32(len(d.nodes) + 1)}
	rest := d.text[i:]
	switch {
	case len(rest) >= 4 && string(rest[:4]) == "true":
		n.kind, n.flags, n.end = Bool, flagTrue, n.start+4
	case len(rest) >= 5 && string(rest[:5]) == "false":
		n.kind, n.end = Bool, n.start+5
	case len(rest) >= 4 && string(rest[:4]) == "null":
		n.kind, n.end = Null, n.start+4
	default:
		return i, d.badValue(i)
	}
	d.nodes = append(d.nodes, n)
	return int(n.end), fault{}
}
