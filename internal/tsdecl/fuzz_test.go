package tsdecl

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// bare is a declaration without its comments and strings.
func bare(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "//"):
			end := strings.IndexByte(s[i:], '\n')
			if end < 0 {
				t.Fatalf("a comment does not end: %q", s)
			}
			i += end
		case s[i] == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			if i++; i > len(s) {
				t.Fatalf("a string does not end: %q", s)
			}
			b.WriteByte('S')
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// checkText holds a declaration to what every reader would understand.
func checkText(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && text.Invisible(r) }) {
		t.Fatalf("something cannot be seen: %q", s)
	}
	rest := bare(t, s)
	var open []rune
	for i, r := range rest {
		switch {
		case strings.ContainsRune("({[", r):
			open = append(open, r)
		case strings.ContainsRune(")}]", r):
			if len(open) == 0 || open[len(open)-1] != map[rune]rune{')': '(', '}': '{', ']': '['}[r] {
				t.Fatalf("brackets at %d: %s", i, s)
			}
			open = open[:len(open)-1]
		case r > 0x7f || strings.ContainsRune("`\\'*/@#%^!~+", r):
			t.Fatalf("%q stands outside: %s", r, s)
		}
	}
	if len(open) > 0 {
		t.Fatalf("%d brackets are open: %s", len(open), s)
	}
}

func FuzzDeclare(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":"string","description":"*/ x"}},"required":["a"]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"array","items":{"$ref":"#"}}]}}}`,
		`{"type":["object","null"],"patternProperties":{"^x":{"enum":["\u2028",1e999,-0]}},"additionalProperties":{"prefixItems":[{},false]}}`,
		`{"properties":{"__proto__":{"const":"a\\"},"":{"allOf":[{"required":["x"]},{"oneOf":[]}]}},"items":{}}`,
		`{"type":"array","items":[{"type":"number"}],"minItems":1e9}`, `false`, `[`, `{"a":1,"a":2}`, "{\"type\":\"\x80\"}",
	} {
		f.Add("tool", "words", s, 0)
		f.Add("new", "*/\n", s, 60)
	}
	f.Fuzz(func(t *testing.T, name, about, schema string, tokens int) {
		tool := Tool{Name: name, Description: about, Input: json.RawMessage(schema), Output: json.RawMessage(schema)}
		got := Declare([]Tool{tool, {Name: "other", Output: json.RawMessage(schema)}}, tokens)
		checkText(t, got)
		if got != Declare([]Tool{tool, {Name: "other", Output: json.RawMessage(schema)}}, tokens) {
			t.Fatal("twice the same gives two texts")
		}
	})
}
