package mcphub

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib/internal/text"
)

func TestVisibleIn(t *testing.T) {
	for in, want := range map[string]string{
		``:                                      ``,
		`{"type":"object"}`:                     `{"type":"object"}`,
		`{"description":"a\u200bb"}`:            `{"description":"a[U+200B]b"}`,
		"{ \"title\" : \"a\u202eb\" , \"x\":1}": `{"title":"a[U+202E]b","x":1}`,
		`{"properties":{"description":{"description":"\ue0041\udb40\udc41","enum":["\u200b"],"const":"\u200b"}}}`: "{\"properties\":{\"description\":{\"description\":\"\ue0041[U+E0041]\",\"enum\":[\"\\u200b\"],\"const\":\"\\u200b\"}}}",
		`{"descri\u0070tion":"\u200b"}`:                                                                                                   `{"descri\u0070tion":"[U+200B]"}`,
		`{"enum":["description","title"]}`:                                                                                                `{"enum":["description","title"]}`,
		`{"description":["\u200b"],"title":{"title":"\u200b"}}`:                                                                           `{"description":["\u200b"],"title":{"title":"[U+200B]"}}`,
		`{"$comment":"\u200b","x-hint":"\u200b","format":"\u200b","allOf":[{"note":"\u200b"}]}`:                                           `{"$comment":"[U+200B]","x-hint":"[U+200B]","format":"[U+200B]","allOf":[{"note":"[U+200B]"}]}`,
		`{"const":{"title":"\u200b"},"default":"\u200b","pattern":"\u200b","$ref":"#/\u200b"}`:                                            `{"const":{"title":"\u200b"},"default":"\u200b","pattern":"\u200b","$ref":"#/\u200b"}`,
		`{"properties":{"default":{"title":"\u200b"},"const":{"title":"\u200b"},"properties":{"properties":{"enum":{"note":"\u200b"}}}}}`: `{"properties":{"default":{"title":"[U+200B]"},"const":{"title":"[U+200B]"},"properties":{"properties":{"enum":{"note":"[U+200B]"}}}}}`,
		`{"required":["a\u200b"],"properties":{"a\u200b":{}}}`:                                                                            `{"required":["a\u200b"],"properties":{"a\u200b":{}}}`,
		`{"description":"line\r\nline"}`:                                                                                                  `{"description":"line\nline"}`,
		`{"description":"Grüße, می\u200cخواهم"}`:                                                                                          `{"description":"Grüße, می\u200cخواهم"}`,
	} {
		if got := string(visibleIn(json.RawMessage(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// What is compared or handed on stays, and what is only read hides nothing.
func FuzzVisibleIn(f *testing.F) {
	f.Add([]byte(`{"description":"a\u200bb","x":["title","\u200b"],"title":{"title":"\u200b"}}`))
	f.Add([]byte(`{"properties":{"const":{"x":"\u200b"}},"const":{"x":"\u200b"},"allOf":[[{"x":"\u200b"}]]}`))
	f.Add([]byte(`{"title":"`))
	f.Add([]byte(`"a":"b`))
	f.Add([]byte(`{"a":"\u200b","b":["","c":{"d":"\u200b"}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := visibleIn(in)
		if !json.Valid(in) {
			return
		}
		var before, after any
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(out, &after) != nil {
			t.Fatalf("%s became %s", in, out)
		}
		compare(t, before, after, false, false)
	})
}

func compare(t *testing.T, before, after any, names, value bool) {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		if len(a) != len(b) {
			t.Fatalf("%v became %v", before, after)
		}
		for key, inner := range b {
			said, isText := inner.(string)
			if isText && !names && !value && !isValue(key) {
				if r, found := text.FirstHidden(a[key].(string)); found || visible(said) != a[key] {
					t.Fatalf("%q became %q, which hides %U", said, a[key], r)
				}
				continue
			}
			compare(t, inner, a[key], !names && namesArguments(key), value || !names && isValue(key))
		}
	case []any:
		a, _ := after.([]any)
		if len(a) != len(b) {
			t.Fatalf("%v became %v", before, after)
		}
		for i := range b {
			compare(t, b[i], a[i], false, value)
		}
	default:
		if before != after {
			t.Fatalf("%v became %v", before, after)
		}
	}
}
