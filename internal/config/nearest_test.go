package config

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

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
