package artifact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// plainKeeper keeps nothing and says where a text was cut.
type plainKeeper struct{ texts []string }

func (k *plainKeeper) storeWithMarker(text string) func(left, offset int) string {
	k.texts = append(k.texts, text)
	return func(left, offset int) string { return fmt.Sprintf(`[… %d left out from %d, "so"]`, left, offset) }
}

func shrunk(t testing.TB, value any, size int) (json.RawMessage, *shrinker) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	s := newShrinker(string(text), &plainKeeper{})
	return s.shrink(size), s
}

func TestShrinkKeepsTheShape(t *testing.T) {
	long := strings.Repeat("all work and no play\n", 5000)
	type page struct {
		Path  string   `json:"path"`
		Text  string   `json:"text"`
		Lines int      `json:"lines"`
		Tags  []string `json:"tags"`
		More  bool     `json:"more"`
	}
	out, s := shrunk(t, page{"a.txt", long, 5000, []string{"x", "y"}, true}, 10_000)
	var got page
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Path != "a.txt" || got.Lines != 5000 || len(got.Tags) != 2 || !got.More || s.dropped != 0 {
		t.Errorf("what is short did not stay: %+v", got)
	}
	if len(out) > 10_000 || len(out) < 9_000 || !strings.Contains(got.Text, "left out") {
		t.Errorf("%d bytes: %.200s", len(out), got.Text)
	}
	if !strings.HasPrefix(got.Text, "all work") || !strings.HasSuffix(got.Text, "no play\n") {
		t.Error("beginning and end are not there")
	}
	for line := range strings.Lines(got.Text) {
		if line != "all work and no play\n" && !strings.Contains(line, "left out") {
			t.Errorf("cut within a line: %q", line)
		}
	}
}

func TestShrinkLists(t *testing.T) {
	var hits []map[string]any
	for i := range 20_000 {
		hits = append(hits, map[string]any{"path": fmt.Sprintf("dir/file%05d.go", i), "line": i})
	}
	out, s := shrunk(t, map[string]any{"hits": hits, "total": 20_000, "also": hits}, 20_000)
	var got struct {
		Hits, Also []struct {
			Path string
			Line int
		}
		Total int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Total != 20_000 || len(got.Hits) < 100 || len(got.Also) < 100 || s.dropped == 0 {
		t.Errorf("%d and %d hits of %d, dropped %d", len(got.Hits), len(got.Also), got.Total, s.dropped)
	}
	for i, h := range got.Hits {
		if h.Line != i || h.Path != hits[i]["path"] {
			t.Fatalf("hit %d is %v", i, h)
		}
	}
}

func TestShrinkHostile(t *testing.T) {
	for name, value := range map[string]string{
		"deep":           strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"deep, wide end": strings.Repeat(`{"a":`, 100) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("}", 100),
		"one key":        `{"` + strings.Repeat("k", 1<<20) + `":1}`,
		"many keys":      "{" + strings.TrimSuffix(strings.Repeat(`"k":0,`, 1<<18), ",") + "}",
		"number":         strings.Repeat("9", 1<<20),
		"numbers":        "[" + strings.Repeat("9", 1<<19) + "," + strings.Repeat("8", 1<<19) + "]",
		"ones":           "[" + strings.TrimSuffix(strings.Repeat("1,", 1<<19), ",") + "]",
		"controls":       `{"a":"` + strings.Repeat(`\u0000`, 1<<17) + `","b":2}`,
		"quotes":         `"` + strings.Repeat(`\"\\`, 1<<18) + `"`,
		"surrogates":     `"` + strings.Repeat(`\ud83d\ude00\ud800`, 1<<16) + `"`,
		"brackets":       `["` + strings.Repeat(`]}{[\"`, 1<<17) + `"]`,
		"half escaped":   `"` + strings.Repeat("x", 1<<19) + strings.Repeat(`\u0001`, 1<<17) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			if !json.Valid([]byte(value)) {
				t.Fatal("the test is wrong")
			}
			for _, size := range []int{minSize, 50_000} {
				out := newShrinker(value, &plainKeeper{}).shrink(size)
				if len(out) > size || !json.Valid(out) || !utf8.Valid(out) {
					t.Errorf("%d: %d bytes, valid %v: %.100s", size, len(out), json.Valid(out), out)
				}
			}
		})
	}
}

// anyJSON draws JSON of some size and depth.
func anyJSON() *rapid.Generator[any] {
	text := rapid.OneOf(rapid.StringN(0, 40, -1), rapid.Map(rapid.StringN(1, 10, -1), func(s string) string { return strings.Repeat(s, 400) }))
	var deeper func(depth int) *rapid.Generator[any]
	deeper = func(depth int) *rapid.Generator[any] {
		scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Int(), func(n int) any { return n }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(text, func(s string) any { return s }))
		if depth == 0 {
			return scalar
		}
		return rapid.OneOf(scalar,
			rapid.Map(rapid.SliceOfN(deeper(depth-1), 0, 12), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(text, deeper(depth-1), 0, 12), func(m map[string]any) any { return m }))
	}
	return deeper(4)
}

// sameShape reports whether small is of the same kind as whole everywhere, and
// its lists are beginnings.
func sameShape(whole, small any) bool {
	switch w := whole.(type) {
	case []any:
		s, ok := small.([]any)
		if !ok || len(s) > len(w) {
			return false
		}
		for i := range s {
			if !sameShape(w[i], s[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		s, ok := small.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range s {
			if from, ok := w[k]; !ok || !sameShape(from, v) {
				return false
			}
		}
		return true
	case string:
		_, ok := small.(string)
		return ok
	}
	return whole == small
}

func TestShrinkProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyJSON().Draw(t, "value")
		size := rapid.IntRange(minSize, 20_000).Draw(t, "size")
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		s := newShrinker(string(text), &plainKeeper{})
		out := s.shrink(size)
		var whole, small any
		if err := json.Unmarshal(text, &whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &small); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if len(out) > size || !sameShape(whole, small) {
			t.Fatalf("%d bytes of %d, allowed %d:\n%s\n%s", len(out), len(text), size, text, out)
		}
		if len(text) <= size && string(out) != string(text) {
			t.Fatal("what fits was changed")
		}
	})
}

func FuzzCutText(f *testing.F) {
	f.Add("one\ntwo\nthree\n", 40)
	f.Add(strings.Repeat("ä", 400), 300)
	f.Add(strings.Repeat("\x80", 400), 301)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 0 || size > 1<<20 {
			t.Skip("no size that is used")
		}
		marks := 0
		out := cutText(text, size, func(left, offset int) string {
			marks++
			if left < 0 || offset < 0 || offset > len(text) {
				t.Fatalf("%d left out from %d of %d", left, offset, len(text))
			}
			return fmt.Sprintf("[… %d at %d …]", left, offset)
		})
		if len(out) > size && len(text) > size {
			t.Fatalf("%d bytes, allowed %d", len(out), size)
		}
		if len(text) <= size && out != text {
			t.Fatal("what fits was changed")
		}
		if utf8.ValidString(text) && !utf8.ValidString(out) {
			t.Fatalf("cut within a letter: %q", out)
		}
	})
}

func BenchmarkShrink(b *testing.B) {
	var hits []map[string]any
	for i := range 15_000 {
		hits = append(hits, map[string]any{"path": fmt.Sprintf("dir/file%05d.go", i), "line": i, "text": "a line of code"})
	}
	text, err := json.Marshal(hits)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		newShrinker(string(text), &plainKeeper{}).shrink(100_000)
	}
}
