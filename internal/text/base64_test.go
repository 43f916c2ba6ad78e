package text

import (
	"strings"
	"testing"
)

// FuzzBase64Run: a run lies around the place that was asked for, has nothing in it
// but base64, and goes on as far as there is any.
func FuzzBase64Run(f *testing.F) {
	f.Add("a=b QUJD== x", 6)
	f.Add("====", 2)
	f.Add("", 0)
	f.Add("key: "+strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODkrLw==", 8), 99)
	f.Add("=a", 1)
	f.Fuzz(func(t *testing.T, s string, at int) {
		if at < 0 || at > len(s) {
			return // no place in it
		}
		from, to := Base64Run(s, at)
		if from < 0 || from > at || to < at || to > len(s) {
			t.Fatalf("%q at %d: %d to %d", s, at, from, to)
		}
		letters := strings.TrimRight(s[from:to], "=")
		if strings.ContainsFunc(letters, func(r rune) bool { return r > 127 || !inBase64(byte(r)) }) || to-from-len(letters) > 2 {
			t.Errorf("%q at %d: %q is no base64", s, at, s[from:to])
		}
		if from > 0 && inBase64(s[from-1]) || to < len(s) && to == from+len(letters) && inBase64(s[to]) {
			t.Errorf("%q at %d: %q goes on", s, at, s[from:to])
		}
		// By another way: what stands between other signs, with no more than two = behind it.
		want := false
		for _, run := range strings.FieldsFunc(s, func(r rune) bool { return r > 127 || !inBase64(byte(r)) }) {
			want = want || IsData(run) || IsData(run+"=") && strings.Contains(s, run+"=") || IsData(run+"==") && strings.Contains(s, run+"==")
		}
		if got := HasData(s); got != want {
			t.Errorf("%q has data: %t", s, got)
		}
	})
}
