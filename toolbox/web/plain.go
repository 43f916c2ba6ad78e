package web

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// maxMarks is how many marks a letter may carry. No language needs more; more
// are a way to draw over the lines around.
const maxMarks = 6

// plain is a text from elsewhere without what cannot be seen: nothing in it
// moves a cursor, colours a screen, turns the direction of writing, or carries
// words that a model reads and a person does not. Lines and tabs stay.
func plain(text string) string {
	if isPlainASCII(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var last rune // the last one written
	marks := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case r == '\u200c' || r == '\u200d': // some scripts are misspelt without
			next, _ := utf8.DecodeRuneInString(text[i:])
			if !joins(last) || !joins(next) {
				continue
			}
		case r == '\r':
			if strings.HasPrefix(text[i:], "\n") {
				continue
			}
			r = '\n'
		case r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			r = '\n'
		case r != '\n' && r != '\t' && unicode.Is(unicode.Zs, r):
			r = ' '
		case r != '\n' && r != '\t' && unseen(r):
			continue
		}
		if unicode.Is(unicode.M, r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

func isPlainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// unseen reports whether a character shows nothing: pages are full of soft
// hyphens and joints that mean nothing outside of a browser. Private and
// unassigned characters are taken out as well.
func unseen(r rune) bool {
	return text.Invisible(r) || unicode.In(r, unicode.C) || !unicode.IsPrint(r) && !unicode.IsSpace(r)
}

// joins reports whether a letter is of a script in which a joiner between two
// letters is a part of the spelling.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.Is(unicode.M, r)) && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}

// line is a text on one line, without spaces at its ends.
func line(text string) string { return strings.Join(strings.Fields(plain(text)), " ") }
