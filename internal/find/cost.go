package find

import "unicode/utf8"

// Tokens estimates how many tokens of a model's context a text takes. It is
// counted, not looked up: vocabularies differ by model and are not public for
// all of them. A word takes one token and one more for every six letters beyond
// the first nine; digits go in threes; signs that stand together, as they do in
// JSON, are mostly one token; a space belongs to the word after it; four
// ideographs take three.
//
// Held against o200k_base, the definitions of 527 tools of real MCP servers came
// out 0.1 per cent too high, half of the single ones within 4 per cent and nine in
// ten within 10; English prose 1.5 per cent too high. Other scripts may be off by
// a factor of two. It is made for comparing and for budgets, not for bills.
func Tokens(text string) int {
	var quarters int // a quarter of a token each
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		kind, n := costKind(r), 0
		for ; i < len(text) && costKind(r) == kind; r, size = utf8.DecodeRuneInString(text[i:]) {
			n++
			i += size
		}
		quarters += runCost(kind, n)
	}
	return (quarters + 3) / 4
}

type textKind uint8

const (
	costWord textKind = iota
	costDigit
	costSign
	costSpace
	costBreak
	costForeign
	costDense
)

func costKind(r rune) textKind {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return costWord
	case '0' <= r && r <= '9':
		return costDigit
	case r == '\n' || r == '\r':
		return costBreak
	case r == ' ' || r == '\t':
		return costSpace
	case r < utf8.RuneSelf:
		return costSign
	case kindOf(r) == ideograph:
		return costDense
	}
	return costForeign
}

// runCost is what a run of n characters of one kind takes, in quarter tokens.
func runCost(kind textKind, n int) int {
	switch kind {
	case costWord:
		return 4 + max(0, n-9)*4/6
	case costDigit:
		return (n + 2) / 3 * 4
	case costSign:
		return 4 + (n-1)/5
	case costSpace:
		if n == 1 {
			return 0 // goes with the word behind it
		}
		return 4 // indentation is one piece
	case costBreak:
		return 4
	case costForeign:
		return 4 + (n-1)*2
	}
	return n * 3
}
