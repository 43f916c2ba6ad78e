package find

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxText  = 20_000 // bytes of one field or query that are looked at
	maxToken = 64     // bytes of one word; what is longer is data, not language
)

// tokens cuts a text into lower-case words: runs of letters or of digits.
// Scripts that write without spaces are cut into pairs of characters, the usual
// stand-in for a word there.
func tokens(text string) []string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	var out []string
	var word strings.Builder
	kind := other
	var dense []rune
	flush := func() {
		if word.Len() > 0 && word.Len() <= maxToken {
			out = append(out, word.String())
		}
		word.Reset()
		for i := range dense {
			if i+1 < len(dense) {
				out = append(out, string(dense[i:i+2]))
			} else if len(dense) == 1 {
				out = append(out, string(dense))
			}
		}
		dense = dense[:0]
		kind = other
	}
	for _, r := range text {
		k := kindOf(r)
		switch {
		case k == apostrophe && kind == letter:
			continue // don't is one word, and so is o'clock
		case k != kind:
			flush()
		}
		kind = k
		switch k {
		case letter, digit:
			word.WriteRune(fold(r))
		case ideograph:
			dense = append(dense, r)
		}
	}
	flush()
	return out
}

type runeKind uint8

const (
	other runeKind = iota
	letter
	digit
	ideograph
	apostrophe
)

func kindOf(r rune) runeKind {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return letter
		case '0' <= r && r <= '9':
			return digit
		case r == '\'':
			return apostrophe
		}
		return other
	case r == '’':
		return apostrophe
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return ideograph
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

// fold lowers a letter and takes the accent off the common Latin ones, since
// people leave accents out when they search.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	r = unicode.ToLower(r)
	switch {
	case strings.ContainsRune("àáâãäåā", r):
		return 'a'
	case strings.ContainsRune("èéêëēę", r):
		return 'e'
	case strings.ContainsRune("ìíîïī", r):
		return 'i'
	case strings.ContainsRune("òóôõöøō", r):
		return 'o'
	case strings.ContainsRune("ùúûüū", r):
		return 'u'
	case r == 'ç' || r == 'č' || r == 'ć':
		return 'c'
	case r == 'ñ' || r == 'ń':
		return 'n'
	}
	return r
}

// nameParts cuts an identifier into words at case changes, digits and signs:
// getHTTPStatus2 is get, http, status, 2.
func nameParts(name string) []string {
	if len(name) > maxText {
		name = name[:maxText]
	}
	var spaced strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) {
			lowerBefore := unicode.IsLower(runes[i-1])
			acronymEnds := unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if lowerBefore || acronymEnds {
				spaced.WriteByte(' ')
			}
		}
		spaced.WriteRune(r)
	}
	return tokens(spaced.String())
}

// joined is an identifier as one word, the way people type a product's name.
func joined(name string) string { return strings.Join(tokens(name), "") }
