package vault

import (
	"math"
	"unicode"
)

// guessable is how many bits a value must have at least, so that nobody finds it
// by trying: as many guesses as a model can send in some days.
const guessable = 36

// Guessable reports whether a value is so short, or made of so few kinds of
// signs, that it can be found by trying all of its kind. Hiding it where it turns up
// does not protect it then: what comes back hidden was the right guess.
func Guessable(value string) bool {
	kinds := map[string]float64{}
	distinct := map[rune]bool{}
	n := 0.0
	for _, r := range value {
		n++
		distinct[r] = true
		switch {
		case unicode.IsDigit(r):
			kinds["digits"] = 10
		case unicode.IsLower(r):
			kinds["small"] = 26
		case unicode.IsUpper(r):
			kinds["capital"] = 26
		default:
			kinds["signs"] = 32
		}
	}
	all := 0.0
	for _, size := range kinds {
		all += size
	}
	return n*math.Log2(max(all, 1)) < guessable || len(distinct) < 4
}
