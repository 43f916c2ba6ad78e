package dialect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// repr writes a text as Python's repr does, which its errors show names with.
func repr(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// newlines gives a text the line ends that Python reads: \n for each kind.
func newlines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// isLineEnd: Python ends a line there, besides after CR and LF together.
func isLineEnd(r rune) bool {
	switch r {
	case '\n', '\v', '\f', '\r', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// isSpace: Python's strip takes it away.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// splitLines gives the lines of a text without their ends, as Python's
// splitlines does.
func splitLines(s string) []string {
	var lines []string
	for s != "" {
		end := strings.IndexFunc(s, isLineEnd)
		if end < 0 {
			return append(lines, s)
		}
		lines = append(lines, s[:end])
		_, n := utf8.DecodeRuneInString(s[end:])
		if strings.HasPrefix(s[end:], "\r\n") {
			n = 2
		}
		s = s[end+n:]
	}
	return lines
}

// undecodable is what Python says of bytes that are no UTF-8; empty if they are.
func undecodable(data []byte) string {
	for at := 0; at < len(data); {
		if r, n := utf8.DecodeRune(data[at:]); r != utf8.RuneError || n > 1 {
			at += n
			continue
		}
		n, why := badSequence(data[at:])
		if n > 1 {
			return fmt.Sprintf("'utf-8' codec can't decode bytes in position %d-%d: %s", at, at+n-1, why)
		}
		return fmt.Sprintf("'utf-8' codec can't decode byte 0x%02x in position %d: %s", data[at], at, why)
	}
	return ""
}

// badSequence says how many bytes belong to the bad sequence at the beginning
// of some bytes, and what is wrong with it.
func badSequence(data []byte) (n int, why string) {
	size, low, high := 0, byte(0x80), byte(0xbf)
	switch c := data[0]; {
	case c < 0xc2 || c > 0xf4:
		return 1, "invalid start byte"
	case c < 0xe0:
		size = 2
	case c < 0xf0:
		size = 3
		if c == 0xe0 {
			low = 0xa0
		} else if c == 0xed {
			high = 0x9f
		}
	default:
		size = 4
		if c == 0xf0 {
			low = 0x90
		} else if c == 0xf4 {
			high = 0x8f
		}
	}
	for n = 1; n < size; n++ {
		if n == len(data) {
			return n, "unexpected end of data"
		}
		if data[n] < low || data[n] > high {
			return n, "invalid continuation byte"
		}
		low, high = 0x80, 0xbf
	}
	return n, ""
}

// wholeRunes drops a character that is cut off at the end.
func wholeRunes(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}
