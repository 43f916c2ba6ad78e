package secrets

import "strings"

const (
	keysetReach = 400  // how far from its type the value of a key of Tink stands
	keysetMost  = 4096 // how long that value may be
	vapidReach  = 320
)

// tink looks at the value of a key of Tink whose type stands here. Keys that
// others may have are left.
func (h *textScan) tink(begin, end int) {
	t := h.text
	if hasFold(t[min(len(t), end+4):], "public") || containsFold(t[end:min(len(t), end+32)], "publickey") {
		return
	}
	from, to := max(0, begin-keysetReach), min(len(t), end+keysetReach)
	if open := strings.LastIndexByte(t[from:begin], '{'); open >= 0 {
		from += open
	}
	if next := strings.Index(t[end:to], "google.crypto.tink."); next >= 0 {
		to = end + next
	}
	at := -1
	if n := strings.Index(t[end:to], "value"); n >= 0 {
		at = end + n
	} else if n := strings.Index(t[from:begin], "value"); n >= 0 {
		at = from + n
	}
	if at < 0 {
		return
	}
	at += len("value")
	at = endOf(t, at, 12, func(c byte) bool { return strings.IndexByte("\"'\\: \t\n", c) >= 0 })
	stop := endOf(t, at, keysetMost, func(c byte) bool { return c > ' ' && c != '"' && c != '\'' })
	if text := strings.TrimRight(t[at:stop], "\\,"); len(text) >= 16 && !h.placeholder(text) {
		h.add(at, at+len(text), ruleTink)
	}
}

// vapid looks for the private one of the two keys for pushing to browsers: 43
// letters behind the word.
func (h *textScan) vapid(end int) {
	t := h.text
	for i := end; i < len(t) && i-end < vapidReach; {
		to := endOf(t, i, 128, kebabByte)
		if to == i {
			i++
			continue
		}
		if m := compositionOf(t[i:to]); to-i == 43 && m.upper > 3 && m.lower > 3 && m.bits > 4 {
			h.add(i, to, ruleVapid)
		}
		i = to
	}
}
