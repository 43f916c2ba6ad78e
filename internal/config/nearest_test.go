package config

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	known := []string{"mode", "journal", "max_size", "timeout", "id", "retention"}
	for word, want := range map[string]string{
		"mode": "mode", "mdoe": "mode", "mod": "mode", "jurnal": "journal", "JOURNAL": "journal", "max-size": "max_size", "maxsize": "max_size",
		"time_out": "timeout", "retnetion": "retention", "id": "id", "ix": "", "x": "", "": "", "zebra": "", "node": "mode", "mama": "",
		strings.Repeat("mode", 1000): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
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

func TestSuggest(t *testing.T) {
	root, err := newTree(reflect.TypeFor[settings]())
	if err != nil {
		t.Fatal(err)
	}
	journal := root.field("journal")
	for _, c := range []struct {
		level        *field
		parent, name string
		want         string
	}{
		{journal, "journal", "enabeld", "journal.enabled"}, // the same level before the equal key of another block
		{journal, "journal", "network", "limits.network"},  // another block
		{root, "", "max_siez", "journal.max_size"},
		{root, "", "limits_timeout", "limits.timeout"}, // the whole key
		{root, "", "xyzzy", ""},
	} {
		if got := suggest(root, c.level, c.parent, c.name); got != c.want {
			t.Errorf("suggest(%q, %q) = %q, want %q", c.parent, c.name, got, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	for key, want := range map[string][]string{
		"a": {"a"}, "a.b-c.d_1": {"a", "b-c", "d_1"}, `a["x.y"].b`: {"a", "x.y", "b"}, `["q\"]"]`: {`q"]`}, `a["b"]["c"]`: {"a", "b", "c"},
	} {
		got, err := splitKey(key)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("splitKey(%q) = %q, %v", key, got, err)
		}
	}
	for _, key := range []string{"", ".", "a.", ".a", "a..b", "a[b]", `a["b"`, `a["b"]c`, "a[", `a[""`, `a['b']`, "a[0]", "a.[\"b\"]", "a[`b`]"} {
		if got, err := splitKey(key); err == nil {
			t.Errorf("splitKey(%q) = %q", key, got)
		}
	}
}

func TestKeysRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "names")
		key := ""
		for _, name := range names {
			key = joinKey(key, name)
		}
		got, err := splitKey(key)
		if err != nil || !reflect.DeepEqual(got, names) {
			t.Errorf("%q becomes %q becomes %q, %v", names, key, got, err)
		}
	})
}
