package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Invisible reports whether a person cannot see a character as what it is: it
// has no shape, steers a terminal, or changes the order of its neighbours, while
// a model or a program still reads it. Line ends and tabs are among them; callers
// that allow those say so.
//
// This is the only table of invisible characters. The ranges are spelled out
// because every character of a result is looked up; a test holds them against
// the tables of Unicode.
func Invisible(r rune) bool {
	switch {
	case r < 0xa0:
		return r < ' ' || r >= 0x7f // C0, DEL and C1: a terminal obeys all of them
	case r < 0x2000:
		switch {
		case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
			return true
		}
		return r >= 0x180b && r <= 0x180f
	case r < 0x2100:
		return r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f
	case r < 0xd800:
		return r == 0x2800 || r == 0x3164
	case r < 0xe000:
		return true // halves of characters
	case r < 0x10000:
		return r >= 0xfe00 && r <= 0xfe0f || r == 0xfeff || r == 0xffa0 || r >= 0xfff0 && r <= 0xfffb
	}
	return r >= 0xe0000 && r <= 0xe0fff || r >= 0x13430 && r <= 0x1343f || r >= 0x1bca0 && r <= 0x1bca3 || r == 0x1d159 || r >= 0x1d173 && r <= 0x1d17a
}

// Blank reports whether a character looks like a space and is another one: two
// names that differ in it look the same.
func Blank(r rune) bool { return r > 0x7f && unicode.Is(unicode.Zs, r) }

// Code writes a character out as [U+200B].
func Code(r rune) string { return string(AppendCode(nil, r, 1)) }

// AppendCode appends a character that stands there a number of times in a row:
// [U+200B], or [U+200B*12].
func AppendCode(dst []byte, r rune, times int) []byte {
	const digits = "0123456789ABCDEF"
	dst = append(dst, "[U+"...)
	for shift := 20; shift >= 0; shift -= 4 {
		if shift < 16 || r>>shift != 0 {
			dst = append(dst, digits[r>>shift&15])
		}
	}
	if times > 1 {
		dst = strconv.AppendInt(append(dst, '*'), int64(times), 10)
	}
	return append(dst, ']')
}

// Show writes out every invisible character of a text, whatever it is good for.
// Line ends and tabs stay.
func Show(s string) string {
	return Escape(s, func(r rune) bool { return r != '\n' && r != '\t' && Invisible(r) }, Code)
}

// ShowLine is Show for texts that must stay on one line: line ends and tabs
// become \n and \t.
func ShowLine(s string) string {
	return Escape(s, Invisible, func(r rune) string {
		switch r {
		case '\n':
			return `\n`
		case '\t':
			return `\t`
		}
		return Code(r)
	})
}

// ShowExact is ShowLine for what a person decides on: spaces other than the plain
// one and broken bytes are written out too, and tabs stay.
func ShowExact(s string) string {
	return Escape(s, func(r rune) bool { return r != '\t' && Invisible(r) || Blank(r) || r == unicode.ReplacementChar }, func(r rune) string {
		if r == '\n' {
			return `\n`
		}
		return Code(r)
	})
}

// ShowJSON is Show for a text that is JSON, and stays the same JSON: characters
// are written out as JSON does, those beyond four digits as two codes. The line
// ends and tabs between its values stay.
func ShowJSON(s string) string {
	return Escape(s, func(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && Invisible(r) }, func(r rune) string {
		if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// Escape replaces the characters that odd reports. A text without any comes back
// as it is.
func Escape(s string, odd func(rune) bool, code func(rune) string) string {
	at := strings.IndexFunc(s, odd)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:at])
	for _, r := range s[at:] {
		if odd(r) {
			b.WriteString(code(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
