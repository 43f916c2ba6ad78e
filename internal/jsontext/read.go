package jsontext

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote is what a string token says. Half a surrogate and broken bytes become
// U+FFFD, as for encoding/json. An escape that means nothing stays as it is
// written, and ok is false.
func Unquote[S Text](token S) (said string, ok bool) {
	if len(token) < 2 || token[0] != '"' || token[len(token)-1] != '"' {
		return valid(string(token)), false
	}
	return Unescape(token[1 : len(token)-1])
}

// Unescape is Unquote for what stands between the quotes.
func Unescape[S Text](body S) (said string, ok bool) {
	if indexByte(body, 0, '\\') < 0 {
		return valid(string(body)), true
	}
	out, ok := AppendUnescaped(make([]byte, 0, len(body)), body)
	return valid(string(out)), ok
}

// AppendUnescaped is Unescape for callers that have to see broken bytes as they
// are.
func AppendUnescaped[S Text](dst []byte, body S) (said []byte, ok bool) {
	ok = true
	for from := 0; ; {
		at := indexByte(body, from, '\\')
		if at < 0 {
			return append(dst, body[from:]...), ok
		}
		dst = append(dst, body[from:at]...)
		r, size := Escape(body, at)
		if size == 0 {
			r, size, ok = '\\', 1, false
		}
		dst = utf8.AppendRune(dst, r)
		from = at + size
	}
}

// Escape reads the escape at i; its size is 0 if it means nothing. Half a
// surrogate is U+FFFD.
func Escape[S Text](s S, i int) (r rune, size int) {
	if i+1 >= len(s) {
		return 0, 0
	}
	const letters, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if at := strings.IndexByte(letters, s[i+1]); at >= 0 {
		return rune(meanings[at]), 2
	}
	r, ok := EscapedUnit(s, i)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := EscapedUnit(s, i+6); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

// EscapedUnit reads \uXXXX at i: a character, or half of a surrogate pair.
func EscapedUnit[S Text](s S, i int) (rune, bool) {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for j := i + 2; j < i+6; j++ {
		c := s[j]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// valid puts U+FFFD in the place of each broken byte.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
