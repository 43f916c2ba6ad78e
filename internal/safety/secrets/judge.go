package secrets

import "strings"

// judge says whether a value beside a name of this strength is a secret.
func (h *textScan) judge(s strength, v value, op operator) bool {
	text := h.text[v.from:v.to]
	if len(text) < 4 && !(v.linked && len(text) == 3) || len(text) > valueReach-2 || s == nameSecret && len(text) < 8 || s == nameMaybe && len(text) < 12 {
		return false
	}
	m := compositionOf(text)
	if len(text) >= noiseLeast && (v.quoted || v.line) && (op == opAssign || op == opPair || op == opTag || op == opComma && h.setter(v)) && noise(text, m) {
		return true
	}
	m.kebab = m.kebab && (m.other == 0 || !jumbled(text))
	if s == namePass && h.plainPassword(text, v, m, op) {
		return true
	}
	if v.sure && m.space && h.phrase(text, v, m, op) {
		return true
	}
	if m.space || m.distinct < 3 || m.run >= 6 && m.run*2 > len(text) || m.digit == 0 && m.kebab && m.other > 0 {
		return false
	}
	if v.sure && m.other == 0 && h.plainSecret(text, v, m, op) {
		return !h.harmless(text, m)
	}
	if !v.quoted && !h.plainWord(text, v, m) && !((s == namePass || v.sure) && h.oddPassword(text, v, m)) {
		return false
	}
	good := false
	switch s {
	case namePass:
		good = h.password(text, v, m, op)
	case nameSecret:
		good = h.secretToken(text, v, m, op)
	default:
		good = op != opComma && randomToken(text, m)
	}
	return good && !h.harmless(text, m)
}

// harmless: what has the makeup of a secret and is none.
func (h *textScan) harmless(text string, m composition) bool {
	if number(text) || text[0] == '\\' || spliced(text) || m.other > 0 && (strings.Contains(text, "a-z") || hashPrefixed(text) || strings.Count(text, `\`) > 2 || fileLike(text)) || h.placeholder(text) {
		return true
	}
	switch strings.ToLower(text) {
	case "utf-8", "utf8", "latin1", "latin-1", "ascii", "base64", "sha256", "md5", "rs256", "hs256", "oauth2", "oauth1", "x509", "ed25519":
		return true
	}
	return false
}

// spliced: source code that ends one text and begins another.
func spliced(s string) bool {
	return quoteByte(s[0]) && len(s) > 1 && (s[1] == '+' || s[1] == ' ') || quoteByte(s[len(s)-1]) && strings.HasSuffix(s[:len(s)-1], "+")
}

// hashPrefixed: a hash that says so itself.
func hashPrefixed(s string) bool {
	return hasAnyFold(s, "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha512:", "md5:", "md5-", "h1:", "blake")
}

// plainWord: a value without quotes may as well be source code.
func (h *textScan) plainWord(text string, v value, m composition) bool {
	if strings.ContainsAny(text, "()[]{}<>|*") || strings.Contains(text, "->") || strings.Contains(text, "::") {
		return false
	}
	if m.letters() > 3*m.digit && h.lexicon.tells.in(text) && m.other == strings.Count(text, "_")+strings.Count(text, ".") {
		return false
	}
	if m.kebab && !v.tight && (m.other > 0 || len(text) < 20 || wordy(text)) {
		return false // a name, or a path of names
	}
	if m.other == strings.Count(text, "_")+strings.Count(text, ".") && wordy(text) && (m.digit < 5 || turnsOf(text) < 2) {
		return false
	}
	if v.to < len(h.text) && (h.text[v.to] == '(' || h.text[v.to] == '[') {
		return false
	}
	return v.setting || v.quoted || m.digit > 1 && m.letters() > 1 && m.bits >= 3
}

// oddPassword: a value without quotes that has brackets in it, and signs that
// source code does not have beside them.
func (h *textScan) oddPassword(text string, v value, m composition) bool {
	return v.setting && (m.digit > 0 || m.other >= 6 && strings.ContainsAny(text, "!@#%^&~")) && m.letters() > 2 && len(text) >= 8 && strings.IndexByte("$([{<&*|@", text[0]) < 0 &&
		strings.ContainsAny(text, "!@#$%^&~") && !h.placeholder(text) && !strings.Contains(text, "()") && !strings.Contains(text, "$(") && h.endsLine(v)
}

// password says whether a value beside a name such as password is one.
func (h *textScan) password(text string, v value, m composition, op operator) bool {
	if containsFold(text, "passw") && m.digit+m.other-strings.Count(text, "_")-strings.Count(text, "-") < 2 {
		return false
	}
	switch {
	case len(text) < 6 && (m.other == 0 || m.kebab || m.digit+m.letters() < 2) && !(v.quoted && m.digit > 0 && m.letters() > 1 && op == opAssign):
		return false
	case op == opComma && (m.digit == 0 || m.letters() == 0 || wordy(text)) && !h.setter(v) && !v.word:
		return false
	case m.letters() == 0:
		return m.digit >= 6 && m.other == 0 || m.other > 2 && m.digit > 0
	case m.kebab && m.other > 0:
		return false
	case m.other == 0 && m.digit == 0:
		return len(text) >= 8 && !wordy(text)
	case m.other == 0 && m.digit == 1 && len(text) < 8 && !v.quoted:
		return false
	}
	return true
}

// number: a number as programs have them.
func number(s string) bool {
	s = strings.TrimLeft(s, "-+")
	if hasFold(s, "0x") {
		s = s[2:]
		return len(s) <= 20 && endOf(s, 0, len(s), func(c byte) bool { return hexDigit(c) || strings.IndexByte("_uUlLn", c) >= 0 }) == len(s)
	}
	e := 0
	for i := range len(s) {
		switch c := s[i]; {
		case digit(c):
		case c == '.' || c == '_' || c == ',':
			e++
		case lower(c) == 'e' && e < 9:
			e += 9
		case (c == '-' || c == '+') && i > 0 && lower(s[i-1]) == 'e':
		default:
			return false
		}
	}
	return e > 0
}

// secretToken says whether a value beside a name such as token is one.
func (h *textScan) secretToken(text string, v value, m composition, op operator) bool {
	n := len(text)
	if m.upper > 0 && m.lower > 0 && userAndPassword(text) {
		return true
	}
	if op == opComma {
		return n >= 16 && m.digit >= 2 && m.bits >= 3.2 && !wordy(text) && !uuidShaped(text) && (strings.IndexByte(text, '_') < 0 || m.other > 3)
	}
	if uuidShaped(text) {
		return op != opComma
	}
	if v.sure && n >= nearLeast && (v.quoted || v.setting) && m.upper > 2 && m.lower > 2 && m.other < 3 && jumbled(text) {
		return true
	}
	if h.plainSecret(text, v, m, op) {
		return true
	}
	switch {
	case m.kebab && m.other > 0:
		return false
	case m.letters() == 0:
		return m.digit >= 16 && m.other == 0 && m.bits > 2.5 && (v.quoted || v.setting) && op == opAssign
	case m.digit == 0:
		if n < 16 || m.bits < 2.1 || wordy(text) || m.upper == n || m.bits < 3.2 && (!v.quoted || op != opAssign) {
			return (m.other > 2 && !wordy(text) || m.other > 0 && v.quoted && v.setting && strings.ContainsAny(text, "!#$%^&*+~@")) && n >= 10 && m.letters() > 3
		}
		return true
	case n < 16 && m.other >= 3 && v.sure && v.quoted && strings.ContainsAny(text, "!#%^&*+~@"):
		return !wordy(text)
	case n < 16:
		return m.bits >= 2.7 && m.digit >= 2 && (!wordy(text) || m.digit >= 3 && m.other == 0 && v.setting) && (v.quoted || v.setting) && op != opComma && !dated(text)
	case m.bits < 2.8:
		return m.hex && n >= 24 && m.distinct >= 5 && (v.quoted || v.tight) && op == opAssign || m.bits >= 2.2 && (v.quoted || v.setting && v.tight) && n >= 24 && m.digit > 3 && m.letters() > 3 && m.other == 0
	case wordy(text) && (v.sure || op == opPair) && m.digit > 2 && leet(text):
		return v.quoted || v.setting
	case wordy(text):
		return m.digit >= 4 && m.bits > 3.6 && n >= 24 || m.digit >= 5 && m.bits > 3.3 && m.other == 0 && turnsOf(text) >= 2 || n >= 30 && m.bits > 4.3 && m.upper > n/4 && m.lower > n/5 && m.digit > 0
	}
	return true
}

// dated: a date, a version or an address in numbers.
func dated(s string) bool {
	return endOf(s, 0, len(s), func(c byte) bool { return digit(c) || strings.IndexByte(".-:TZtvV", c) >= 0 }) == len(s)
}

// randomToken: long, mixed, and nothing that can be read.
func randomToken(text string, m composition) bool {
	if len(text) > 60 && (strings.HasPrefix(text, "MF") || strings.HasPrefix(text, "MI") || strings.HasPrefix(text, "MC") || strings.HasPrefix(text, "AAAA")) {
		return false // the key that others may have
	}
	if m.hex || uuidShaped(text) || containsFold(text, "abcdefghijklmnop") {
		return false
	}
	if m.upper > 0 && m.lower > 0 && userAndPassword(text) {
		return true
	}
	return len(text) >= 20 && m.digit >= 2 && m.letters() >= 6 && m.bits >= 3.7 && !wordy(text) && m.other <= len(text)/6
}
