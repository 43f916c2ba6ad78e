package spoken

import (
	"strings"
	"unicode"
)

const (
	maxWords = 6
	maxWord  = 24 // in letters
)

// Plain gives the words of a text that a voice can say: the name of a tool or of a
// file becomes words (run_command: run command). What would be spelled out is left
// out: signs, numbers that are a part of an ID, and letters that make no word. It
// may leave nothing.
func Plain(text string) string {
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) }) {
		if len(words) == maxWords {
			break
		}
		if sayable(word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// sayable reports whether a voice reads letters as one word.
func sayable(word string) bool {
	letters, vowels, digits := 0, false, 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case r > unicode.MaxLatin1: // other scripts have no vowels that we know
			letters, vowels = letters+1, true
		default:
			letters++
			vowels = vowels || strings.ContainsRune("aeiouyäöüàáâãåæçèéêëìíîïòóôõøùúûý", unicode.ToLower(r))
		}
	}
	switch {
	case digits > 0:
		return letters == 0 && digits <= 4
	case letters == 1:
		return strings.ToLower(word) == "a"
	}
	return vowels && letters <= maxWord && (letters <= 1 || word != strings.ToUpper(word) || word == strings.ToLower(word))
}
