package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		size int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aä", 2, "a…"}, {"ä", 1, "…"}, {"日本", 4, "日…"}, {"abc", 0, "…"}, {"abc", -1, "…"},
	} {
		if got := Clip(c.s, c.size); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.size, got, c.want)
		}
	}
	if got := ClipRunes("日本語", 2); got != "日本…" {
		t.Error(got)
	}
	if got := ClipMiddle("abcdefghij", 5); got != "abc…ij" {
		t.Error(got)
	}
	if got := ClipSentence("  One sentence. Another one that is longer than there is room for.", 24); got != "One sentence. Another…" {
		t.Error(got)
	}
	if got := ClipSentence("This is a sentence of words. Then more", 30); got != "This is a sentence of words.…" {
		t.Error(got)
	}
}

// TestClipKeepsLetters: a cut never makes a broken character, and never keeps
// more than it was asked to; of broken bytes it takes no more than they are.
func TestClipKeepsLetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		size := rapid.IntRange(0, len(s)+2).Draw(t, "size")
		head, tail := Head(s, size), Tail(s, size)
		if len(head) > size || len(tail) > size || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Fatalf("Head %q, Tail %q of %q at %d", head, tail, s, size)
		}
		if !utf8.ValidString(head) || !utf8.ValidString(tail) || !utf8.ValidString(ClipMiddle(s, size)) || !utf8.ValidString(ClipRunes(s, size)) {
			t.Fatalf("a broken character: %q at %d", s, size)
		}
		if len(s) > size && (len(head) <= size-utf8.UTFMax || len(tail) <= size-utf8.UTFMax) {
			t.Fatalf("more was cut than a character: %q %q of %q at %d", head, tail, s, size)
		}
	})
	if got := Head(strings.Repeat("\x80", 100), 50); len(got) < 46 {
		t.Errorf("of broken bytes %d of 50 are left", len(got))
	}
	if got := Tail(strings.Repeat("\x80", 100), 50); len(got) < 46 {
		t.Errorf("of broken bytes %d of 50 are left", len(got))
	}
}
