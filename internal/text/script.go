package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Needed reports whether an invisible character does honest work where it
// stands: between the letters of a script that needs it, or inside an emoji. One
// at a time only, since a row of them can carry a message. prev is what was
// shown before it, rest is what follows.
func Needed(r, prev rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == 0x200c: // non-joiner
		return joining(prev) && joining(next)
	case r == 0x200d: // joiner
		return joining(prev) && joining(next) || (pictorial(prev) || prev == 0xfe0f) && pictorial(next)
	case r == 0x200b: // where a line may break, in scripts without spaces
		return unspaced(prev) && unspaced(next)
	case r == 0x200e, r == 0x200f, r == 0x61c: // direction marks
		return rightToLeft(prev) || rightToLeft(next)
	case r == 0xfe0e, r == 0xfe0f: // as text, as a picture
		return pictorial(prev) || prev >= '0' && prev <= '9' || prev == '#' || prev == '*'
	case r >= 0xfe00 && r <= 0xfe02:
		return unicode.Is(unicode.Han, prev) || unicode.Is(unicode.Sm, prev)
	case r >= 0xe0100 && r <= 0xe01ef:
		return unicode.Is(unicode.Han, prev)
	case r >= 0x180b && r <= 0x180f:
		return unicode.Is(unicode.Mongolian, prev) && !Invisible(prev)
	case r == 0x2800: // the blank of Braille
		return braille(prev) || braille(next)
	}
	return false
}

// joining reports whether the letters of a character's script look different
// with a joiner between them.
func joining(r rune) bool {
	if r < 0x600 || r == utf8.RuneError || Invisible(r) {
		return false
	}
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer,
		unicode.Myanmar, unicode.Tibetan, unicode.Mongolian, unicode.Balinese, unicode.Javanese, unicode.Sundanese)
}

func unspaced(r rune) bool {
	return r >= 0xe00 && !Invisible(r) && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

func rightToLeft(r rune) bool {
	return r >= 0x590 && !Invisible(r) && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

func braille(r rune) bool { return r > 0x2800 && r <= 0x28ff }

// pictorial is what an emoji can be made of: symbols and the few signs that
// have a picture.
func pictorial(r rune) bool {
	switch {
	case r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049, r == 0x2122, r == 0x2139, r == 0x3030, r == 0x303d, r == 0x3297, r == 0x3299:
		return true
	case r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x27bf, r >= 0x2900 && r <= 0x297f, r >= 0x2b00 && r <= 0x2bff:
		return true
	}
	return r >= 0x1f000 && r <= 0x1faff // with the tones of skin
}

// BlackFlag begins the flags that are spelled in tag characters.
const BlackFlag = '\U0001f3f4'

// Flag gives the length of such a flag at the beginning of a text, 0 if there is
// none. There are three: England, Scotland and Wales.
func Flag(s string) int {
	rest, ok := strings.CutPrefix(s, string(BlackFlag))
	if !ok {
		return 0
	}
	for _, tags := range [...]string{
		"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
	} {
		if strings.HasPrefix(rest, tags) {
			return len(s) - len(rest) + len(tags)
		}
	}
	return 0
}

// ShowForeign writes out the invisible characters of a text except where a
// script or an emoji needs them. Line ends and tabs stay. A row of the same
// character is written out once, with its length.
func ShowForeign(s string) string {
	out, last := []byte(nil), 0
	prev := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == BlackFlag:
			size = max(size, Flag(s[i:]))
		case r == '\n' || r == '\t' || !Invisible(r) || Needed(r, prev, s[i+size:]):
		default:
			n := 1
			for strings.HasPrefix(s[i+n*size:], s[i:i+size]) {
				n++
			}
			out = AppendCode(append(out, s[last:i]...), r, n)
			i += n * size
			last, prev = i, ']'
			continue
		}
		i, prev = i+size, r
	}
	if out == nil {
		return s
	}
	return string(append(out, s[last:]...))
}

// FirstHidden gives the first character that [ShowForeign] would write out.
func FirstHidden(s string) (r rune, found bool) {
	prev := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == BlackFlag {
			size = max(size, Flag(s[i:]))
		} else if r != '\n' && r != '\t' && Invisible(r) && !Needed(r, prev, s[i+size:]) {
			return r, true
		}
		i, prev = i+size, r
	}
	return 0, false
}
