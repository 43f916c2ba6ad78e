package schema

import (
	"strings"
	"testing"
	"time"
)

// TestForeign: what real servers write is always a schema, what can be checked is, and the rest is told.
func TestForeign(t *testing.T) {
	const email = `^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$`
	for _, c := range []struct {
		name, schema string
		left         string // where something is left out; "-": nowhere
		good, bad    []string
	}{
		{"look-ahead", `{"properties":{"to":{"type":"string","pattern":"` + email + `"}}}`, "-", []string{`{"to":"ann@example.com"}`}, []string{`{"to":"ann..b@example.com"}`, `{"to":"x"}`, `{"to":1}`}},
		{"back reference", `{"pattern":"^(a|b)\\1$"}`, "-", []string{`"aa"`, `"bb"`}, []string{`"ab"`}},
		{"a class that Go refuses", `{"pattern":"^[\\w-.]+$"}`, "-", []string{`"a-b.c"`}, []string{`"a b"`}},
		{"a property that no engine knows", `{"properties":{"e":{"type":"string","pattern":"^\\p{Extended_Pictographic}+$"}}}`, "/properties/e/pattern", []string{`{"e":"x"}`}, []string{`{"e":1}`}},
		{"draft-04 booleans", `{"properties":{"n":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, "/properties/n/exclusiveMinimum", []string{`{"n":1}`}, []string{`{"n":-1}`, `{"n":"x"}`}},
		{"type any", `{"properties":{"a":{"type":"any"},"b":{"type":"string"}}}`, "/properties/a/type", []string{`{"a":1,"b":"x"}`, `{"a":[]}`}, []string{`{"b":1}`}},
		{"a type among others that is none", `{"type":["string","file"]}`, "/type/1", []string{`"x"`, `1`}, nil},
		{"required: true", `{"properties":{"a":{"type":"string","required":true}},"required":["b"]}`, "/properties/a/required", []string{`{"b":1}`}, []string{`{}`, `{"a":1,"b":1}`}},
		{"tuples", `{"items":[{"type":"string"},{"type":"integer"}]}`, "-", []string{`["a",1]`, `["a",1,true]`}, []string{`[1]`}},
		{"a remote reference", `{"properties":{"a":{"$ref":"https://example.com/a.json"},"b":{"type":"string"}}}`, "/properties/a/$ref", []string{`{"a":1}`}, []string{`{"b":1}`}},
		{"a reference to nothing", `{"properties":{"a":{"$ref":"#/$defs/x"}}}`, "/properties/a/$ref", []string{`{"a":1}`}, nil},
		{"an unknown draft", `{"$schema":"https://example.com/own","type":"object"}`, "/$schema", []string{`{}`}, []string{`1`}},
		{"a schema that is a word", `{"properties":{"a":"string","b":{"type":"string"}}}`, "/properties/a", []string{`{"a":1}`}, []string{`{"b":1}`}},
		{"properties in a list", `{"type":"object","properties":[],"additionalProperties":false}`, "/properties", []string{`{"a":1}`}, []string{`1`}},
		{"a pattern of names", `{"patternProperties":{"^(?<x":{"type":"string"}},"additionalProperties":false}`, "/patternProperties", []string{`{"a":1}`}, nil},
		{"a bad length", `{"maxLength":-1}`, "/maxLength", []string{`"long"`}, nil},
		{"not", `{"not":{"pattern":"(?<"}}`, "/not/pattern", []string{`"a"`}, nil},
		{"one of", `{"oneOf":[{"type":"string","pattern":"(?<"},{"type":"string","maxLength":3}]}`, "/oneOf/0/pattern", []string{`"a"`}, nil},
		{"otherwise", `{"if":{"type":"any"},"then":{"type":"string"}}`, "/if/type", []string{`1`}, nil},
		{"a pattern that is none", `{"properties":{"a":{"pattern":null},"b":{"pattern":3,"maxLength":"x","items":5,"maxItems":"x","maxProperties":[],"maxContains":"x"}}}`, "/properties/a/pattern", []string{`{"a":1}`}, nil},
		{"a reference that is none", `{"properties":{"a":{"$ref":[{}]},"b":{"$dynamicRef":1}}}`, "/properties/a/$ref", []string{`{"a":1}`}, nil},
		{"no object", `3`, "", []string{`1`, `{}`}, nil},
		{"null", `null`, "", []string{`{}`}, nil},
		{"no JSON", `{`, "", []string{`1`}, nil},
		{"defaults are not sent", `{"properties":{"a":{"default":5}}}`, "-", []string{`{}`}, nil},
	} {
		s, left := Foreign([]byte(c.schema))
		switch {
		case c.left == "-" && len(left) > 0:
			t.Errorf("%s: left out: %v", c.name, left[0])
		case c.left != "-" && (len(left) == 0 || left[0].Pointer != c.left && !strings.HasPrefix(left[0].Pointer, c.left+"/")):
			t.Errorf("%s: left out %v, want %s", c.name, left, c.left)
		}
		for _, v := range c.good {
			if p := s.Validate(parsed(t, v)); p != nil {
				t.Errorf("%s: %s is refused: %v", c.name, v, p)
			}
			if out, err := s.Pass(parsed(t, v), false, 64); err == nil && string(out.Sent) != v {
				t.Errorf("%s: %s becomes %s", c.name, v, out.Sent)
			}
		}
		for _, v := range c.bad {
			if s.Validate(parsed(t, v)) == nil {
				t.Errorf("%s: %s is not refused", c.name, v)
			}
		}
	}
}

// TestSlowPattern: a pattern and a text that would take an engine for ever end soon, and count as fitting.
func TestSlowPattern(t *testing.T) {
	s, left := Foreign([]byte(`{"items":{"pattern":"^(?=a)(a+)+$"}}`))
	if len(left) > 0 {
		t.Fatal(left[0])
	}
	value := `"` + strings.Repeat("a", 60) + `b"`
	list := "[" + strings.Repeat(value+",", 200) + value + "]"
	began := time.Now()
	problems := s.Validate(parsed(t, list))
	if took := time.Since(began); took > 20*time.Second { // for ever is more than that
		t.Errorf("it took %v", took)
	}
	if len(problems) != 1 || problems[0].Rule != "schema" {
		t.Errorf("got %v, want that it is too complex", problems)
	}
	if p := s.Validate(parsed(t, `["`+strings.Repeat("a", jsText)+`b"]`)); p != nil {
		t.Errorf("a text that is too long to be matched is refused: %v", p)
	}
}

// FuzzForeign: every text is a schema, and one that can be read strictly means the same.
func FuzzForeign(f *testing.F) {
	for _, s := range []string{`{"type":"any"}`, `{"required":true,"properties":{"a":{"$ref":"#/x"}}}`, `{"items":[{}],"additionalItems":false}`, `{"$id":"#a#b","$ref":"#"}`, `{"pattern":3}`, `{"$ref":[{}]}`, `{"items":3,"maxItems":"x"}`, nineSchema} {
		f.Add([]byte(s), []byte(nineInput))
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		s, left := Foreign(schema)
		d, err := Parse(value, Limits{Depth: 64})
		if err != nil {
			return
		}
		defer d.Release()
		got := s.Validate(d)
		strict, err := Compile(schema)
		switch {
		case err != nil && len(left) == 0 && !strings.Contains(string(schema), "pattern") && !strings.Contains(string(schema), "default") && !strings.Contains(string(schema), "items"):
			t.Fatalf("nothing is left out of what cannot be compiled: %v", err)
		case err == nil && len(left) > 0:
			t.Fatalf("left out of what can be compiled: %v", left[0])
		case err == nil && (got == nil) != (strict.Validate(d) == nil):
			t.Fatalf("somebody else's: %v, ours: %v", got, strict.Validate(d))
		}
	})
}

// TestPass: the tool gets what was sent, and a guard sees what the tool will make of it.
func TestPass(t *testing.T) {
	s, left := Foreign([]byte(`{"properties":{"branch":{"type":"string","default":"main"},"id":{"type":"integer"}}}`))
	if len(left) > 0 {
		t.Fatal(left)
	}
	for in, want := range map[string]string{
		`{}`: `{"branch":"main"}`, `{"id":1e7}`: `{"branch":"main","id":10000000}`, `{"branch":"x","id":9007199254740993.0}`: `{"branch":"x","id":9007199254740993}`,
	} {
		p, err := s.Pass(parsed(t, in), false, 64)
		if err != nil || len(p.Unfit) > 0 || string(p.Sent) != in || string(p.Seen) != want {
			t.Errorf("%s: sent %s, seen %s, unfit %v, %v", in, p.Sent, p.Seen, p.Unfit, err)
		}
	}
	secret := "hunter2plain"
	p, err := s.Pass(parsed(t, `{"id":"`+secret+`"}`), false, 64)
	if err != nil || len(p.Unfit) != 1 || strings.Contains(p.Unfit[0].Unquoted(), secret) || strings.Contains(s.Hint(p.Sent, 64), secret) {
		t.Errorf("%v, %v", p.Unfit, err)
	}
}

// TestForeignIsBounded: schemas of nothing but mistakes, which take long to tell of.
func TestForeignIsBounded(t *testing.T) {
	for name, part := range map[string]string{
		"references": `{"$ref":"http://example.com/a"},`, "patterns": `{"pattern":"(?!` + strings.Repeat("a", 15_000) + `)"},`, "types": `{"type":"any"},`, "words": `"x",`,
	} {
		text := `{"allOf":[` + strings.Repeat(part, (2<<20)/len(part)) + `{}]}`
		began := time.Now()
		s, left := Foreign([]byte(text))
		if took := time.Since(began); took > 20*time.Second || len(left) == 0 || len(left) > maxLeft+1 { // it took minutes
			t.Errorf("%s: %v, %d left", name, took, len(left))
		}
		if p, err := s.Pass(parsed(t, `{"a":1}`), false, 64); err != nil || len(p.Unfit) == 0 {
			t.Errorf("%s: a call fits what nobody can read: %v", name, err)
		}
	}
}
