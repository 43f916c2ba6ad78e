package secrets

import "strings"

const (
	keysetReach = 400  // how far from its type the value of a key of Tink stands
	keysetMost  = 4096 // how long that value may be
	vapidReach  = 320
)

// tink looks at the value of a key of Tink whose type stands here. Keys that
// others may have are left.
func (h *hunt) tink(begin, end int) {
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
	for n := 0; n < 12 && at < len(t) && strings.IndexByte("\"'\\: \t\n", t[at]) >= 0; n++ {
		at++
	}
	stop := at
	for stop < len(t) && stop-at < keysetMost && t[stop] > ' ' && t[stop] != '"' && t[stop] != '\'' {
		stop++
	}
	if text := strings.TrimRight(t[at:stop], "\\,"); len(text) >= 16 && !h.placeholder(text) {
		h.add(at, at+len(text), ruleTink)
	}
}

// vapid looks for the private one of the two keys for pushing to browsers: 43
// letters behind the word.
func (h *hunt) vapid(end int) {
	t := h.text
	for i := end; i < len(t) && i-end < vapidReach; {
		if !wordByte(t[i]) && t[i] != '-' {
			i++
			continue
		}
		to := i
		for to < len(t) && to-i < 128 && (wordByte(t[to]) || t[to] == '-') {
			to++
		}
		if m := makeupOf(t[i:to]); to-i == 43 && m.upper > 3 && m.lower > 3 && m.bits > 4 {
			h.add(i, to, ruleVapid)
		}
		i = to
	}
}
