package secrets

import "strings"

// secure looks at the text that ConvertTo-SecureString is given in the open.
func (h *textScan) secure(end int) {
	t := h.text
	last := min(len(t), end+64)
	i := end
	for i < last && !quoteByte(t[i]) {
		if t[i] == '\n' || t[i] == '|' || t[i] == '$' || t[i] == ')' {
			return
		}
		i++
	}
	if i >= last {
		return
	}
	v := h.valueAt(i, opSpace, true)
	if text := t[v.from:v.to]; len(text) >= 3 && !h.placeholder(text) && strings.IndexByte(text, ' ') < 0 {
		h.add(v.from, v.to, ruleCommand)
	}
}

// netUser looks at the password of net user NAME PASSWORD /add and of net use
// SHARE PASSWORD /user:NAME.
func (h *textScan) netUser(begin, end int) {
	t := h.text
	if begin > 0 && wordByte(t[begin-1]) {
		return
	}
	line := lineWithin(t, end, programReach)
	user := lower(t[end-2]) == 'r'
	if user && !containsFold(line, "/add") && !containsFold(line, "/domain") && !containsFold(line, "/active") || !user && !containsFold(line, "/user:") && !containsFold(line, "/u:") {
		return
	}
	at, words := end, 0
	for at < end+len(line) {
		for at < end+len(line) && space(t[at]) {
			at++
		}
		to := shellWord(t, at)
		word := strings.Trim(t[at:min(to, end+len(line))], "\"'")
		if word == "" {
			return
		}
		flag := word[0] == '/' || word[0] == '-'
		if !flag && !strings.HasPrefix(word, `\\`) && !(len(word) == 2 && word[1] == ':') && (!user || words > 0) {
			if len(word) >= 3 && !h.placeholder(word) {
				from := at + strings.Index(t[at:to], word)
				h.add(from, from+len(word), ruleCommand)
			}
			return
		}
		if !flag {
			words++
		}
		at = to
	}
}

// identified looks at the password of IDENTIFIED BY 'password'.
func (h *textScan) identified(end int) {
	t := h.text
	i := skipSpaces(t, end)
	if hasFold(t[i:], "password") {
		i = skipSpaces(t, i+len("password"))
	}
	if i >= len(t) || !quoteByte(t[i]) && t[i] != '\\' {
		return
	}
	if v := h.valueAt(i, opSpace, true); v.quoted && v.to-v.from >= 3 && !h.placeholder(t[v.from:v.to]) {
		h.add(v.from, v.to, ruleCommand)
	}
}
