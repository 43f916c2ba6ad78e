package jsontext

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Text is JSON, or what a string of it says.
type Text interface{ string | []byte }

// AppendString appends s as a JSON string. Only the quote, the backslash and
// control characters are escaped; broken bytes become U+FFFD.
func AppendString[S Text](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			n := runeLen(s, i)
			if n == 0 {
				dst = append(append(dst, s[from:i]...), "\ufffd"...)
				i++
				from = i
				continue
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		i++
		from = i
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// Quote is a text as a JSON string.
func Quote[S Text](s S) []byte { return AppendString(make([]byte, 0, len(s)+2), s) }

// runeLen is the length of the character beyond ASCII at i, 0 if it is broken.
func runeLen[S Text](s S, i int) int {
	var b [utf8.UTFMax]byte
	n := copy(b[:], s[i:min(len(s), i+utf8.UTFMax)])
	if r, size := utf8.DecodeRune(b[:n]); r != utf8.RuneError || size > 1 {
		return size
	}
	return 0
}

// Marshal is json.Marshal that leaves <, > and & as they are: nothing of ours
// goes into a web page, and models read these texts.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
