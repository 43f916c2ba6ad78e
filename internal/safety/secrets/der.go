package secrets

import "strings"

const (
	derReach = 24 // how far behind its beginning the telling part of a key stands
	derLeast = 60 // a shorter one is no key
	derLine  = 40 // what goes on in the next line has lines of at least this length
	derMost  = 1 << 14
)

// derWords are what private keys have near their beginning if they are written in
// base64 without the lines that PEM puts around them: the version and the kind of
// a key of PKCS #1, PKCS #8, SEC 1 and OpenSSH.
func derWords() []string {
	return []string{"ibaak", "ibaajb", "ibadan", "ageamb", "agebb", "caqeei", "caqawbqydk2v", "bgkqhkig9w0bbq0w", "b3blbnnzac1r"}
}

// der looks for a private key without a frame whose telling part ends here.
func (h *textScan) der(begin, end int) {
	t := h.text
	from := beginOf(t, begin, derReach, pemByte)
	if from > 0 && (t[from-1] == '\\' || t[from-1] == '-' || t[from-1] == '_') {
		from++ // the letter of an escape
	}
	if from > begin || end <= h.dered || !privateDER(t[from:min(len(t), from+2*derReach)]) {
		return
	}
	to := derEnd(t, end)
	if h.dered = to; to-from >= derLeast && compositionOf(t[from:min(to, from+genuineReach)]).bits > 4 {
		h.add(from, to, ruleKey)
	}
}

// privateDER: a private key in base64 begins like this, and no certificate and no
// key that others may have.
func privateDER(s string) bool {
	is := func(at int, words ...string) bool {
		for _, word := range words {
			if len(s) > at && strings.HasPrefix(s[at:], word) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasPrefix(s, "MII"): // RSA and DSA, bare or in PKCS #8, and what is encrypted
		return is(6, "IBAAK", "IBAAJB", "IBADAN") || strings.Contains(s, "BgkqhkiG9w0BBQ0w")
	case strings.HasPrefix(s, "MI"): // larger curves
		return is(4, "AgEAMB", "AgEBB")
	case strings.HasPrefix(s, "MH") || strings.HasPrefix(s, "MC"):
		return is(3, "CAQEEI", "CAQAwBQYDK2V")
	}
	return strings.HasPrefix(s, "b3BlbnNzaC1rZXktdjEA")
}

// derEnd gives where the base64 ends that goes on at this place, also over the
// ends of lines.
func derEnd(t string, at int) int {
	from, line := at, derLine // how much of the line was read
	for {
		start := at
		at = endOf(t, at, derMost-(at-from), pemByte)
		if line += at - start; line < derLine || at >= len(t) || at-from >= derMost {
			return at
		}
		next := at
		for _, sign := range [...]string{"\\r", "\r", "\\n", "\n"} {
			if strings.HasPrefix(t[next:], sign) {
				next += len(sign)
			}
		}
		if next == at {
			return at
		}
		next = skipBlanks(t, next)
		stop := endOf(t, next, derReach, pemByte)
		// The last line may be short; it has a sign or a digit in it then, or is
		// longer than a word.
		if stop-next < derReach && (stop == next || stop < len(t) && !space(t[stop]) && !quoteByte(t[stop]) && t[stop] != '\\' && t[stop] != '<' || stop-next < 16 && !strings.ContainsAny(t[next:stop], "+/=0123456789")) {
			return at
		}
		at, line = next, 0
	}
}
