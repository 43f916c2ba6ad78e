package clientfiles

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestJSONC(t *testing.T) {
	good := []struct{ in, want string }{
		{`{"a": 1}`, `{"a": 1}`},
		{"\ufeff// head\n{\"a\": [1, 2,], /* in */ \"b\": {\"c\": null,},}\n// end", `{"a": [1, 2], "b": {"c": null}}`},
		{`{"u": "https://x/y//z", "s": "/* no */"}`, `{"u": "https://x/y//z", "s": "/* no */"}`},
		{`["\u00e9\n\"\\", -1.5e3, true]`, `["é\n\"\\", -1.5e3, true]`},
		{"{\r\n}", `{}`},
		{"{} //", `{}`},
	}
	for _, tt := range good {
		v, twice, err := parseJSONC([]byte(tt.in))
		if err != nil || len(twice) != 0 {
			t.Errorf("%q: %v %v", tt.in, err, twice)
		} else if got := (style{flat: true}).json(v, ""); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
		}
	}
	bad := []struct{ in, want string }{
		{"", "line 1: want a value"},
		{"{\n'a': 1}", "line 2: want a key in double quotes"},
		{"{a: 1}", "want a key in double quotes"},
		{`{"a" 1}`, "want a colon"},
		{`{"a": 1 "b": 2}`, "want a comma"},
		{`{"a": 1,, "b": 2}`, "want a key"},
		{`{,}`, "want a key"},
		{`[,]`, "want a value"},
		{`[1 2]`, "want a comma"},
		{`{"a": 01}`, "want a value"},
		{`{"a": +1}`, "want a value"},
		{`{"a": NaN}`, "want a value"},
		{`{"a": 1`, "want a comma or the end"},
		{`{"a": "x`, "not closed"},
		{"{\"a\": \"x\ny\"}", "not closed on its line"},
		{`{"a": "\x"}`, "an escape"},
		{"{\"a\": \"\x01\"}", "an escape or a character"},
		{"{} /* x", "a comment is not closed"},
		{"{} {}", "something follows"},
		{strings.Repeat("[", maxDepth+2), "nests too deeply"},
	}
	for _, tt := range bad {
		if _, _, err := parseJSONC([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.in, err, tt.want)
		}
	}
	_, twice, err := parseJSONC([]byte(`{"a": 1, "b": {"c": 1, "c": 2}, "\u0061": 3}`))
	if err != nil || len(twice) != 2 || twice[0].name != "c" || twice[1].name != "a" {
		t.Errorf("twice: %v, %v", twice, err)
	}
}

// jsoncValue draws a value in the layouts that people use: comments wherever a
// blank may stand, commas behind the last entry, several indentations.
func jsoncValue(t *rapid.T, depth int, pad string) string {
	kinds := 4
	if depth < 3 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "-1.5", "0"}).Draw(t, "word")
	case 1, 2, 3:
		return quote(rapid.SampledFrom([]string{"", "x", "a//b", "/*", "é\n", `"`, "}"}).Draw(t, "text"))
	case 4:
		return jsoncMany(t, depth, pad, "[", "]", func(int) string { return "" })
	}
	return jsoncObject(t, depth, pad)
}

func jsoncObject(t *rapid.T, depth int, pad string) string {
	return jsoncMany(t, depth, pad, "{", "}", func(i int) string {
		return quote("k"+string(rune('a'+i))) + trivia(t) + ":"
	})
}

func jsoncMany(t *rapid.T, depth int, pad, open, shut string, key func(int) string) string {
	n := rapid.IntRange(0, 3).Draw(t, "n")
	lines := rapid.Bool().Draw(t, "lines")
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
	var b strings.Builder
	b.WriteString(open + trivia(t))
	for i := range n {
		if lines {
			b.WriteString(eol + pad + "  ")
		}
		b.WriteString(key(i) + trivia(t) + jsoncValue(t, depth+1, pad+"  ") + trivia(t))
		if i < n-1 || rapid.Bool().Draw(t, "comma") {
			b.WriteString("," + trivia(t))
		}
	}
	if lines {
		b.WriteString(eol + pad)
	}
	return b.String() + shut
}

func trivia(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", " ", "\n", "\r\n\t", " // c\n", "/* c */", " /* a\n b */ ", "// \"x\": {\r\n", "//\n//\n"}).Draw(t, "trivia")
}

// TestJSONCAgreesWithJSON: what is left when the comments are gone is what the
// standard library reads.
func TestJSONCAgreesWithJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := trivia(t) + jsoncValue(t, 0, "") + trivia(t)
		v, _, err := parseJSONC([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		plain := (style{unit: "\t", eol: "\n"}).json(v, "")
		var a, b any
		if err := json.Unmarshal([]byte(plain), &a); err != nil {
			t.Fatalf("%q became %q: %v", text, plain, err)
		}
		w, _, err := parseJSONC([]byte(plain))
		if err != nil || !v.equal(w, true) {
			t.Fatalf("%q: written and read again it is another: %v", text, err)
		}
		if err := json.Unmarshal([]byte((style{flat: true}).json(v, "")), &b); err != nil || !cmp.Equal(a, b) {
			t.Fatalf("%q: flat and laid out differ: %v", text, err)
		}
	})
}
