package secrets

import "strings"

// fallbackReach is how long the call may be that reads a setting.
const fallbackReach = 160

// fallback gives where the text begins that is used if a variable of the
// environment is not set: getenv("NAME", "value"), os.environ.get("NAME") or
// "value". It gives the same place if there is none.
func (h *textScan) fallback(at int) int {
	t := h.text
	i := endOf(t, at, 64, func(c byte) bool { return wordByte(c) || c == '.' || c == ':' })
	if i == at || i >= len(t) || t[i] != '(' && t[i] != '[' || !containsAnyFold(t[at:i], "env", "config", "getprop") {
		return at
	}
	last := min(len(t), at+fallbackReach)
	for i++; i < last && t[i] != ',' && t[i] != ')' && t[i] != ']' && t[i] != '\n'; i++ {
	}
	if i < last && t[i] == ',' {
		i = skipSpaces(t, i+1)
		for i < last && (wordByte(t[i]) || t[i] == '=') { // default="value"
			i++
		}
		if i < last && quoteByte(t[i]) {
			return i
		}
		return at
	}
	if i < last {
		if other, ok := h.otherwise(skipBlanks(t, i+1)); ok {
			return other
		}
	}
	return at
}

// otherwise gives where the text begins that is used in place of what stands
// before: or "value", || "value", ?? "value".
func (h *textScan) otherwise(at int) (int, bool) {
	t := h.text
	for _, word := range [...]string{"or", "||", "??", "?:"} {
		if !strings.HasPrefix(t[at:], word) {
			continue
		}
		i := skipBlanks(t, at+len(word))
		return i, i < len(t) && i > at+len(word) && quoteByte(t[i])
	}
	return 0, false
}

// readsRandom: the word that begins here has letters and digits in it, and is no
// word of a language.
func (h *textScan) readsRandom(at int) bool {
	to := endOf(h.text, at, nearMost, func(c byte) bool { return !endsWord(c, false) })
	text := h.text[at:to]
	m := compositionOf(text)
	return to-at >= 6 && m.letters() > 2 && !dated(text) && (m.digit > 0 && !digit(text[0]) && !m.space || m.digit > 1 && m.letters() > 3 && m.other == 0 || strings.ContainsAny(text[:len(text)-1], "!@#$%^&*")) && strings.IndexByte(text, '(') < 0
}
