package secrets

import "strings"

// sureName: the value of this name is a secret and nothing else can be, such as
// that of api_key or client_secret, not the token of a parser.
func (h *textScan) sureName(id ident) bool {
	var low [identReach]byte
	switch word := h.text[id.begin:id.end]; {
	case strings.EqualFold(word, "token"):
		switch string(lastSegment(h.text[id.from:id.begin], &low)) {
		case "access", "auth", "api", "bearer", "refresh", "personal", "secret", "bot", "user", "admin", "deploy", "service", "github", "gitlab", "npm", "slack", "vault", "oauth", "private", "app", "jwt", "session", "webhook":
			return true
		}
		return false
	case strings.EqualFold(word, "secret"), strings.EqualFold(word, "authtoken"), containsFold(h.text[id.end:id.to], "secret"):
		return true
	case containsFold(word, "key"):
		return hasAnyFold(word, "api", "access", "secret", "private", "encryption", "signing", "master", "auth", "preshared", "aes", "crypto", "cipher", "hmac")
	}
	return false
}

// wordLeast is the length of the shortest word that is taken for a secret beside
// a sure name.
const wordLeast = 8

// plainSecret: words and numbers that only stand beside the name of a secret if
// they are one: s3cret, hardcoded12; beside a sure name also a mere word.
func (h *textScan) plainSecret(text string, v value, m composition, op operator) bool {
	if m.other > 0 {
		return false
	}
	if v.sure && h.sureWord(text, v, m, op) {
		return true
	}
	if op != opAssign && op != opPair && op != opTag {
		return false
	}
	if !v.setting || !v.quoted && !v.tight && !v.word && op != opPair || m.upper > 0 && m.lower > 0 {
		return false
	}
	return m.digit > 0 && m.letters() > 3 && len(text) >= wordLeast && (len(text) >= 12 || m.digit > 1 || !fieldName(text)) || v.quoted && m.lower == len(text) && len(text) >= 15
}

// sureWord: a word or a number beside a sure name, where nothing but a value
// stands: in quotes, or all that is on a line of settings.
func (h *textScan) sureWord(text string, v value, m composition, op operator) bool {
	if len(text) < wordLeast || v.compared || wordOfLanguage(text, m) || m.distinct < 4 {
		return false
	}
	switch op {
	case opAssign, opPair, opTag:
	case opSpace:
		if !v.word && !v.quoted {
			return false
		}
	case opComma:
		if !h.setter(v) {
			return false
		}
	default:
		return false
	}
	if !v.quoted {
		// SECRET=word, or secret: word with nothing behind it.
		if !v.setting || !v.tight && !v.word && op != opPair && !h.colonBefore(v.from) && !h.inSection(v.from) || !v.word && !h.endsLine(v) || m.upper > 0 && m.lower > 0 && !v.tight || byteAt(h.text, v.to) == ',' || byteAt(h.text, v.to) == ';' {
			return false
		}
	}
	if m.digit == len(text) {
		return v.quoted || v.tight
	}
	return m.letters() > 3 && !typeName(strings.ToLower(text)) && !h.namesItself(text, v)
}

// namesItself: the value is what it is called, as in clientSecret: "clientSecret".
func (h *textScan) namesItself(text string, v value) bool {
	name := plainName(labelBefore(h.text, v.from))
	value := plainName(strings.ToLower(text))
	return name != "" && value != "" && (strings.HasSuffix(name, value) || strings.HasSuffix(value, name) && len(value)-len(name) < 5 || compositionOf(text).upper > 0 && strings.Contains(value, name))
}

// plainName gives the letters and digits of a name in lower case.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (letter(byte(r)) || digit(byte(r))) {
			return r
		}
		return -1
	}, name)
}
