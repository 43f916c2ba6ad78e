package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	settings := []string{"mode", "journal", "max_size", "timeout", "id", "retention"}
	for word, want := range map[string]string{
		"mode": "mode", "mdoe": "mode", "mod": "mode", "jurnal": "journal", "JOURNAL": "journal", "max-size": "max_size", "maxsize": "max_size",
		"time_out": "timeout", "retnetion": "retention", "id": "id", "ix": "", "x": "", "": "", "zebra": "", "node": "mode", "mama": "",
		strings.Repeat("mode", 1000): "",
	} {
		if got := Nearest(word, settings); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	arguments := []string{"expression", "precision", "file_path", "maxResults", "q", "timeout_seconds"}
	for word, want := range map[string]string{
		"expr": "expression", "expresion": "expression", "precison": "precision", "filePath": "file_path", "path": "file_path", "max_results": "maxResults",
		"timeout": "timeout_seconds", "zzz": "", "x": "", "": "", "FILE-PATH": "file_path", "Q": "q", strings.Repeat("ȺȺȺȺ", 8): "",
	} {
		if got := Nearest(word, arguments); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("tool/list", []string{"tools__list", "tools/list"}); got != "tools/list" {
		t.Errorf("of two equals the one spelled alike should win, got %q", got)
	}
	if got := Nearest("delete_every_single_entity_now", []string{"create_every_simple_entry_new"}); got != "" {
		t.Errorf("a long word gets a guess that is far away: %q", got)
	}
	if got := Nearest("permissions.mode", []string{"permissions.ask", "permissions.deny"}); got != "" {
		t.Errorf("the same beginning alone is enough: %q", got)
	}
	if got := Nearest("abcd", []string{"abce", "abcf"}); got != "abce" {
		t.Errorf("of two equals the first should win, got %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"kitten", "sitting", 3},
		{"ca", "abc", 3}, {"größe", "grösse", 2},
	} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.RuneFrom([]rune("abc")), 0, 8)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		ab, ba := distance(a, b), distance(b, a)
		if ab != ba || (ab == 0) != (string(a) == string(b)) || ab > max(len(a), len(b)) || ab < max(len(a), len(b))-min(len(a), len(b)) {
			t.Errorf("distance(%q, %q) = %d, other way %d", string(a), string(b), ab, ba)
		}
	})
}
