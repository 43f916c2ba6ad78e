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
	for i := h.nextLong(end); i < end+providerReach && i < len(t); i = h.nextLong(i) {
		if strings.Count(t[end:i], "\n") > providerLines {
			return
		}
		for ; i < len(t) && i < end+providerReach && h.token[t[i]]; i++ {
			if !wordByte(t[i]) || i > 0 && (wordByte(t[i-1]) || t[i-1] == '-') && !escapeEnds(t, i) {
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

// keyBeside judges what has the form of a key behind the name of its provider.
func (h *hunt) keyBeside(p *provider, f *form, text string, begin, end, at int) bool {
	t := h.text
	signed := strings.ContainsAny(t[end:at], "=:\"'`>")
	before := t[at-1]
	if strings.IndexByte("@#/.+-%&~", before) >= 0 && !escapeEnds(t, at) {
		return false // a revision, a part of an address
	}
	m := makeupOf(text)
	bits := 2.8
	if len(f.pieces) > 1 {
		bits = 2
	}
	if m.digit < 2 && (m.upper < 3 || m.lower < 3) && len(f.pieces) < 2 || m.letters() < 2 || m.bits < bits || (len(f.pieces) < 2 || m.digit == 0) && wordy(text) || strings.HasPrefix(text, "AAAA") || hashPrefixed(t[max(0, at-8):at]) || h.placeholder(text) {
		return false
	}
	label := labelBefore(t, at)
	if hashLabel(label) || hashBefore(t, at) {
		return false
	}
	line := strings.IndexByte(t[end:at], '\n') >= 0
	itself := label == p.name && signed && !line
	told := itself || h.lexicon.tells.in(label) || h.lexicon.tells.in(t[end:at]) || h.lexicon.tells.in(t[max(0, begin-24):begin])
	if m.hex || uuidShaped(text) {
		if before == ',' {
			return false
		}
		told = itself || h.lexicon.tells.in(label)
		// As many hashes and identifiers look like this as keys.
		return told && signed || !p.common && signed && !line && label != "" && (strings.Contains(label, p.name) || !idLabel(label))
	}
	if len(f.pieces) > 1 && !uuidShaped(text) {
		return told || !line
	}
	if p.common || line {
		return told
	}
	return signed || told
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
