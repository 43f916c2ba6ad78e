package secrets

import "strings"

const (
	certainLeast = 5   // a key that begins with so much may follow a letter
	certainMore  = 256 // so much may follow a key of a known length
)

// certain: what a key of this form begins with stands in no other word, so that
// a letter before it does not matter.
func (f *form) certain(text string, from int) bool {
	if !f.telling || f.anchor != 0 || inBlob(text, from) || inHash(text, from) {
		return false
	}
	if c := text[from-1]; !f.marked && (digit(c) || upper(c) || f.pieces[0].text[1] == 'A') {
		return false // base32, or the zeros of base64
	}
	return true
}

// looksRandom: what follows a short beginning is random, so that the beginning is not
// the end of another word by chance.
func (f *form) looksRandom(match string) bool {
	if f.marked && (len(f.pieces[0].text) >= certainLeast || len(f.pieces) > 6) {
		return true
	}
	variable := f.variable(match)
	m := compositionOf(variable)
	return m.digit > 1 && !wordy(variable) || f.parted && m.other > 0 && m.digit > 1 || m.other == 0 && m.digit+m.upper > 2 && m.lower > 0 || !f.marked && m.digit > 1
}

// edgeBehind: no further byte belongs to the key.
func (f *form) edgeBehind(text string, to int) bool {
	if to >= len(text) {
		return true
	}
	last := &f.pieces[len(f.pieces)-1]
	if last.set != nil && last.set.has(text[to]) {
		return text[to] == '-' || text[to] == '.' // the end of a sentence
	}
	return !digit(text[to]) && !letter(text[to]) && text[to] != '_'
}

// edgeBefore: a key does not begin within a word, but for what an escape such as
// \n or %3D ends with.
func edgeBefore(text string, from int) bool {
	if from == 0 {
		return true
	}
	c := text[from-1]
	switch {
	case digit(c) || letter(c):
		return escapeEnds(text, from)
	case c == '+' || c == '/' || c == '=' || c == '-' || c == '_':
		return !inBlob(text, from) && !inHash(text, from)
	}
	return true
}

// inHash: this place is within a hash that says what it is, such as
// sha256=ab-cd.
func inHash(text string, at int) bool {
	i := beginOf(text, at, 96, func(c byte) bool { return wordByte(c) || c == '-' || c == '+' || c == '/' })
	return containsAnyFold(text[max(0, i-8):min(at, i+8)], "sha1", "sha256", "sha384", "sha512", "h1:")
}

// sumBefore: a word such as h1: or sha256- stands right before this place, so that
// any few letters begin there by chance.
func sumBefore(text string, at int) bool {
	if at < 3 || text[at-1] != ':' && text[at-1] != '-' && text[at-1] != '=' {
		return false
	}
	before := text[max(0, at-8) : at-1]
	for _, word := range [...]string{"h1", "sha1", "sha256", "sha384", "sha512", "md5"} {
		if n := len(before) - len(word); n >= 0 && strings.EqualFold(before[n:], word) && (n == 0 || !wordByte(before[n-1])) {
			return true
		}
	}
	return false
}

// escapeEnds: the letter before this place ends an escape.
func escapeEnds(text string, at int) bool {
	c := text[at-1]
	if at >= 2 && text[at-2] == '\\' && (c == 'n' || c == 't' || c == 'r') {
		return true
	}
	if at >= 3 && text[at-3] == '%' && hexDigit(text[at-2]) && hexDigit(c) {
		return true
	}
	// \x1b[31m, \u0022
	if at >= 3 && c == 'm' && digit(text[at-2]) {
		for i := at - 2; i > at-6 && i >= 0; i-- {
			if text[i] == '[' {
				return true
			}
		}
	}
	return at >= 6 && text[at-6] == '\\' && text[at-5] == 'u' && hexDigit(text[at-4]) && hexDigit(text[at-3]) && hexDigit(text[at-2]) && hexDigit(c)
}

const (
	blobLeast = 20 // so much base64 of all kinds before a place makes it one within a blob
	blobMost  = 64 // so much is looked at where that has no capitals or no digits
)

// inBlob: this place is within a long run of base64, such as a picture, where
// any few letters stand by chance.
func inBlob(text string, at int) bool {
	kinds, plus := 0, false
	for i := at - 1; i >= at-blobMost; i-- {
		c := byte(' ')
		if i >= 0 {
			c = text[i]
		}
		switch {
		case digit(c):
			kinds |= 1
		case upper(c):
			kinds |= 2
		case letter(c):
			kinds |= 4
		case c == '+':
			plus = true
		case c != '/' && c != '=' && c != '-' && c != '_':
			return kinds == 7 && plus && at-1-i >= 2*blobLeast
		}
		if kinds == 7 && at-i == blobLeast {
			return true
		}
	}
	return kinds == 7 && plus
}

// brokenLine is the length of the shortest line that base64 is broken into.
const brokenLine = 56

// brokenBlob: a line of base64 begins here that goes on from the line before it,
// and not one of its own.
func brokenBlob(text string, at int) bool {
	end := at
	if end == 0 || text[end-1] != '\n' {
		return false
	}
	if end--; end > 0 && text[end-1] == '\r' {
		end--
	}
	if !inBlob(text, end) {
		return false
	}
	return end-beginOf(text, end, brokenLine, pemByte) >= brokenLine && endOf(text, at, brokenLine, pemByte)-at >= min(brokenLine, blobLeast+4)
}
