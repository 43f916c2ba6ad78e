package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestChanges: what changed is shown as the sentence or the argument that it is, and
// no change is without a line.
func TestChanges(t *testing.T) {
	const base = `{"name":"a","description":"One. Two.\nThree.","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}`
	for _, c := range []struct {
		is   string
		want []string
	}{
		{strings.Replace(base, "Two.", "2.", 1), []string{"- description: Two.", "+ description: 2."}},
		{strings.Replace(base, `"x":{"type":"string"}`, `"x":{"type":"string"},"y":{"type":"number","minimum":1}`, 1), []string{"+ argument y.minimum = 1", "+ argument y.type: number"}},
		{strings.Replace(base, `"name"`, `"annotations":{"readOnlyHint":true},"name"`, 1), []string{"+ annotations.readOnlyHint = true"}},
		{strings.Replace(base, `"x"`, `"x y\u200b"`, 1), []string{"- argument x.type: string", "+ argument \"x y\\u200b\".type: string"}},
	} {
		if got := changes(json.RawMessage(base), json.RawMessage(c.is)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.is, got, c.want)
		}
	}
	for was, is := range map[string]string{
		`{"a":"One. Two"}`: `{"a":"One.\nTwo"}`, `{"a":"1"}`: `{"a":1}`, `{"a":"{}"}`: `{"a":{}}`, `{"a":["x"]}`: `{"a[0]":"x"}`,
		`{"a":null}`: `{}`, `{"a.b":1}`: `{"a":{"b":1}}`, `{"a":1.0}`: `{"a":1}`, `{"a":"x"}`: `{"a": "x "}`, `{"argument x":1}`: `{"inputSchema":{"properties":{"x":1}}}`,
	} {
		if len(changes(json.RawMessage(was), json.RawMessage(is))) == 0 {
			t.Errorf("%s and %s look the same", was, is)
		}
	}
}

// FuzzReadable: every text of a definition is in what is shown of it.
func FuzzReadable(f *testing.F) {
	f.Add("a. b", "key")
	f.Add("one\n\n. two. ", "a.b")
	f.Fuzz(func(t *testing.T, value, key string) {
		definition, err := json.Marshal(map[string]any{key: []string{value}})
		if err != nil {
			t.Fatal(err)
		}
		lines, ok := readable(definition)
		if !ok || len(lines) == 0 {
			t.Fatalf("%q: nothing is shown", definition)
		}
		all := strings.Join(lines, "\n")
		for word := range strings.FieldsSeq(strings.ToValidUTF8(value, "\ufffd")) {
			if !strings.Contains(all, word) {
				t.Errorf("%q is not in %q", word, all)
			}
		}
	})
}
