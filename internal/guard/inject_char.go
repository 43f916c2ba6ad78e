package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden reports whether a character beyond ASCII is not seen by a person, or
// changes how its neighbours are shown, while a model still reads it. The
// ranges are spelt out because every character of a result is asked about.
func hidden(r rune) bool {
	switch {
	case r < 0xa0:
		return true // C1 controls: a terminal obeys them as it does ESC
	case r < 0x2000:
		switch {
		case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
			return true
		}
		return r >= 0x180b && r <= 0x180f
	case r < 0x2100:
		return r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f
	case r < 0xfe00:
		return r == 0x2800 || r == 0x3164
	case r < 0x10000:
		return r <= 0xfe0f || r == 0xfeff || r == 0xffa0 || r >= 0xfff0 && r <= 0xfffb
	}
	return r >= 0xe0000 && r <= 0xe0fff || r >= 0x13430 && r <= 0x1343f || r >= 0x1bca0 && r <= 0x1bca3 || r >= 0x1d173 && r <= 0x1d17a
}

// belongs reports whether a hidden character does honest work where it stands:
// between the letters of a script that needs it, or inside an emoji. One at a
// time only, since a row of them carries a message. prev is what was written
// before it, rest is what follows.
func belongs(r, prev rune, rest string) bool {
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
		return unicode.Is(unicode.Mongolian, prev) && !hidden(prev)
	case r == 0x2800: // the blank of Braille
		return braille(prev) || braille(next)
	}
	return false
}

// joining are the scripts whose letters look different with a joiner.
func joining(r rune) bool {
	if r < 0x600 || r == utf8.RuneError || hidden(r) {
		return false
	}
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer,
		unicode.Myanmar, unicode.Tibetan, unicode.Mongolian, unicode.Balinese, unicode.Javanese, unicode.Sundanese)
}

func unspaced(r rune) bool {
	return r >= 0xe00 && !hidden(r) && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

func rightToLeft(r rune) bool {
	return r >= 0x590 && !hidden(r) && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
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

// tagged gives the length of a flag that is spelt in tag characters behind a
// black flag, which stands at the beginning of text. There are three.
func tagged(text string) int {
	const black = "\U0001f3f4"
	for _, flag := range [...]string{
		"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
	} {
		if strings.HasPrefix(text[len(black):], flag) {
			return len(black) + len(flag)
		}
	}
	return 0
}
