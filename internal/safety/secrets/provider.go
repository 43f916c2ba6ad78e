package secrets

import "strings"

const (
	providerReach = 96 // how far behind the name of a provider a key is looked for
	providerLines = 2
)

// keyOfProvider looks for a key of a provider behind its name.
func (h *textScan) keyOfProvider(p *provider, begin, end int) {
	t := h.text
	if begin > 0 && letter(t[begin-1]) && !(upper(t[begin]) && !upper(t[begin-1])) && !escapeEnds(t, begin) {
		return
	}
	if end+1 < len(t) && (hasFold(t[end:], "ai") || hasFold(t[end:], "io")) && !wordByte(byteAt(t, end+2)) {
		end += 2 // MistralAI
	}
	if end < len(t) && letter(t[end]) && !(upper(t[end]) && !upper(t[end-1])) && !h.lexicon.tells.begins(t[end:min(len(t), end+6)]) {
		return
	}
	if h.keyBeforeProvider(p, begin) || h.nextLong(end) >= end+providerReach {
		return
	}
	for i := h.nextLong(end); i < end+providerReach && i < len(t); i = h.longAfter(i, end+providerReach) {
		if strings.Count(t[end:i], "\n") > providerLines {
			return
		}
		for ; i < len(t) && i < end+providerReach && h.token[t[i]]; i++ {
			if !wordByte(t[i]) || i > 0 && (wordByte(t[i-1]) || t[i-1] == '-' && !h.joins(i-1, end)) && !escapeEnds(t, i) {
				continue
			}
			if to := h.besideAt(p, begin, end, i); to > i {
				h.done = to
				h.add(i, to, p.rule)
				return
			}
		}
	}
}

// keyBeforeProvider looks for a key of a provider directly before its name, with nothing but
// a blank between them.
func (h *textScan) keyBeforeProvider(p *provider, begin int) bool {
	t := h.text
	if begin <= longLeast || t[begin-1] != ' ' || !wordByte(t[begin-2]) {
		return false
	}
	from := beginOf(t, begin-1, nearMost-1, kebabByte)
	if begin-from < longLeast+1 || from > 0 && strings.IndexByte("@#/.+%&~=", t[from-1]) >= 0 {
		return false
	}
	text := t[from : begin-1]
	if m := compositionOf(text); m.digit < 2 || m.upper < 2 || m.lower < 2 || m.bits < 3 || wordy(text) || h.placeholder(text) {
		return false
	}
	for _, f := range p.forms {
		if to, ok := f.behind(t, from, &h.ends); ok && to == begin-1 {
			h.add(from, to, p.rule)
			return true
		}
	}
	return false
}

// besideAt gives the end of the key of a provider that begins here; 0 if there is
// none.
func (h *textScan) besideAt(p *provider, begin, end, at int) int {
	t := h.text
	longer := 0
	for _, f := range p.forms {
		to, ok := f.behind(t, at, &h.ends)
		if !ok || to <= h.done || byteAt(t, to) == '+' || byteAt(t, to) == '/' {
			continue
		}
		if f.edgeBehind(t, to) {
			if h.keyBeside(p, f, t[at:to], begin, end, at) {
				return to
			}
		} else if to-at >= longerLeast {
			longer = to
		}
	}
	if longer == 0 {
		return 0
	}
	// It is longer than the keys of this provider: it is one all the same if its
	// name says so.
	longer = endOf(t, longer, nearMost, kebabByte)
	if label := labelBefore(t, at); !strings.Contains(label, p.name) && !h.lexicon.tells.in(label) || idLabel(label) || hashLabel(label) || uuidShaped(t[at:longer]) || !h.keyNear(at, longer) {
		return 0
	}
	return longer
}

// longerLeast is the length of the shortest key that may be longer than is known.
const longerLeast = 20

// joins: the dash here stands between a key and the name of its provider, or a
// word such as key behind that.
func (h *textScan) joins(dash, end int) bool {
	if dash == end {
		return true
	}
	from := beginOf(h.text, dash, dash-end, letter)
	return dash-from >= 3 && dash-from < 12 && h.lexicon.tells.in(h.text[from:dash])
}

// keyBeside judges what has the form of a key behind the name of its provider.
func (h *textScan) keyBeside(p *provider, f *form, text string, begin, end, at int) bool {
	t := h.text
	signed := strings.ContainsAny(t[end:at], "=:\"'`>")
	before := t[at-1]
	if strings.IndexByte("@#/.+-%&~", before) >= 0 && !escapeEnds(t, at) && (before != '-' || !h.joins(at-1, end)) {
		return false // a revision, a part of an address
	}
	if next := byteAt(t, at+len(text)); next == '(' || next == '[' {
		return false // source code
	}
	m := compositionOf(text)
	label := labelBefore(t, at)
	if hashLabel(label) || hashBefore(t, at) {
		return false
	}
	line := strings.IndexByte(t[end:at], '\n') >= 0
	itself := label == p.name && signed && !line
	told := itself || h.lexicon.tells.in(label) || h.lexicon.tells.in(t[end:at]) || h.lexicon.tells.in(t[max(0, begin-24):begin])
	bits, distinct := 2.8, 5
	if len(f.pieces) > 1 || told && !line && m.digit != len(text) {
		bits, distinct = 1.5, 3
	} else if told && !line {
		bits = 2.4
	}
	if (p.name == "akia" || p.name == "asia") && m.upper > 5 && m.lower > 5 && f.pieces[0].min == 40 {
		return true
	}
	if told && !line && m.distinct <= 3 && m.run >= longLeast && h.lexicon.tells.in(label) && strings.IndexByte("xX0*", text[len(text)-1]) < 0 {
		return true // a key that is written out in full, with one letter
	}
	if m.bits < bits || m.distinct < distinct || (len(f.pieces) < 2 || m.digit == 0) && !(m.hex && m.digit > 0) && wordy(text) || strings.HasPrefix(text, "AAAA") || hashPrefixed(t[max(0, at-8):at]) || h.placeholder(text) {
		return false
	}
	switch {
	case m.letters() < 2 || m.digit < 2 && (m.upper < 3 || m.lower < 3) && len(f.pieces) < 2:
		return told && !line && (m.letters() > 1 || len(text) >= 12)
	case line && (m.hex || uuidShaped(text)): // such as the next line of a list of sums
		return signed && (h.lexicon.tells.in(label) || itself)
	case told:
		return true
	case line:
		return false
	case m.hex || uuidShaped(text): // as many hashes and identifiers look like this as keys
		return before != ',' && !idLabel(label) && (signed || !p.common)
	case len(f.pieces) > 1:
		return true
	}
	return signed || !p.common || at == end+1 && m.digit > 1 && m.upper > 1 && m.lower > 1
}

// labelBefore gives the name directly before a value, in lower case.
func labelBefore(t string, at int) string {
	to := beginOf(t, at, 8, func(c byte) bool { return strings.IndexByte("\"'`=: \t>(,\\[", c) >= 0 })
	return strings.ToLower(t[beginOf(t, to, identReach, identByte):to])
}

func hashLabel(s string) bool {
	if containsAnyFold(s, "hash", "sha", "md5", "digest", "checksum", "integrity", "commit", "revision", "fingerprint", "etag", "crc", "blob", "tree", "parent", "resolved", "shasum", "reference", "version", "build", "image") {
		return true
	}
	switch s {
	case "rev", "ref", "uuid", "guid", "id", "oid", "node", "head", "object":
		return true
	}
	return false
}

// hashBefore: the value follows a word such as sha256: or h1:.
func hashBefore(t string, at int) bool {
	return containsAnyFold(t[max(0, at-12):at], "sha1", "sha256", "sha384", "sha512", "md5", "h1:", "commit", "rev", "sha-", "git-", "base64,")
}

func idLabel(s string) bool {
	return strings.HasSuffix(s, "id") || strings.HasSuffix(s, "ids") || strings.HasSuffix(s, "name") || strings.HasSuffix(s, "uuid") || strings.HasSuffix(s, "guid") || strings.HasSuffix(s, "url") || strings.HasSuffix(s, "project")
}
