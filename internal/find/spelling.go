package find

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	minSpelt = 4  // letters: shorter words are too close to each other
	maxSpelt = 24 // letters: longer ones are no words
	maxSlips = 3  // how many words one misspelt word may stand for
)

// spelling holds words by their length, to find the ones that a misspelt word
// may stand for. Nothing but the letters that occur in a word is kept beside it:
// that is enough to pass over nearly all others without comparing them.
type spelling [maxSpelt + 1][]spelt

type spelt struct {
	letters uint32 // one bit for each letter that occurs
	word    string
}

func newSpelling(words []string) *spelling {
	var s spelling
	for _, w := range words {
		if len(w) >= minSpelt && len(w) <= maxSpelt && plain(w) {
			s[len(w)] = append(s[len(w)], spelt{lettersOf(w), w})
		}
	}
	return &s
}

func lettersOf(word string) uint32 {
	var set uint32
	for i := range len(word) {
		set |= 1 << (word[i] - 'a')
	}
	return set
}

// slip is a way in which people mistype a word, the likeliest first.
type slip int

const (
	swapped slip = iota // two neighbours: wether for weather is none, waether is
	missed              // a letter too few or too many
	wrong               // another letter
	noSlip
)

// meant is a word that another may stand for.
type meant struct {
	slip slip
	word string
}

// near adds the words that are one slip away from a word to found.
func (s *spelling) near(word string, found []meant) []meant {
	if len(word) < minSpelt || len(word) > maxSpelt || !plain(word) {
		return found
	}
	letters := lettersOf(word)
	for n := len(word) - 1; n <= min(len(word)+1, maxSpelt); n++ {
		for i := range s[n] {
			have := &s[n][i]
			if bits.OnesCount32(letters^have.letters) > 2 {
				continue
			}
			if k := slipOf(word, have.word); k != noSlip {
				found = append(found, meant{k, have.word})
			}
		}
	}
	return found
}

// likeliest gives the words of the likeliest slip among those found, few
// enough to be worth a guess.
func likeliest(found []meant) []meant {
	slices.SortFunc(found, func(a, b meant) int { return cmp.Or(cmp.Compare(a.slip, b.slip), cmp.Compare(a.word, b.word)) })
	found = slices.Compact(found)
	for i := range found {
		if found[i].slip != found[0].slip || i == maxSlips {
			return found[:i]
		}
	}
	return found
}

// slipOf tells how a became b, by one slip. Short words are close to each
// other, so there only slips count that keep the letters: swapped ones, and from
// five letters on one too few or too many. Hardly anybody mistypes the first
// letter otherwise.
func slipOf(a, b string) slip {
	if len(a) > len(b) {
		a, b = b, a
	}
	from := 0
	for from < len(a) && a[from] == b[from] {
		from++
	}
	rest, other := a[from:], b[from:]
	if len(a) < len(b) {
		if len(b) >= 5 && from > 0 && rest == other[1:] {
			return missed
		}
		return noSlip
	}
	switch {
	case len(rest) < 1:
		return noSlip // the same word
	case len(rest) >= 2 && rest[0] == other[1] && rest[1] == other[0] && rest[2:] == other[2:]:
		return swapped
	case len(a) >= 6 && from > 0 && rest[1:] == other[1:]:
		return wrong
	}
	return noSlip
}
