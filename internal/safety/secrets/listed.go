package secrets

import "strings"

const (
	listMost = 64 // so many values of a list are looked at
	tagReach = 48 // how long a tag may be that a value stands in
)

// listed looks at the further values of a list whose first one was judged:
// passwords: ["…", "…"], or one a line behind a dash.
func (h *textScan) listed(at int, v value, s strength, op operator) {
	t := h.text
	i := at - 1
	if t[i] != '[' && !space(t[i]) {
		return
	}
	for i >= 0 && at-i < 64 && space(t[i]) {
		i--
	}
	if i < 0 || t[i] != '[' && t[i] != '-' {
		return
	}
	dash := t[i] == '-'
	for range listMost {
		next := skipSpaces(t, min(v.to+1, len(t)))
		if next >= len(t) || !dash && t[next] != ',' || dash && (t[next] != '-' || strings.IndexByte(t[v.to:next], '\n') < 0) {
			return
		}
		if next = skipSpaces(t, next+1); next >= len(t) || !quoteByte(t[next]) && !dash {
			return
		}
		sure := v.sure
		if v = h.valueAt(next, opAssign, v.setting); !v.quoted && !dash || v.to <= v.from {
			return
		}
		if v.sure = sure; v.to > h.done && h.judge(s, v, op) {
			h.done = v.to
			h.add(v.from, v.to, ruleAssigned)
		}
	}
}

const (
	pieceMost  = 32 // so many pieces of a text are taken
	pieceLeast = 16 // a shorter piece is a text of its own too often
)

// pieces takes the further pieces of a secret that is written in several, with
// nothing but white space and a sign between them: "…" + "…".
func (h *textScan) pieces(v value) {
	t := h.text
	for range pieceMost {
		if v.to-v.from < pieceLeast || v.to >= len(t) {
			return
		}
		i := v.to + 1
		for n := 0; i < len(t) && n < 64 && (space(t[i]) || t[i] == '+' || t[i] == '\\' || t[i] == '.'); n++ {
			i++
		}
		if i == v.to+1 || i >= len(t) || t[i] != t[v.to] {
			return
		}
		next := h.valueAt(i, opAssign, v.setting)
		if text := t[next.from:next.to]; !next.quoted || len(text) < 4 || strings.IndexByte(text, ' ') >= 0 || len(text) < pieceLeast && wordy(text) {
			return
		}
		v = next
		h.done = v.to
		h.add(v.from, v.to, ruleAssigned)
	}
}

const defaultLines = 8 // so many lines of a block are looked at

// defaultIn finds the default of a parameter whose block begins behind the end of
// this line, as templates for clouds have it: Default: value.
func (h *textScan) defaultIn(at int) (int, bool) {
	t := h.text
	depth := skipBlanks(t, at+1) - at - 1
	for n := 0; n < defaultLines && at < len(t) && t[at] == '\n'; n++ {
		from := skipBlanks(t, at+1)
		if from-at-1 < depth || from >= len(t) || t[from] == '\n' {
			return 0, false
		}
		if from-at-1 == depth && strings.HasPrefix(t[from:], "Default: ") {
			return skipBlanks(t, from+len("Default: ")), true
		}
		if at = from + strings.IndexByte(t[from:min(len(t), from+argumentReach)], '\n'); at < from {
			return 0, false
		}
	}
	return 0, false
}

// valueTag gives where the value begins whose name ends here, if both stand in
// tags: <key>password</key> <value>…</value>, as in files of properties and of
// Apple. It gives 0 if there is none.
func valueTag(t string, at int) int {
	if !strings.HasPrefix(t[at:], "</") {
		return 0
	}
	end := strings.IndexByte(t[at:min(len(t), at+tagReach)], '>')
	if end < 0 {
		return 0
	}
	i := skipSpaces(t, at+end+1)
	if i >= len(t) || t[i] != '<' {
		return 0
	}
	name := i + 1
	for i = name; i < len(t) && i-name < tagReach && (wordByte(t[i]) || t[i] == '-' || t[i] == ':'); i++ {
	}
	if i >= len(t) || t[i] != '>' {
		return 0
	}
	switch tag := strings.ToLower(t[name:i]); {
	case tag == "string", tag == "val", tag == "text", tag == "data", tag == "content", strings.HasSuffix(tag, "value"):
		return i + 1
	}
	return 0
}

// wholeLine takes all of a line for a value without quotes that has signs in it at
// which it would end elsewhere: NAME=ab&c;d.
func (h *textScan) wholeLine(v *value, id ident) {
	t := h.text
	if id.from > 0 && t[id.from-1] > ' ' || v.to <= v.from || strings.IndexByte(t[id.to:v.from], '=') < 0 || !h.beginsLine(id.from) {
		return
	}
	to := v.to
	for to < len(t) && to-v.from < noiseMost && !space(t[to]) {
		if to++; to < len(t) && t[to-1] == '&' && letter(t[to]) && queryGoesOn(t[to:]) {
			return // the next name of a query
		}
	}
	text := t[v.from:to]
	if m := compositionOf(text); len(text) >= 20 && m.digit > 1 && m.letters() > 5 && m.other > 3 && m.bits > 3.8 && !wordy(text) && !quoteByte(text[len(text)-1]) && !strings.Contains(text, "://") && !strings.ContainsAny(text, "\"'") {
		v.to, v.line = to, true
	}
}

// queryGoesOn: a name and the sign of an assignment stand here.
func queryGoesOn(t string) bool {
	return byteAt(t, endOf(t, 0, identReach, identByte)) == '='
}

// beginsLine: nothing but export stands before a name on its line.
func (h *textScan) beginsLine(at int) bool {
	before := strings.TrimRight(h.text[max(0, at-16):at], " \t")
	before = strings.TrimRight(strings.TrimSuffix(before, "export"), " \t")
	return before == "" && at <= 16 || strings.HasSuffix(before, "\n")
}
