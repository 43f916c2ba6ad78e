package finder

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 5, ""}, {"  short \n", 10, "short"}, {"exactly ten", 11, "exactly ten"},
		{"One sentence here. And one more that is cut.", 24, "One sentence here.…"},
		{"words without an end go on and on", 20, "words without an…"},
		{"abcdefghijklmnop", 5, "abcd…"}, {"äöüäöüäöü", 4, "äöü…"}, {"天气预报天气预报", 3, "天气…"},
	} {
		if got := text.ClipSentence(c.text, c.limit); got != c.want {
			t.Errorf("text.ClipSentence(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestSignature(t *testing.T) {
	for input, want := range map[string]string{
		``:                  "",
		`null`:              "",
		`[]`:                "",
		`{"properties":7}`:  "",
		`{"type":"object"}`: "",
		`{"properties":{"b":{"type":"string"},"a":{}},"required":["b"]}`:                                                                                   "b: string, a?",
		`{"properties":{"x":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}]},"y":{"anyOf":[{"type":"string"},{"$ref":"#/a"}]},"z":{"anyOf":1}}}`: "x?: integer, y?, z?",
		`{"properties":{"x":{"type":["integer","null"]},"y":{"type":["string","number"]}}}`:                                                                "x?: integer, y?: string|number",
		`{"properties":{"x":true,"y":{"type":{"no":1}}}}`:                                                                                                  "x?, y?",
	} {
		if got := signature(json.RawMessage(input)); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

func FuzzSignature(f *testing.F) {
	f.Add(`{"properties":{"b":{"type":"string","description":"x"}},"required":["b"]}`)
	f.Add(`{"properties":{"x":true},"required":7}`)
	f.Fuzz(func(t *testing.T, input string) {
		got := signature(json.RawMessage(input))
		if utf8.RuneCountInString(got) > maxArguments || utf8.ValidString(input) && !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		if len(params(json.RawMessage(input))) == 0 && got != "" {
			t.Fatalf("%q shows arguments that are not searched", got)
		}
		if again := text.ClipSentence(strings.Repeat(input, 2), 50); utf8.RuneCountInString(again) > 50 {
			t.Fatalf("%q", again)
		}
	})
}
