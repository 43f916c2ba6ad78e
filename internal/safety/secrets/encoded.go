package secrets

import (
	"encoding/base64"
	"strings"
)

const (
	encodedLeast = 28 // a shorter run of base64 hides nothing that a rule knows
	encodedPeek  = 64
)

// encoded adds the runs of base64 that hide a secret in a readable text. They
// are looked into once: what is encoded twice is not found.
func (s *Scanner) encoded(found []Finding, text string, known *Known) []Finding {
	run := s.base64
	for at := 0; ; {
		n := run.find(text[at:])
		if n < 0 {
			return found
		}
		from := at + n
		for at = from; at < len(text) && run.set.has(text[at]); at++ {
		}
		if constant(text, from, at) {
			found = append(found, Finding{Start: from, End: at, Rule: ruleRandom})
			continue
		}
		if prefixed(text, from, at) {
			found = append(found, Finding{Start: from, End: at, Rule: ruleShaped})
			continue
		}
		if inner := decoded(text[from:at]); inner != "" {
			if hidden := known.find(s.find(nil, inner), inner); len(hidden) > 0 {
				found = append(found, Finding{Start: from, End: at, Rule: hidden[0].Rule})
			}
		}
	}
}

const (
	prefixLeast = 3  // letters before the sign
	shapedLeast = 30 // what follows it
	shapedMost  = 120
)

// prefixed: small letters, a sign and many random letters of both cases and
// digits: the form that providers give their tokens today, whoever it is.
func prefixed(text string, from, to int) bool {
	if to-from < prefixLeast+1+shapedLeast || to-from > shapedMost || from > 0 && strings.IndexByte("./\\@#%", text[from-1]) >= 0 || byteAt(text, to) == '.' || byteAt(text, to) == '(' {
		return false
	}
	if n := to - from; n == 43 || n == 86 || inHash(text, from) || hashBefore(text, from) {
		return false // a hash in the base64 of addresses
	}
	mark := from
	for i := from; i < to && i-from < 24; i++ {
		if text[i] == '_' || text[i] == '-' {
			mark = i
		} else if !(text[i] >= 'a' && text[i] <= 'z') {
			break
		}
	}
	if mark-from < prefixLeast || text[mark] == '-' && hashLabel(text[from:mark]) || hashLabel(text[from:mark]) {
		return false
	}
	body := text[mark+1 : to]
	if len(body) < shapedLeast || strings.ContainsAny(body, "+/_-") {
		return false
	}
	m := compositionOf(body)
	return m.digit > 2 && m.upper > 4 && m.lower > 4 && m.bits >= 4 && turnsOf(body) > 3 && !wordy(body)
}

// run is so many bytes of a set.
type run struct {
	set *byteSet
	min int
}

func base64Run() run {
	r := run{set: setOf("a-zA-Z0-9_+/"), min: encodedLeast}
	r.set.add('-')
	return r
}

// find gives where the first run begins, or -1.
func (r run) find(text string) int {
	for end := r.min - 1; end < len(text); {
		at := end
		for at > end-r.min && r.set.has(text[at]) {
			at--
		}
		if at == end-r.min {
			return at + 1
		}
		end = at + r.min
	}
	return -1
}

// decoded gives the readable text that a run of base64 stands for, or nothing.
func decoded(run string) string {
	enc := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		enc = base64.RawURLEncoding
	}
	peek := run[:min(len(run), encodedPeek)]
	if text, err := enc.DecodeString(peek[:len(peek)/4*4]); err != nil || !readable(text) {
		return ""
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1] // no encoding has this length: the end is cut off
	}
	text, err := enc.DecodeString(run)
	if err != nil || !readable(text) {
		return ""
	}
	return string(text)
}

func readable(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return len(text) > 0
}
