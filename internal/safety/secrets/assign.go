package secrets

import "strings"

// operator is what stands between a name and its value.
type operator uint8

const (
	opNone   operator = iota
	opAssign          // = : := => and the like
	opComma           // ("name", "value")
	opCall            // name("value")
	opSpace           // --name value, name "value"
	opTag             // <name>value</name>
	opPair            // name: "name", value: "value"
	opTold            // the name is value
)

// assignedValue looks for the value of a name.
func (h *textScan) assignedValue(id ident, s strength) {
	if s == nameSecret && id.from > 1 && h.text[id.from] == '_' && h.text[id.from-1] == ':' && h.text[id.from-2] == '/' {
		s = namePass // the file of npm: //host/:_authToken=…
	}
	at, op := h.operator(id, s == namePass)
	if op == opNone {
		if v := h.comparedBefore(id); v.to > v.from && v.to > h.done && h.judge(s, v, opAssign) {
			h.add(v.from, v.to, ruleAssigned)
		}
		return
	}
	equals := op == opCall && strings.HasPrefix(strings.ToLower(h.text[id.end:id.to]), ".equals")
	if equals {
		op = opAssign
	}
	own := op == opSpace && s == namePass && !quoteByte(byteAt(h.text, at)) && h.twoWords(id, at) // NAME VALUE, and nothing else
	alone := id.begin == id.from && id.end == id.to                                               // the word is the whole name
	bare := alone && hasFold(h.text[id.begin:], "pass") && id.end-id.begin == len("pass")
	switch {
	case op == opCall && id.end != id.to, op == opSpace && h.text[id.from] != '-' && !alone && !own && (id.from < 4 || h.text[id.from-4:id.from] != "ENV ") && !h.lineOfItsOwn(id, at), bare && op != opTag && !(op == opPair && containsFold(h.text[id.to:at], "val")) && (op != opAssign || upper(h.text[id.begin]) && h.text[at-1] == ' ' && !quoteByte(h.text[min(at, len(h.text)-1)])):
		return
	}
	if at < len(h.text) && op == opAssign && id.from > 0 && quoteByte(h.text[at]) && h.text[at] == h.text[id.from-1] && h.text[at-1] == '=' {
		return // a text that ends behind the sign
	}
	setting, word := h.settingAt(id, s == namePass)
	setting, word = setting || own, word || own
	wrapped := false // in a call, where a mere word is an example more often
	if op == opAssign {
		if value := h.fallback(at); value != at {
			at = value
		} else {
			inner := h.wrapped(at)
			wrapped, at = inner != at, inner
		}
		if s == namePass && !setting && h.text[max(at, 2)-2] == ':' && h.text[at-1] == ' ' && h.note(id, at) {
			setting, word = true, true
		}
	}
	v := h.valueAt(at, op, setting || word || op == opPair || op == opTold)
	v.word = word || op == opTold
	h.trimExpansion(&v, id)
	if op == opAssign && !v.quoted && setting {
		h.wholeLine(&v, id)
	}
	if s == namePass && op == opAssign && alone {
		v.linked = h.linked(id.from) || h.linkedBehind(v.to)
	}
	if alone && !v.quoted && hasFold(h.text[id.begin:id.end], "pwd") && !v.linked && directory(h.text[v.from:v.to]) {
		return
	}
	if v.to <= v.from || v.to <= h.done {
		return
	}
	v.skipScheme(h.text)
	v.tight = op == opAssign && at > 0 && !space(h.text[at-1]) && !space(h.text[id.to])
	v.word = v.word || v.tight && setting && h.text[at-1] == '=' && allCapitals(h.text[id.from:id.to]) // NAME=value program
	v.sure = s == nameSecret && h.sureName(id)
	v.compared = equals || op == opAssign && h.comparison(id.to, at)
	good := h.judge(s, v, op) && !(wrapped && wordOnly(h.text[v.from:v.to]))
	if good {
		h.done = max(v.to, v.more)
		h.add(v.from, h.done, ruleAssigned)
		if v.quoted {
			h.pieces(v)
		}
	}
	if at > 0 && (op == opAssign && v.quoted || op == opPair) {
		h.listed(at, v, s, op)
	}
}

// comparison: the sign between these places compares.
func (h *textScan) comparison(from, to int) bool {
	sign := h.text[from:min(to, len(h.text))]
	return strings.Contains(sign, "==") || strings.Contains(sign, "!=")
}

// directory: what PWD is set to if it is no password.
func directory(s string) bool {
	m := compositionOf(s)
	return m.digit == 0 || m.letters() < 2 || strings.ContainsAny(s, "/\\$`(~")
}

// allCapitals: the name of a variable of the environment.
func allCapitals(name string) bool {
	return endOf(name, 0, len(name), func(c byte) bool { return !letter(c) || upper(c) }) == len(name)
}

// operator finds where the value of a name begins.
func (h *textScan) operator(id ident, pass bool) (int, operator) {
	t, i := h.text, id.to
	quoted := false
	for i < len(t) && i-id.to < 4 && closesName(t[i]) {
		quoted = quoted || t[i] != ')' && t[i] != '\\'
		i++
	}
	if strings.HasPrefix(t[i:], "&quot;") {
		i, quoted = i+len("&quot;"), true
	}
	if i < len(t) && t[i] == '<' && id.from > 0 && t[id.from-1] == '>' {
		if at := valueTag(t, i); at > 0 {
			return at, opTag
		}
	}
	if at, ok := h.shellDefault(id); ok {
		if at < 0 {
			return 0, opNone
		}
		return at, opAssign
	}
	i = h.skipDeclaration(i)
	if i+1 < len(t) && (t[i] == '?' || t[i] == '!') && (t[i+1] == ':' || t[i+1] == '=') {
		i++
	}
	gap := skipBlanks(t, i)
	if gap >= len(t) {
		return 0, opNone
	}
	if quoted || t[gap] == '|' || t[gap] == '?' {
		if at, ok := h.otherwise(gap); ok {
			return at, opAssign
		}
	}
	switch c := t[gap]; {
	case c == '%' && (strings.HasPrefix(t[gap:], "%3D") || strings.HasPrefix(t[gap:], "%3d")):
		return gap + 3, opAssign
	case c == '<' && strings.HasPrefix(t[gap:], "<- "):
		return skipBlanks(t, gap+2), opAssign
	case c == '.' && gap+1 < len(t) && t[gap+1] == '=':
		return h.assignment(gap + 1)
	case gap > i && letter(c) && !quoted && (id.from == 0 || t[id.from-1] != '<'): // var name string = "value"
		j := endOf(t, gap, 24, func(c byte) bool { return wordByte(c) || c == '.' || c == '*' })
		if hasFold(t[gap:], "as ") { // Dim name As String = "value"
			for j = skipBlanks(t, j); j < len(t) && j-gap < 24 && wordByte(t[j]); j++ {
			}
		}
		if j = skipBlanks(t, j); j < len(t) && t[j] == '=' {
			if v := skipBlanks(t, j+1); v < len(t) && quoteByte(t[v]) {
				return v, opAssign
			}
		}
		if v, ok := h.toldInSentence(gap); pass && ok {
			return v, opTold
		}
		if t[id.from] == '-' || pass && h.loginBefore(id.from) || id.from >= 4 && t[id.from-4:id.from] == "ENV " || redisPass(t[id.from:id.to]) || pass && h.twoWords(id, gap) {
			return gap, opSpace
		}
	case c == '=' || c == ':' || strings.IndexByte("|+?!~-", c) >= 0 && gap+1 < len(t) && (t[gap+1] == '=' || t[gap+1] == '>' || t[gap+1] == '|'):
		return h.assignment(gap)
	case c == ',' && (quoted || pass && allCapitals(t[id.from:id.to])):
		if at := skipSpaces(t, gap+1); at < len(t) && quoteByte(t[at]) {
			if pair, ok := h.pair(gap); ok {
				return pair, opPair
			}
			return at, opComma
		}
	case gap > i && id.from > 0 && t[id.from-1] == '<' && letter(c): // <Pass encoding="base64">
		if end := endOf(t, gap, tagReach, func(c byte) bool { return strings.IndexByte("<>\n/", c) < 0 }); end < len(t) && t[end] == '>' {
			return end + 1, opTag
		}
	case c == '>' && (quoted || id.from > 0 && t[id.from-1] == '<' || id.from > 0 && t[id.from-1] == ':'):
		return gap + 1, opTag
	case c == '(' && gap+1 < len(t) && quoteByte(t[gap+1]) && (gap == i || t[gap+1] != '`'):
		return gap + 1, opCall
	case gap > i && quoteByte(c):
		return gap, opSpace
	case gap > i && (t[id.from] == '-' || pass && (h.loginBefore(id.from) || h.twoWords(id, gap))):
		return gap, opSpace
	}
	if quoted || byteAt(t, gap) == '\n' || byteAt(t, gap) == '\r' {
		if pair, ok := h.pair(gap); ok {
			return pair, opPair
		}
	}
	return 0, opNone
}

// closesName: a name may end with this and not belong to it.
func closesName(c byte) bool {
	return c == '"' || c == '\'' || c == '`' || c == '\\' || c == ']' || c == ')'
}

// assignByte: the sign of an assignment is made of these.
func assignByte(c byte) bool {
	return strings.IndexByte("=:|+?!~>-", c) >= 0
}

// redisPass: a name that stands before its value without a sign.
func redisPass(name string) bool {
	return name == "requirepass" || name == "masterauth" || name == "masteruserpass"
}

// toldInSentence finds the value in a sentence: the password is "…".
func (h *textScan) toldInSentence(at int) (int, bool) {
	for _, word := range [...]string{"is set to", "is now", "is:", "is", "was", "will be"} {
		if !hasFold(h.text[at:], word) {
			continue
		}
		if v := skipBlanks(h.text, at+len(word)); v > at+len(word) && v < len(h.text) && (quoteByte(h.text[v]) || h.readsRandom(v)) {
			return v, true
		}
		return 0, false
	}
	return 0, false
}

func byteAt(t string, i int) byte {
	if i < len(t) {
		return t[i]
	}
	return 0
}

// assignment goes over the signs of an assignment, and over the type that may
// stand before the value.
func (h *textScan) assignment(i int) (int, operator) {
	t, from := h.text, i
	for i < len(t) && i-from < 4 && assignByte(t[i]) {
		if t[i] == '-' && i > from && t[i-1] != '=' {
			break
		}
		if (t[i] == '-' || t[i] == '+' || t[i] == '!' || t[i] == '~') && i > from {
			break // it belongs to the value
		}
		i++
	}
	sign := t[from:i]
	if sign == "::" || sign == ":" && strings.HasPrefix(t[i:], "//") || !strings.ContainsAny(sign, "=:>") {
		return 0, opNone
	}
	at := skipBlanks(t, i)
	if next, ok := h.nextLine(at); ok {
		return next, opPair
	}
	if sign == ":" { // name: type = value
		j := endOf(t, at, 24, func(c byte) bool { return wordByte(c) || strings.IndexByte("&<>[]?*. '", c) >= 0 })
		if j > at && j+1 < len(t) && t[j] == '=' && t[j+1] != '=' && (letter(t[at]) || t[at] == '&') {
			if v := skipBlanks(t, j+1); v < len(t) && quoteByte(t[v]) {
				return v, opAssign
			}
		}
	}
	if at < len(t) && t[at] == '{' {
		if pair, ok := h.pair(at); ok {
			return pair, opPair
		}
	}
	if at < len(t) && (t[at] == '[' || t[at] == '(' || t[at] == '{') && at+1 < len(t) {
		if next := skipSpaces(t, at+1); next < len(t) && quoteByte(t[next]) && (t[at] == '[' || t[at] == '(' && next > at+1) {
			at = next // the first of a list, or of a text in several pieces
		}
	}
	return at, opAssign
}

// nextLine finds the value that stands on a line of its own below its name, as in
// YAML, with or without a sign for a text of several lines.
func (h *textScan) nextLine(at int) (int, bool) {
	t := h.text
	if at < len(t) && (t[at] == '|' || t[at] == '>') {
		for at++; at < len(t) && (t[at] == '-' || t[at] == '+' || digit(t[at])); at++ {
		}
	}
	if at < len(t) && t[at] == '\r' {
		at++
	}
	if at >= len(t) || t[at] != '\n' {
		return 0, false
	}
	from := skipBlanks(t, at+1)
	item := from+2 < len(t) && t[from] == '-' && t[from+1] == ' '
	if item { // the first of a list
		from = skipBlanks(t, from+1)
	}
	if from == at+1 || from >= len(t) || !wordByte(t[from]) && !quoteByte(t[from]) {
		return 0, false
	}
	if pair, ok := h.pair(at); ok && !item {
		return pair, true
	}
	if !item {
		if at, ok := h.defaultIn(at); ok {
			return at, true
		}
	}
	end := from
	for end < len(t) && end-from < valueReach && t[end] != '\n' {
		if c := t[end]; c == ' ' || c == ':' && end+1 < len(t) && (space(t[end+1]) || quoteByte(t[end+1])) || c == '(' || c == '{' || c == '=' && end+1 < len(t) && t[end+1] != '=' && t[end+1] != '\n' {
			return 0, false // another setting, or source code
		}
		end++
	}
	return from, true
}

// blockReach is how far in a block behind a name its value is looked for.
const blockReach = 400

// pair finds the value of a name that is a value itself, as in
// {"name": "TOKEN", "value": "…"}.
func (h *textScan) pair(i int) (int, bool) {
	t, from := h.text, i
	if i < len(t) && t[i] == '{' { // variable "token" { default = "…" }
		block := t[i:min(len(t), i+blockReach)]
		if n := strings.IndexByte(block, '}'); n >= 0 {
			block = block[:n]
		}
		n := indexFold(block, "default")
		if n < 1 || wordByte(block[n-1]) {
			return 0, false
		}
		i += n
	}
	i = endOf(t, i, 48-(i-from), func(c byte) bool { return space(c) || strings.IndexByte(",\"';:", c) >= 0 })
	for _, word := range [...]string{"value", "val", "content", "default", "text", "secret_string", "secretstring"} {
		if !hasFold(t[i:], word) {
			continue
		}
		i += len(word)
		for i < len(t) && (quoteByte(t[i]) || t[i] == '\\') {
			i++
		}
		if i = skipBlanks(t, i); i < len(t) && (t[i] == '=' || t[i] == ':') {
			if i++; i < len(t) && t[i] == '>' {
				i++
			}
			return skipBlanks(t, i), true
		}
		return 0, false
	}
	return 0, false
}

// linkReach is how far before a password the rest of a connection string is
// looked for.
const linkReach = 200

// linked: the name of a password stands in a connection string.
func (h *textScan) linked(from int) bool {
	t, i := h.text, from
	for i > 0 && t[i-1] == ' ' {
		i--
	}
	if i == 0 || t[i-1] != ';' && t[i-1] != '"' && t[i-1] != '\'' && t[i-1] != '&' && t[i-1] != '?' && i == from {
		return false
	}
	before := t[max(0, from-linkReach):from]
	if n := strings.LastIndexByte(before, '\n'); n >= 0 {
		before = before[n:]
	}
	return containsAnyFold(before, "server=", "host=", "data source=", "uid=", "user id=", "user=", "username=", "driver=", "jdbc:", "database=", "dbname=", "initial catalog=", "accountname=")
}

// linkedBehind: a connection string goes on with the name of its user or machine.
func (h *textScan) linkedBehind(at int) bool {
	if at >= len(h.text) || h.text[at] != ';' {
		return false
	}
	i := skipBlanks(h.text, at+1)
	return hasAnyFold(h.text[i:], "uid=", "user id=", "user=", "username=", "server=", "host=", "data source=", "database=", "initial catalog=", "port=")
}

// loginBefore: a name and a machine stand before, as in a file of netrc.
func (h *textScan) loginBefore(from int) bool {
	before := h.text[max(0, from-160):from]
	if strings.Contains(before, "login ") || strings.Contains(before, "login\n") {
		return true
	}
	// user bob password …
	line := before[strings.LastIndexByte(before, '\n')+1:]
	if !containsFold(line, "user") {
		return false
	}
	words := strings.Fields(line)
	return len(words) > 1 && (strings.EqualFold(words[len(words)-2], "user") || strings.EqualFold(words[len(words)-2], "username")) && !typeName(words[len(words)-1])
}

// settingAt: the name begins its line, but for what settings begin with, or
// stands in a connection string or the query of an address; and whether it is in
// a command line, so that its value is one word of it.
func (h *textScan) settingAt(id ident, pass bool) (setting, word bool) {
	t, i := h.text, id.from-1
	if t[id.from] == '-' && (i < 0 || space(t[i]) || quoteByte(t[i])) && id.end-id.from > 3 || pass && h.loginBefore(id.from) {
		return true, true
	}
	if i >= 0 && t[i] == ':' && t[id.from] == '_' {
		return true, false // the file of npm: //host/:_password=…
	}
	for n := 0; i >= 0 && n < 64 && beforeSetting(t[i]); n++ {
		i--
	}
	if i < 0 || id.from > 0 && (t[id.from-1] == '"' || t[id.from-1] == '\'') {
		return true, false
	}
	switch t[i] {
	case '\n', '\r', ';', '&', '?':
		return true, false
	case '>':
		return byteAt(t, id.to) == '=' && allCapitals(t[id.from:id.to]), false // <item>NAME=value</item>
	case 't', 'T', 'x', 'v', 'V', 'g', 'G', 'e', 'E', 'y', 'Y', ':', 'd', 'D', '=':
	default:
		return false, false
	}
	for _, word := range [...]string{"export", "set", "setx", "env", "arg", "-e", "declare", "readonly", "setenv", "$env:", "--build-arg", "--set", "-d", "--env", "--env=", "--from-literal=", "--set=", "--build-arg="} {
		if from := i + 1 - len(word); from >= 0 && strings.EqualFold(t[from:i+1], word) && (from == 0 || !letter(t[from-1])) {
			return true, true
		}
	}
	return t[i] == ':' && byteAt(t, id.to) == '=' && i+1 < id.from && allCapitals(t[id.from:id.to]), false // var: NAME=value
}

func beforeSetting(c byte) bool {
	return strings.IndexByte("\"' \t{,-*#$%\\", c) >= 0
}
