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
	run, left := s.base64, workFor(text)
	for at := 0; ; {
		n := run.find(text[at:])
		if n < 0 {
			return found
		}
		from := at + n
		for at = from; at < len(text) && run.set.has(text[at]); at++ {
		}
		if inner := decoded(text[from:at]); inner != "" {
			var hidden []Finding
			hidden, left = s.find(nil, inner, left)
			if hidden = known.find(hidden, inner); len(hidden) > 0 {
				found = append(found, Finding{Start: from, End: at, Rule: hidden[0].Rule})
			}
		}
	}
}

func base64Run() step {
	run := step{min: encodedLeast}
	for c := range 0x80 {
		if b := byte(c); wordByte(b) || b == '+' || b == '/' || b == '-' {
			run.set.add(b)
		}
	}
	return run
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
