package secrets

// wordy reports whether a text is put together from words, as names in source
// code are, rather than from random letters. The rules' own project asks a
// tokenizer of a language model with its vocabulary; this is a look at the
// letters: a text is wordy if most of its letters stand in stretches that can
// be pronounced.
func wordy(s string) bool {
	letters, spoken := 0, 0
	for i := 0; i < len(s); {
		if !letter(s[i]) {
			i++
			continue
		}
		// A stretch is letters of one case, the first may be a capital.
		from := i
		for i++; i < len(s) && letter(s[i]) && (upper(s[i]) == upper(s[i-1]) || i == from+1 && upper(s[from])); {
			i++
		}
		letters += i - from
		if pronounceable(s[from:i]) {
			spoken += i - from
		}
	}
	return spoken >= 10 && 4*spoken >= 3*letters && 3*letters >= 2*len(s)
}

func letter(c byte) bool { return lower(c) >= 'a' && lower(c) <= 'z' }
func upper(c byte) bool  { return c >= 'A' && c <= 'Z' }

// pronounceable: at least four letters with vowels among them, and never four
// consonants or three vowels in a row.
func pronounceable(s string) bool {
	vowels, row, kind := 0, 0, false
	for i := range len(s) {
		v := false
		switch lower(s[i]) {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			v = true
			vowels++
		}
		if v != kind {
			kind, row = v, 0
		}
		if row++; row > 3 || v && row > 2 {
			return false
		}
	}
	return len(s) >= 4 && 5*vowels >= len(s) && 5*vowels <= 3*len(s)
}
