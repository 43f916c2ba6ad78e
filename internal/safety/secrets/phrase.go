package secrets

import (
	"slices"
	"strings"
)

const (
	ruleMnemonic = "seed-phrase"

	phraseLeast = 12 // words, and
	phraseMost  = 24 // words
	phraseGap   = 64 // so much white space and so many signs may stand between two of them
)

// mnemonicNames are what the words that a wallet is restored from go by.
func mnemonicNames() []string {
	return []string{"mnemonic", "seed phrase", "seed_phrase", "seed-phrase", "seedphrase", "recovery phrase", "recovery_phrase", "recovery-phrase", "recoveryphrase", "backup phrase", "secret phrase", "seed words"}
}

// mnemonic looks at the words behind such a name: 12, 15, 18, 21 or 24 of three to eight small
// letters, as BIP-39 has them, with a sign between them and the name.
func (h *textScan) mnemonic(end int) {
	const signs = " \t\r\n:=\"'`>([-"
	t := h.text
	end = mnemonicGoesOn(t, end)
	from := endOf(t, end, phraseGap, func(c byte) bool { return strings.IndexByte(signs, c) >= 0 })
	if strings.Trim(t[end:from], " \t") == "" {
		return
	}
	to := phraseOnLine(t, from)
	if to == 0 {
		to = phraseInList(t, from)
	}
	if to > 0 {
		h.add(from, to, ruleMnemonic)
	}
}

// mnemonicGoesOn gives where a longer name ends: mnemonic phrase, mnemonicWords.
func mnemonicGoesOn(t string, end int) int {
	at := end
	if c := byteAt(t, at); c == ' ' || c == '_' || c == '-' {
		at++
	}
	for _, word := range [...]string{"words", "phrase", "list"} {
		if hasFold(t[at:], word) && !wordByte(byteAt(t, at+len(word))) {
			return at + len(word)
		}
	}
	return end
}

// phraseWord gives where a word of such a phrase ends, or 0 if there is none.
func phraseWord(t string, at int) int {
	to := endOf(t, at, 16, func(c byte) bool { return c >= 'a' && c <= 'z' })
	if to-at < 3 || to-at > 8 || to < len(t) && (wordByte(t[to]) || t[to] >= 0x80) {
		return 0
	}
	return to
}

// phraseOnLine gives where a phrase ends whose words stand on one line with blanks or commas between
// them, or 0.
func phraseOnLine(t string, from int) int {
	var words []string
	at, last := from, from
	for len(words) <= phraseMost {
		to := phraseWord(t, at)
		if to == 0 {
			break
		}
		words, last = append(words, t[at:to]), to
		next := endOf(t, to, 4, func(c byte) bool { return c == ' ' || c == '\t' || c == ',' })
		if next == to {
			break
		}
		at = next
	}
	if !phrase(words) {
		return 0
	}
	return last
}

// phraseInList gives where a phrase ends whose words are numbered, stand in quotes with commas
// between them, or one a line, or 0. All of them are written as the first one is. Lists of other short
// names, such as those of a processor, are told by the length of their words.
func phraseInList(t string, from int) int {
	first, quote := phraseNumber(t, from), byte(0)
	if first == from {
		from = phraseMark(t, from)
		first = from
	}
	if first == from && from > 0 && quoteByte(t[from-1]) {
		quote = t[from-1]
	}
	var words []string
	at, last, letters := first, 0, 0
	for len(words) <= phraseMost {
		to := phraseWord(t, at)
		if to == 0 {
			break
		}
		next := phraseNext(t, to, quote, first > from)
		if next == 0 {
			break
		}
		words, last, letters = append(words, t[at:to]), to, letters+to-at
		if next >= len(t) || next == to {
			break
		}
		at = next
	}
	if !phrase(words) || letters < 4*len(words) {
		return 0
	}
	return last
}

// phraseNext gives where the next word of a list begins, the same place if this word is the last one,
// and 0 if it is not written as a list has it.
func phraseNext(t string, at int, quote byte, numbered bool) int {
	next := at
	if quote != 0 {
		if byteAt(t, at) != quote {
			quote = 0 // the quote is around the whole
		} else {
			next++
		}
	}
	comma := byteAt(t, next) == ','
	if comma {
		next++
	}
	begin := next
	next = endOf(t, begin, phraseGap, space)
	lines := strings.Count(t[begin:next], "\n")
	switch {
	case quote != 0:
		if !comma || byteAt(t, next) != quote || lines > 1 {
			return at
		}
		return next + 1
	case numbered:
		number := phraseNumber(t, next)
		if number == next || lines > 1 {
			return at
		}
		return number
	case lines == 1:
		return phraseMark(t, next)
	case lines > 1, next >= len(t), next == begin && quoteByte(t[next]):
		return at
	}
	return 0 // something else stands on its line
}

// phraseMark goes over what marks an item of a list, and over the signs of diff and of quoted mails.
func phraseMark(t string, at int) int {
	return endOf(t, at, 4, func(c byte) bool { return strings.IndexByte("-*>+ \t", c) >= 0 })
}

// phraseNumber gives where the word behind a number begins, or the same place if there is no number.
func phraseNumber(t string, at int) int {
	digits := endOf(t, at, 5, digit)
	next := endOf(t, digits, phraseGap, func(c byte) bool { return strings.IndexByte(".): \t", c) >= 0 })
	if digits == at || next == digits {
		return at
	}
	return next
}

// phrase: so many words are a phrase, and no sentence. One word again and again is the example of
// every manual.
func phrase(words []string) bool {
	n := len(words)
	if n < phraseLeast || n > phraseMost || n%3 != 0 || slices.ContainsFunc(words, ofSentences) {
		return false
	}
	distinct := slices.Clone(words)
	slices.Sort(distinct)
	return 3*len(slices.Compact(distinct)) >= n
}

// ofSentences: a word that sentences are made of, and no list for wallets has.
func ofSentences(word string) bool {
	switch word {
	case "the", "and", "are", "for", "with", "from", "not", "was", "has", "have", "its", "which", "when", "can":
		return true
	}
	return false
}
