package schema

import (
	"fmt"
	"strings"
	"testing"
)

// A condition looks at one of two keys, and a reader that does not care for case
// takes the other.
func TestKeysAlike(t *testing.T) {
	const (
		open  = `{"type":"object"}`
		to    = `{"type":"object","properties":{"to":{"type":"string"}}}`
		loose = `{"type":"object","properties":{"filePath":{"type":"string","default":"ok"}},"additionalProperties":true}`
		both  = `{"type":"object","properties":{"a":{},"A":{}},"additionalProperties":true}`
		inner = `{"type":"object","properties":{"env":{"type":"object"},"list":{"type":"array","items":{"type":"object","properties":{"to":{"type":"string"}}}}}}`
	)
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"K%d":1,`, i)
	}
	for _, c := range []struct {
		schema, value string
		refused       bool
	}{
		{open, `{"to":"ok","To":"bad"}`, true},
		{open, `{"to":"ok","t\u006f2":"bad"}`, false},
		{open, `{"s":"ok","\u017f":"bad"}`, true}, // a long s
		{open, `{"k":"ok","\u212a":"bad"}`, true}, // the sign of Kelvin
		{open, `{` + many.String() + `"k7":1}`, true},
		{open, `{` + many.String() + `"k":1}`, false},
		{open, `{"x":{"k":1,"K":2}}`, false},
		{to, `{"to":"ok","TO":"bad"}`, true},
		{loose, `{"filePath":"ok","filepath":"bad"}`, true},
		{loose, `{"filepath":"bad"}`, true}, // the default comes beside it
		{loose, `{"other":"x"}`, false},
		{both, `{"a":1,"A":2}`, false},
		{both, `{"a":1,"A":2,"b":1,"B":2}`, true},
		{inner, `{"env":{"http_proxy":"a","HTTP_PROXY":"a"}}`, false},
		{inner, `{"list":[{"to":"ok"},{"to":"ok","To":"bad"}]}`, true},
		{inner, `{"list":[{"zz":1,"ZZ":2,"to":"ok","To":"bad"}]}`, true},
	} {
		s, err := Compile([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Parse([]byte(c.value), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		out, bad := s.Admit(d, Options{Apart: true})
		if refused := len(bad) > 0; refused != c.refused || refused && !strings.Contains(bad[0].Message, "differ in case only") {
			t.Errorf("%s by %s: %s, %v", c.value, c.schema, out, bad)
		}
		if out, bad := s.Admit(d, Options{}); len(bad) > 0 && !strings.Contains(c.value, "TO") {
			t.Errorf("%s by %s is refused unasked: %s, %v", c.value, c.schema, out, bad)
		}
		d.Release()
	}
}

func FuzzKeysAlike(f *testing.F) {
	f.Add("to", "To")
	f.Add("s", "ſ")
	f.Add("İ", "i")
	s, err := Compile([]byte(`{"type":"object"}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		text := fmt.Appendf(nil, "{%q:1,%q:2}", one, other)
		d, err := Parse(text, Limits{})
		if err != nil {
			return
		}
		defer d.Release()
		if _, bad := s.Admit(d, Options{Apart: true}); (len(bad) > 0) != strings.EqualFold(one, other) {
			t.Errorf("%q and %q: %v", one, other, bad)
		}
	})
}
