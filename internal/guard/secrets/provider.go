package secrets

import "strings"

const (
	providerReach = 96 // how far behind the name of a provider a key is looked for
	providerLines = 2
)

// beside looks for a key of a provider behind its name.
func (h *hunt) beside(p *provider, begin, end int) {
	t := h.text
	if h.nextLong(end) >= end+providerReach {
		return
	}
	if begin > 0 && letter(t[begin-1]) && !(upper(t[begin]) && !upper(t[begin-1])) && !escapeEnds(t, begin) {
		return
	}
	if end < len(t) && letter(t[end]) && !(upper(t[end]) && !upper(t[end-1])) && !h.lexicon.tells.in(t[end:min(len(t), end+6)]) {
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
			for _, f := range p.forms {
				to, ok := f.behind(t, i, &h.ends)
				if ok && to > h.done && f.edgeBehind(t, to) && c0(t, to) != '+' && c0(t, to) != '/' && h.keyBeside(p, f, t[i:to], begin, end, i) {
					h.done = to
					h.add(i, to, p.rule)
					return
				}
			}
		}
	}
}

// joins: the dash here stands between a key and the name of its provider, or a
// word such as key behind that.
func (h *hunt) joins(dash, end int) bool {
	if dash == end {
		return true
	}
	from := dash
	for from > end && letter(h.text[from-1]) {
		from--
	}
	return dash-from >= 3 && dash-from < 12 && h.lexicon.tells.in(h.text[from:dash])
}

// keyBeside judges what has the form of a key behind the name of its provider.
func (h *hunt) keyBeside(p *provider, f *form, text string, begin, end, at int) bool {
	t := h.text
	signed := strings.ContainsAny(t[end:at], "=:\"'`>")
	before := t[at-1]
	if strings.IndexByte("@#/.+-%&~", before) >= 0 && !escapeEnds(t, at) && (before != '-' || !h.joins(at-1, end)) {
		return false // a revision, a part of an address
	}
	m := makeupOf(text)
	bits := 2.8
	if len(f.pieces) > 1 {
		bits = 2
	}
	if m.bits < bits || m.distinct < 5 || (len(f.pieces) < 2 || m.digit == 0) && wordy(text) || strings.HasPrefix(text, "AAAA") || hashPrefixed(t[max(0, at-8):at]) || h.placeholder(text) {
		return false
	}
	label := labelBefore(t, at)
	if hashLabel(label) || hashBefore(t, at) {
		return false
	}
	line := strings.IndexByte(t[end:at], '\n') >= 0
	itself := label == p.name && signed && !line
	told := itself || h.lexicon.tells.in(label) || h.lexicon.tells.in(t[end:at]) || h.lexicon.tells.in(t[max(0, begin-24):begin])
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
	return signed || !p.common
}

// labelBefore gives the name directly before a value, in lower case.
func labelBefore(t string, at int) string {
	i := at
	for n := 0; i > 0 && n < 8 && (strings.IndexByte("\"'`=: \t>(,\\[", t[i-1]) >= 0); n++ {
		i--
	}
	to := i
	for i > 0 && to-i < identReach && identByte(t[i-1]) {
		i--
	}
	return strings.ToLower(t[i:to])
}

func hashLabel(s string) bool {
	for _, word := range [...]string{"hash", "sha", "md5", "digest", "checksum", "integrity", "commit", "revision", "fingerprint", "etag", "crc", "blob", "tree", "parent", "resolved", "shasum", "reference", "version", "build", "image"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	switch s {
	case "rev", "ref", "uuid", "guid", "id", "oid", "node", "head", "object":
		return true
	}
	return false
}

// hashBefore: the value follows a word such as sha256: or h1:.
func hashBefore(t string, at int) bool {
	before := t[max(0, at-12):at]
	for _, word := range [...]string{"sha1", "sha256", "sha384", "sha512", "md5", "h1:", "commit", "rev", "sha-", "git-", "base64,"} {
		if containsFold(before, word) {
			return true
		}
	}
	return false
}

func idLabel(s string) bool {
	return strings.HasSuffix(s, "id") || strings.HasSuffix(s, "ids") || strings.HasSuffix(s, "name") || strings.HasSuffix(s, "uuid") || strings.HasSuffix(s, "guid") || strings.HasSuffix(s, "url") || strings.HasSuffix(s, "project")
}
