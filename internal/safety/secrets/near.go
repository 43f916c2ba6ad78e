package secrets

import "strings"

const (
	ruleNear  = "secret-near-its-name"
	nearReach = 40  // how far behind the name of a secret a key is looked for
	nearLeast = 16  // what is shorter is a word too often
	nearMost  = 200 // what is longer is a blob
	nearWords = 3   // so many long words are looked at
)

// keyNearName looks for a key that stands on the line of its name, with other words or
// signs between them, as in a sentence, a table or a log.
func (h *textScan) keyNearName(id ident) {
	t := h.text
	last := min(len(t), id.to+nearReach)
	if id.to < len(t) && (wordByte(t[id.to]) || t[id.to] == '+' || t[id.to] == '/') {
		return // the name is one by chance, within a blob
	}
	at := h.nextLong(id.to)
	for n := 0; n < nearWords && at < last; n++ {
		below := strings.IndexByte(t[id.to:at], '\n') >= 0
		if below && !h.below(id.to, at) {
			return
		}
		end := endOf(t, at, nearMost+1, func(c byte) bool { return h.token[c] })
		from := endOf(t, at, end-at, func(c byte) bool { return !wordByte(c) })
		to := beginOf(t, end, end-from, func(c byte) bool { return c == '.' || c == ':' })
		if sign := strings.LastIndexAny(strings.TrimRight(t[from:to], "="), "=:"); sign >= 0 {
			from += sign + 1 // a name and its value
		}
		if to > h.done && h.keyNear(from, to) && (!below || from == at && aloneOnLine(t, end) && !uuidShaped(t[from:to]) && (t[at-1] != '\n' || !h.remark(id.from) || looksDrawn(t[from:to]))) {
			h.done = to
			h.add(from, to, ruleNear)
			return
		}
		if end-at > nearMost || below {
			return
		}
		at = h.longAfter(end, last)
	}
}

// below: the line of a name ends with a sign that a value follows, and there is
// nothing but that value.
func (h *textScan) below(from, at int) bool {
	gap := h.text[from:at]
	line := strings.IndexByte(gap, '\n')
	head := strings.TrimRight(gap[:line], " \t\r")
	if h.remark(from) && strings.Count(gap, "\n") == 1 && strings.Trim(gap[line:], " \t\r\n") == "" && strings.IndexByte(head, '=') < 0 {
		return true
	}
	return strings.Count(gap, "\n") <= 3 && head != "" && strings.IndexByte(":=[(|>", head[len(head)-1]) >= 0 && strings.Trim(gap[line:], " \t\r\n\"'`") == ""
}

// remark: this place is in a line of a comment.
func (h *textScan) remark(at int) bool {
	before := h.text[max(0, at-nearMost):at]
	line := strings.TrimLeft(before[strings.LastIndexByte(before, '\n')+1:], " \t")
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "-- ")
}

// aloneOnLine: nothing but a quote and a comma follows on the line.
func aloneOnLine(t string, at int) bool {
	end := endOf(t, at, len(t), func(c byte) bool { return strings.IndexByte("\"'`,;)] \t\r", c) >= 0 })
	return end >= len(t) || t[end] == '\n'
}

// keyJoinedToName looks for a key that a dash or the like joins to its name.
func (h *textScan) keyJoinedToName(end int) {
	t := h.text
	if end >= len(t) || t[end] != '-' && t[end] != '_' || end+1 < h.long && end >= h.seen || inBlob(t, end) || inHash(t, end) {
		return
	}
	to := endOf(t, end+1, nearMost, kebabByte)
	if to > h.done && h.keyNear(end+1, to) {
		h.done = to
		h.add(end+1, to, ruleNear)
	}
}

// keyNear: nothing but a key looks like this.
func (h *textScan) keyNear(from, to int) bool {
	t := h.text
	if to-from < nearLeast || to-from > nearMost {
		return false
	}
	text := t[from:to]
	if from > 0 && strings.IndexByte("@#/.+%&~\\", t[from-1]) >= 0 && !escapeEnds(t, from) || byteAt(t, to) == '(' || byteAt(t, to) == '[' || byteAt(t, to) == '\\' {
		return false
	}
	m := compositionOf(text)
	if m.letters() < 2 || m.bits < 3 || strings.Contains(text, "//") || hashPrefixed(text) || hashBefore(t, from) || hashLabel(labelBefore(t, from)) || h.placeholder(text) || m.digit < 4 && wordy(text) || fileLike(text) || dated(text) || versioned(text) {
		return false
	}
	if m.lower == 0 && strings.IndexByte(text, '_') > 0 {
		return false // the name of a constant
	}
	if m.hex {
		return m.digit > 1 && len(text) >= 20
	}
	turns := turnsOf(text)
	if m.other > 0 && (strings.Count(text, "/") > 2 || strings.Count(text, ".") > 2 || strings.Count(text, "-") > 4 || strings.Count(text, "_") > 3 || strings.IndexByte(text, '|') >= 0) || turns < 5 && h.lexicon.tells.in(text) {
		return false // a name of its own
	}
	mixed := m.upper > 1 && m.lower > 1
	switch {
	case m.digit >= 3 && turns >= 3 && (mixed || len(text) >= 20) && m.bits >= 3.3:
		return true
	case m.other == 0 && m.digit >= 2 && len(text) >= 24 && !wordy(text):
		return true
	}
	return m.other == 0 && mixed && len(text) >= 20 && 5*caseTurns(text) >= 2*len(text)
}

// versioned: a version, such as v0.0.0-20200102030405-abcdef123456.
func versioned(s string) bool {
	s = strings.TrimPrefix(s, "v")
	n := endOf(s, 0, len(s), digit)
	return n > 0 && n+1 < len(s) && s[n] == '.' && digit(s[n+1])
}

// caseTurns counts how often small letters follow capitals and capitals small
// ones. A name in source code has one or two of them a word.
func caseTurns(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if letter(s[i]) && letter(s[i-1]) && upper(s[i]) != upper(s[i-1]) {
			n++
		}
	}
	if wordy(s) {
		return 0
	}
	return n
}

// turnsOf counts how often a text goes from letters to digits and back. Names
// with a number at their end do so once or twice.
func turnsOf(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if digit(s[i]) && letter(s[i-1]) || letter(s[i]) && digit(s[i-1]) {
			n++
		}
	}
	return n
}
