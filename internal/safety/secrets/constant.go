package secrets

import "strings"

const (
	ruleRandom  = "random-constant"
	drawnLeast  = 32 // a shorter text is an identifier too often
	drawnMost   = 100
	drawnTurns  = 5  // so often it goes from letters to digits and back
	secretShape = 40 // the secrets of Amazon, and of those that do as it does
)

// constant: letters of both cases and digits in no order, in quotes of their own,
// that a name in source code or settings is set to. What a list of things or the
// answer of a service has in such a place is an identifier: there a colon stands
// before it, or a name that says so.
func constant(text string, from, to int) bool {
	size := to - from
	if size < drawnLeast || size > drawnMost || from < 3 || to >= len(text) {
		return false
	}
	end := endOf(text, to, 2, func(c byte) bool { return c == '=' })
	quote := text[from-1]
	if !quoteByte(quote) || end >= len(text) || text[end] != quote {
		return false
	}
	switch size {
	case 43, 64, 86: // a hash in base64
		return false
	}
	word := text[from:to]
	m := compositionOf(word)
	if m.upper < 4 || m.lower < 4 || m.digit < 3 || m.bits < 4.2 || m.other > 6 || strings.ContainsAny(word, "_-") && strings.IndexByte(word, '-') != strings.LastIndexByte(word, '-') || turnsOf(word) < drawnTurns || wordy(word) || strings.HasPrefix(word, "AAAA") || encodedDER(word) || hashPrefixed(word) || decoded(word) != "" || publicAddress(word) {
		return false
	}
	i := from - 2
	for i > 0 && from-i < 8 && (text[i] == ' ' || text[i] == '\t' || text[i] == '@') {
		i--
	}
	signed := text[i] == '=' && !inTag(text, i)
	if !signed && (size != secretShape || strings.ContainsAny(word, "_-")) {
		return false
	}
	label := labelBefore(text, from)
	if signed && label == "" || hashLabel(label) || idLabel(label) || hashBefore(text, from) {
		return false
	}
	return !containsAnyFold(label, "nonce", "integrity", "cursor", "page", "next", "public", "pub", "sig", "content", "data", "cert", "alphabet", "chars", "base", "charset", "expected", "want", "verification", "site", "cdn", "url", "src", "href", "continu", "marker", "ticket")
}

// encodedDER: a certificate or a key in base64. The private ones are told by their
// own beginning.
func encodedDER(word string) bool {
	return strings.HasPrefix(word, "MI") || strings.HasPrefix(word, "MC") || strings.HasPrefix(word, "MF") || strings.HasPrefix(word, "MH")
}

// inTag: the sign of an assignment stands in a tag of HTML or XML.
func inTag(text string, at int) bool {
	before := text[max(0, at-256):at]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	open := strings.LastIndexByte(before, '<')
	return open >= 0 && open+1 < len(before) && letter(before[open+1]) && strings.IndexByte(before[open:], '>') < 0
}
