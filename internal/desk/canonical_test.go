package desk

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                 `{}`,
		` { "b" : [ 1 , true ] , "a":null} `: `{"a":null,"b":[1,true]}`,
		`{"a":{"d":1,"c":"\u0041\/"}}`:       `{"a":{"c":"A/","d":1}}`,
		`1e2`:                                `1e2`,
		`12345678901234567890`:               `12345678901234567890`,
		`"\ud83d\ude00"`:                     `"😀"`,
		`{"a":1,"a":1}`:                      ``,
		`{"a":1,"\u0061":2}`:                 ``,
		`"\ud800"`:                           ``,
		"\"\xff\"":                           ``,
		`{} {}`:                              ``,
		`{`:                                  ``,
		``:                                   ``,
		`{"a":1,}`:                           ``,
		strings.Repeat("[", 200) + strings.Repeat("]", 200): ``,
	} {
		got, err := canonical([]byte(in))
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	d := &Desk{digest: hashOf}
	if d.argumentsHash(nil) != d.argumentsHash([]byte(` {}`)) {
		t.Error("no arguments are not an empty object")
	}
	if d.argumentsHash([]byte(`{"a":1,"a":2}`)) == d.argumentsHash([]byte(`{"a":2}`)) || d.argumentsHash([]byte(`{"a":1,"a":2}`)) == d.argumentsHash([]byte(`{"a":1,"a":3}`)) {
		t.Error("ambiguous arguments are taken for others")
	}
}

// FuzzCanonical: what is normalised means the same as before, and is normal.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":[{"x":"\u00e9"},1.50,-0]}`, `{"a":1,"a":2}`, `"\ud800\udc00"`, `[[[]]]`, "\"\\u2028<>&\"", "\xff"} {
		f.Add([]byte(seed))
	}
	read := func(t *testing.T, text []byte) (v any) {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return v
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := canonical(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is no JSON, and became %q", text, out)
		}
		if !reflect.DeepEqual(read(t, text), read(t, out)) {
			t.Fatalf("%q became %q", text, out)
		}
		if again, err := canonical(out); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q is not normal: %q, %v", out, again, err)
		}
	})
}

// FuzzParseChoice: what is read is one of the choices, and never a wider one
// than was written.
func FuzzParseChoice(f *testing.F) {
	for _, c := range Choices() {
		f.Add(string(c))
		f.Add("Allow_" + string(c))
	}
	f.Add("allow-allow always")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseChoice(text)
		if err != nil {
			if c != "" {
				t.Fatalf("%q: %q with %v", text, c, err)
			}
			return
		}
		if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(text)), string(c)) {
			t.Fatalf("%q was read as %q", text, c)
		}
		if again, err := ParseChoice(string(c)); err != nil || again != c {
			t.Fatalf("%q was read as %q, and that as %q, %v", text, c, again, err)
		}
	})
}

func TestParseChoice(t *testing.T) {
	for in, want := range map[string]Choice{
		"once": AllowOnce, "Allow once": AllowOnce, "ALLOW_SESSION": AllowSession, " always ": AllowAlways, "deny": Deny, "edit": Edit,
		"": "", "allow": "", "allow deny": "", "yes": "", "alway": "", "allow_edit": "",
	} {
		if got, err := ParseChoice(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// TestHashesCannotBeGuessed: what is kept of a question shows none of its
// secrets to who tries likely ones.
func TestHashesCannotBeGuessed(t *testing.T) {
	d, err := New(Config{
		Store:      &Memory{},
		RedactJSON: func(json.RawMessage) json.RawMessage { return json.RawMessage(`{"pin":"[redacted]"}`) },
		RedactText: func(string) string { return "[redacted]" },
	})
	if err != nil {
		t.Fatal(err)
	}
	const input = `{"pin":"483920"}`
	q, err := d.draft(toolcrib.Question{Call: toolcrib.Call{Tool: "pay"}, Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "pay"}, Native: "pay"}, Input: json.RawMessage(input)})
	if err != nil {
		t.Fatal(err)
	}
	guess := hashOf("arguments", input)
	for what, kept := range map[string]string{
		"arguments": q.Arguments, "slot": q.Slot, "key": q.Key,
	} {
		for _, try := range []string{guess, hashOf("slot", "", "", "", "", "pay", "", "pay", guess, "")} {
			if kept == try || strings.Contains(kept, try) {
				t.Errorf("the %s can be made without a key", what)
			}
		}
	}
	if q.Arguments != d.argumentsHash([]byte(` { "pin" : "483920" } `)) {
		t.Error("the same arguments are others")
	}
}
