package secrets

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// part is a string of a JSON text, or a stretch of other text between two.
type part struct {
	from, to         int // in the JSON text, with the quotes
	flatFrom, flatTo int // its content in the flat text
	isString, isKey  bool
}

// flatten gives a JSON text with the escapes in its strings resolved. The
// scanner sees the rest as well: the key before a value tells what it is, and a
// key that is spread over a list of lines is one key.
func flatten(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var flat strings.Builder
	flat.Grow(len(raw))
	for at := 0; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			n = len(raw) - at
		}
		if n > 0 {
			flat.Write(raw[at : at+n])
			at += n
			continue
		}
		end := stringEnd(raw, at)
		flat.WriteByte('"')
		unquote(&flat, raw[at:end])
		flat.WriteByte('"')
		at = end
	}
	return flat.String()
}

// parts goes through what flat was made of. It is asked only where something
// was found, and keeps nothing: a text can be millions of empty strings.
func parts(raw []byte, see func(part)) {
	var scratch strings.Builder
	flat := 0
	for at := 0; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			n = len(raw) - at
		}
		if n > 0 {
			see(part{from: at, to: at + n, flatFrom: flat, flatTo: flat + n})
			at, flat = at+n, flat+n
			continue
		}
		t := part{from: at, to: stringEnd(raw, at), flatFrom: flat + 1, isString: true}
		size := max(0, t.to-t.from-2)
		if bytes.IndexByte(raw[t.from:t.to], '\\') >= 0 {
			scratch.Reset()
			unquote(&scratch, raw[t.from:t.to])
			size = scratch.Len()
		}
		t.flatTo = t.flatFrom + size
		at, flat = t.to, t.flatTo+1
		next := at
		for next < len(raw) && space(raw[next]) {
			next++
		}
		t.isKey = next < len(raw) && raw[next] == ':'
		see(t)
	}
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// stringEnd gives the index after the string that opens at i.
func stringEnd(raw []byte, i int) int {
	begin := i
	for i++; i < len(raw); i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			break
		}
		i += n
		slashes := 0
		for i-1-slashes > begin && raw[i-1-slashes] == '\\' {
			slashes++ // an even number of them escapes itself, not the quote
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(raw)
}

// unquote writes what a string token stands for.
func unquote(out *strings.Builder, quoted []byte) {
	if len(quoted) < 2 {
		return
	}
	text := quoted[1 : len(quoted)-1]
	for {
		n := bytes.IndexByte(text, '\\')
		if n < 0 || n+1 >= len(text) {
			out.Write(text)
			return
		}
		out.Write(text[:n])
		text = text[n:]
		switch text[1] {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			size := unicodeEscape(out, text)
			text = text[size:]
			continue
		default:
			out.WriteByte(text[1])
		}
		text = text[2:]
	}
}

// unicodeEscape writes the letter of one \u or of a pair of them.
func unicodeEscape(out *strings.Builder, text []byte) int {
	one := func(text []byte) (rune, bool) {
		if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
		return rune(n), err == nil
	}
	r, ok := one(text)
	if !ok {
		out.Write(text[:2])
		return 2
	}
	if utf16.IsSurrogate(r) {
		if low, ok := one(text[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				out.WriteRune(both)
				return 12
			}
		}
	}
	out.WriteRune(r) // half a pair becomes the replacement character
	return 6
}
