package secrets

import "strings"

const cookiesMost = 32 // so many values of one header are looked at

// cookies looks at the values of a header Cookie or Set-Cookie whose name stands
// here: name=value; name=value.
func (h *textScan) cookies(id ident) {
	t := h.text
	if id.begin != id.from && !strings.HasSuffix(strings.ToLower(t[id.from:id.begin]), "set-") || id.end != id.to {
		return
	}
	at, op := h.operator(id, false)
	if op != opAssign && op != opPair {
		return
	}
	for i := at; i < len(t) && quoteByte(t[i]) || strings.HasPrefix(t[min(i, len(t)):], "\\\""); i++ {
		at = i + 1
	}
	for range cookiesMost {
		from := at
		at = endOf(t, at, identReach, func(c byte) bool { return identByte(c) || c == '%' })
		if at == from || at >= len(t) || t[at] != '=' {
			return
		}
		name := t[from:at]
		value := at + 1
		at = endOf(t, value, valueReach, func(c byte) bool { return !space(c) && strings.IndexByte(";\"'\\,", c) < 0 })
		if text := t[value:at]; h.cookie(name, text) {
			h.add(value, at, ruleHeader)
			h.done = max(h.done, at)
		}
		if at = skipBlanks(t, min(at+1, len(t))); at >= len(t) || at > 0 && t[at-1] != ' ' && t[at-1] != ';' {
			return
		}
	}
}

// cookie says whether the value of a cookie lets one in.
func (h *textScan) cookie(name, text string) bool {
	if len(text) < 6 || h.placeholder(text) {
		return false
	}
	m := compositionOf(text)
	if containsAnyFold(name, "sess", "sid", "auth", "token", "csrf", "xsrf", "jwt", "remember", "login", "secret", "user", "key") {
		return m.digit > 0 || m.other > 0 || len(text) >= 12 && !wordy(text)
	}
	return len(text) >= 20 && m.digit > 2 && m.letters() > 4 && m.bits > 3 && !dated(text) && !uuidShaped(text)
}

// authorized: the word Bearer at this place is the scheme of a header, so that a
// key follows, whatever it looks like.
func authorized(t string, at int) bool {
	before := t[max(0, at-96):at]
	n := lastFold(before, "authorization")
	if n < 0 {
		return false
	}
	rest := before[n+len("authorization"):]
	if !strings.ContainsAny(rest, ":=") && !strings.Contains(rest, "value") {
		return false
	}
	return strings.Trim(strings.ReplaceAll(rest, "value", ""), "\"'`\\:=>, \t\r\n{}()") == ""
}

// bearer says whether what follows Authorization: Bearer is more than the name of
// a thing.
func (h *textScan) bearer(text string) bool {
	m := compositionOf(text)
	if m.digit == 0 && strings.IndexByte(text, '-') < 0 || m.letters() == 0 {
		return false
	}
	return !containsAnyFold(text, "your", "redacted", "...", "-here", "_here", "xxxx", "placeholder", "<", "{", "$")
}
