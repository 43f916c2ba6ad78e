package secrets

import "strings"

// ruleKey is what a finding of a private key is called.
const ruleKey = "private-key"

const (
	pemReach = 1 << 16 // how far after its beginning a key may end
	pemToken = 16      // a shorter word is no line of a key
	pemApart = 4       // so many short words may stand between two lines
	pemLeast = 16      // a body of fewer bytes is a mention, not a key
)

// findPEM finds private keys in PEM form: the whole block, whatever stands
// between its lines (escaped line ends, quotes, indentation, line numbers), and
// also one that is cut off.
func findPEM(found []Finding, text string) []Finding {
	found = findPuTTY(found, text)
	for at := 0; ; {
		n := strings.Index(text[at:], "PRIVATE KEY")
		if n < 0 {
			return found
		}
		name := at + n
		at = name + len("PRIVATE KEY")
		begin := strings.LastIndex(text[max(0, name-64):name], "-----BEGIN")
		if begin < 0 {
			continue
		}
		begin += max(0, name-64)
		head := strings.TrimPrefix(text[at:], " BLOCK")
		if strings.ContainsAny(text[begin:name], "\n\"") || !strings.HasPrefix(head, "-----") {
			continue
		}
		body := len(text) - len(head) + len("-----")
		if end, ok := pemEnd(text, body); ok {
			found = append(found, Finding{Start: begin, End: end, Rule: ruleKey})
			at = end
		}
	}
}

// pemEnd gives where the key that begins at body ends, and whether there is
// one at all.
func pemEnd(text string, body int) (int, bool) {
	reach := text[body:min(len(text), body+pemReach)]
	closed := -1
	if n := strings.Index(reach, "-----"); n >= 0 {
		reach = reach[:n]
		if strings.HasPrefix(text[body+n:], "-----END") {
			closed = body + n
		}
	}
	last, size, short := 0, 0, 0
	for i := 0; i < len(reach); {
		if !pemByte(reach[i]) {
			if reach[i] == '\\' && i+1 < len(reach) && strings.IndexByte("nrt", reach[i+1]) >= 0 {
				i++ // the letter belongs to the escape
			}
			i++
			continue
		}
		from := i
		i = endOf(reach, i, len(reach), pemByte)
		switch {
		case i-from >= pemToken:
			size += i - from
			last, short = i, 0
		case short == 0 && size > 0:
			last, short = i, 1 // the last line is shorter
		default:
			short++
		}
		if short > pemApart && closed < 0 {
			break
		}
	}
	switch {
	case size < pemLeast:
		return 0, false
	case closed >= 0 && 3*size >= len(reach):
		tail := text[closed+len("-----END"):]
		if n := strings.Index(tail[:min(len(tail), 100)], "-----"); n >= 0 {
			return closed + len("-----END") + n + len("-----"), true
		}
		return closed + len("-----END"), true
	}
	return body + last, true
}

// frame takes a private key whose frame does not say that it is one, such as
// BEGIN RSA KEY.
func (h *textScan) frame(begin, end int) {
	if !strings.HasPrefix(h.text[begin:], "-----BEGIN") || !strings.HasPrefix(h.text[end:], "----") {
		return
	}
	if to, ok := pemEnd(h.text, end+len("----")); ok {
		h.add(begin, to, ruleKey)
	}
}

func pemByte(c byte) bool {
	return digit(c) || lower(c) >= 'a' && lower(c) <= 'z' || c == '+' || c == '/' || c == '='
}

// findPuTTY finds the lines of a private key of PuTTY.
func findPuTTY(found []Finding, text string) []Finding {
	const title = "Private-Lines:"
	for at := 0; ; {
		n := strings.Index(text[at:], title)
		if n < 0 {
			return found
		}
		at += n + len(title)
		from := lineEnd(text, at) + 1
		to := from
		for to < len(text) {
			end := lineEnd(text, to)
			line := strings.TrimSpace(text[to:end])
			if len(line) < 4 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' || !pemByte(byte(r)) }) {
				break
			}
			to = end + 1
		}
		if to = min(to, len(text)); to-from >= pemLeast {
			found = append(found, Finding{Start: from, End: len(strings.TrimRight(text[:to], "\r\n")), Rule: ruleKey})
			at = to
		}
	}
}
