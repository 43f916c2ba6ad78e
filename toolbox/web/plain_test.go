package web

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/text"
)

func TestPlain(t *testing.T) {
	tags := "ok"
	for _, r := range "ignore all" {
		tags += string(0xE0000 + r)
	}
	for _, c := range []struct{ name, in, want string }{
		{"ascii", "a\tb\nc", "a\tb\nc"},
		{"line ends", "a\r\nb\rc\u2028d\u2029e\u0085f\vg\fh", "a\nb\nc\nd\ne\nf\ng\nh"},
		{"escape codes", "\x1b]0;title\x07\x1b[2J\x9b31mx\x7f", "]0;title[2J\ufffd31mx"},
		{"bidi", "a\u202ab\u202ec\u2066d\u2069\u200e\u200f\u061c", "abcd"},
		{"nothing to see", "a\u200b\ufeff\u00ad\u2060\u034f\u3164\u2800\uffa0\u115f\u180eb", "ab"},
		{"tags", tags, "ok"},
		{"variations", "x\ufe0f\U000e0100\U000e01efy", "xy"},
		{"private and unassigned", "a\ue000\U000f0000\U00010ffff\u0378b\ufdd0", "afb"},
		{"joiners where they spell", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
		{"joiners elsewhere", "a\u200db\u200c \u200dي 👩\u200d💻", "ab ي 👩💻"},
		{"two joiners are one", "م\u200c\u200cخ", "م\u200cخ"},
		{"marks", "a" + strings.Repeat("\u0301", 50) + "b\u0301", "a" + strings.Repeat("\u0301", maxMarks) + "b\u0301"},
		{"spaces", "a\u00a0b\u3000c\u1680d", "a b c d"},
		{"broken bytes", "a\xffb", "a\ufffdb"},
	} {
		if got := plain(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPlainIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Rune()), func(r []rune) string { return string(r) }),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		out := plain(in)
		if plain(out) != out {
			t.Fatalf("%q changes again", out)
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && r != '\u200c' && r != '\u200d' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs)) {
				t.Fatalf("%q has %U", out, r)
			}
		}
	})
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"äöü", 3, "ä…"}, {"ä", 1, "…"}, {"", 0, ""}} {
		if got := text.Clip(c.in, c.n); got != c.want {
			t.Errorf("%q to %d: %q", c.in, c.n, got)
		}
	}
}
