package secrets

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzRedact: whatever goes in, places are in the text, JSON stays JSON, and
// known values do not survive.
func FuzzRedact(f *testing.F) {
	s := testScanner(f)
	known := NewKnown([]string{"hunter2-hunter2", "12345678", "q\"u\\o\nte"})
	for _, seed := range []string{
		`{"a":"hunter2-hunter2","b":[12345678,{"q\"u\\o\nte":null}]}`, "plain hunter2-hunter2 text", `"\u0068unter2-hunter2"`,
		`["` + aToken() + `","` + escapeAll(aToken()) + `"]`, string(quote(pemKey(2))), "api_key = \"x\\\"y", `"aHVudGVyMi1odW50ZXIy"`, "\xff\xfe\"", `{"":""}`,
		"kind: Secret\n---kind: Secret\ndata:\n  a: aHVudGVyMg==\n---\nkind: Secret\n", "net user a b /add\nnet use z: \\\\x y /user:z", "ConvertTo-SecureString 'x", "Uid=a; Pwd=bcd;", "token-0a1b2c3d4e5f60718293a4b5 | 0a1b2c3d4e5f60718293a4b5", "username='a' password='bcde'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, found := range s.Find(text, known) {
			if found.Start < last || found.End <= found.Start || found.End > len(text) || found.Rule == "" {
				t.Fatalf("%+v after %d in a text of %d bytes", found, last, len(text))
			}
			last = found.End
		}
		if struck := s.Strike(text, known); strings.Contains(struck, "hunter2-hunter2") || strings.Contains(struck, "12345678") {
			t.Fatalf("a known value is still in %q", struck)
		}
		if !json.Valid([]byte(text)) {
			return
		}
		out := s.Redact(json.RawMessage(text), known)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", text, out)
		}
		flat := flatten(out)
		if strings.Contains(flat, "hunter2-hunter2") || strings.Contains(flat, "12345678") {
			t.Fatalf("a known value is still in %s", out)
		}
		for _, h := range s.Hits(json.RawMessage(text), known, "args") {
			if h.Path == "" || h.Rule == "" || strings.Contains(h.Path, "12345678") {
				t.Fatalf("hit %+v", h)
			}
		}
	})
}

// FuzzTables: whatever stands in a table, reading it ends with an error or with
// forms that can be looked for.
func FuzzTables(f *testing.F) {
	f.Add("a-key ab{w3-5}(c|d){U}x\n!b-key zz{d2}", "{w4} name other?\n  third")
	f.Add("a b{", "{q1} x")
	f.Fuzz(func(_ *testing.T, forms, providers string) {
		if len(forms)+len(providers) > 2000 {
			return
		}
		if s, err := newScanner(forms, providers); err == nil {
			s.Find("name = ab123c1234 zz11 "+forms, nil)
		}
	})
}
