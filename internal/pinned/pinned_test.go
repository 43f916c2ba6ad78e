package pinned

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestStore: what is kept is read back, is bounded, and is forgotten.
func TestStore(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	for _, s := range []*Store{{Root: root, Most: 100, What: "somebody"}, {Most: 100, What: "somebody"}} {
		var got []string
		if ok, err := s.Load("pins-a", &got); ok || err != nil {
			t.Fatal(ok, err)
		}
		if err := s.Save("pins-a", []string{"<x>"}); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Load("pins-a", &got); !ok || err != nil || len(got) != 1 || got[0] != "<x>" {
			t.Errorf("%v, %v, %v", got, ok, err)
		}
		if err := s.Save("pins-a", strings.Repeat("x", 200)); err == nil || !strings.Contains(err.Error(), "somebody") {
			t.Errorf("too long, and kept: %v", err)
		}
		if err := s.Remove("pins-a"); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Load("pins-a", &got); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	}
	only := &Store{Root: root, Most: 100, ReadOnly: true}
	if err := only.Save("b", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("b.json"); err == nil {
		t.Error("who only looks has written")
	}
}

// TestUnseen: what is meant for one reader only is noticed.
func TestUnseen(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"plain, with ünïcode and 💀"}`: "",
		"{\"a\":\"line\\r\\nline\"}":        "",
		`{"a":"x\u200by"}`:                  "U+200B",
		`{"x\u202ey":1}`:                    "U+202E",
		`{"a":"\ud83d"}`:                    "halves",
	} {
		got, err := Unseen(json.RawMessage(text))
		if err != nil || want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if _, err := Unseen(json.RawMessage(`{"a":1,"a":2}`)); err == nil {
		t.Error("two readers see two things")
	}
}

// FuzzCanonical: two texts of one value have one form, and nothing breaks.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":[true,null,"\ud83d"]}`, `1e400`, `"x"`, `{`, `[[[]]]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := Canonical(json.RawMessage(text))
		_, _ = Unseen(json.RawMessage(text)) // it must not panic
		if err != nil {
			return
		}
		if again, err := Canonical(json.RawMessage(once)); err != nil || again != once {
			t.Errorf("%q, then %q, %v", once, again, err)
		}
	})
}
