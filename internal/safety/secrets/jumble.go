package secrets

import "strings"

const (
	noiseLeast = 32 // what a generator of keys with every sign makes is at least so long
	noiseMost  = 160
	noiseRow   = 7 // more letters of one case in a row are a word
	noiseSigns = 5 // so many different signs are in it
)

// noise: what a generator makes of every sign there is, such as the salts of
// WordPress. It may have spaces, brackets and quotes in it, and nobody writes a
// pattern or a sentence like this.
func noise(text string, m composition) bool {
	if len(text) < noiseLeast || len(text) > noiseMost || m.bits < 4.2 || m.digit < 2 || m.letters() < 8 || m.other < 6 || 5*m.other > 3*len(text) || strings.IndexByte(text, '\\') >= 0 || strings.Contains(text, "://") {
		return false
	}
	var signs byteSet
	kinds, row, spaces, odd := 0, 0, 0, 0
	for i := range len(text) {
		c := text[i]
		if letter(c) {
			if row++; row > 1 && upper(c) != upper(text[i-1]) {
				row = 1
			}
			if row > noiseRow {
				return false
			}
			continue
		}
		row = 0
		switch {
		case digit(c):
		case c < ' ' || c >= 0x7f:
			return false
		case c == ' ':
			spaces++
		case !signs.has(c):
			signs.add(c)
			kinds++
			if strings.IndexByte("!@#~;,<>=%&", c) >= 0 {
				odd++ // patterns seldom have these
			}
		}
	}
	return kinds >= noiseSigns && odd >= 3 && 12*spaces <= len(text)
}

// jumbleLeast is the length of the shortest word whose case is looked at.
const jumbleLeast = 8

// jumbled: capitals and small letters take turns in a word as in no name, so that
// the signs in the text do not stand between words.
func jumbled(text string) bool {
	for from := 0; from < len(text); {
		to := from
		turns := 0
		for to < len(text) && letter(text[to]) {
			if to > from && upper(text[to]) != upper(text[to-1]) {
				turns++
			}
			to++
		}
		if to-from >= jumbleLeast && 2*turns >= to-from && !wordy(text[from:to]) {
			return true
		}
		from = to + 1
	}
	return false
}

// leet: digits stand for letters within words, as in h4rdc0d3d, and not as the
// number of a version.
func leet(text string) bool {
	inner := 0
	for i := 1; i < len(text); i++ {
		if !digit(text[i]) || !letter(text[i-1]) {
			continue
		}
		for i < len(text) && digit(text[i]) {
			i++
		}
		if i < len(text) && letter(text[i]) {
			inner++
		}
	}
	return inner > 1 || inner == 1 && turnsOf(text) > 2 && !containsFold(text, "alpha") && !containsFold(text, "beta")
}
