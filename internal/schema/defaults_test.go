package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBadDefaults: a default that its own schema refuses is left out and named, and the schema is usable all the same.
func TestBadDefaults(t *testing.T) {
	for _, c := range []struct {
		schema   string
		bad      []string
		in, want string
	}{
		{`{"properties":{"a":{"type":"integer","default":1}}}`, nil, `{}`, `{"a":1}`},
		{`{"properties":{"a":{"type":"integer","default":"x"},"b":{"default":2}}}`, []string{"/properties/a/default"}, `{}`, `{"b":2}`},
		{`{"properties":{"a":{"type":"string","default":null}}}`, []string{"/properties/a/default"}, `{"a":"x"}`, `{"a":"x"}`},
		{`{"$anchor":"x","properties":{"a":{"type":"integer","default":"x"}}}`, []string{"/properties/a/default"}, `{}`, `{}`},
		{`{"$anchor":"x","properties":{"a/b":{"allOf":[{"minimum":3}],"default":2}}}`, []string{"/properties/a~1b/default"}, `{}`, `{}`},
		{`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"minimum":3,"default":1}}}`, []string{"/$defs/a/default"}, `[5]`, `[5]`},
		{ // several, in the order of the text
			`{"properties":{"z":{"type":"null","default":1},"a":{"type":"null","default":1}}}`,
			[]string{"/properties/z/default", "/properties/a/default"}, `{}`, `{}`,
		},
		{ // a bad default inside of a default is left out there, too
			`{"properties":{"o":{"default":{},"properties":{"x":{"type":"string","default":3},"y":{"default":4}}}}}`,
			[]string{"/properties/o/properties/x/default"}, `{}`, `{"o":{"y":4}}`,
		},
		{ // and then the outer one may be bad for the lack of it
			`{"properties":{"o":{"default":{},"required":["x"],"properties":{"x":{"type":"string","default":3}}}}}`,
			[]string{"/properties/o/default", "/properties/o/properties/x/default"}, `{}`, `{}`,
		},
		{ // good where it stands, bad where it is inherited
			`{"properties":{"a":{"$ref":"#/$defs/x","minimum":9},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer","default":7}}}`,
			[]string{"/$defs/x/default"}, `{}`, `{"b":7}`,
		},
		{ // bad where it stands: what it refers to does not step in
			`{"properties":{"a":{"$ref":"#/$defs/x","default":"s"}},"$defs":{"x":{"type":"integer","default":7}}}`,
			[]string{"/properties/a/default"}, `{}`, `{}`,
		},
		{`{"$defs":{"x":{"type":"integer","default":"s"}}}`, nil, `{}`, `{}`}, // nobody uses it
		{`{"if":{"type":"object"},"then":{"properties":{"x":{"type":"integer","default":"s"}}}}`, []string{"/then/properties/x/default"}, `{}`, `{}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"array","items":[{"type":"null"}],"default":[1]}}}`, []string{"/properties/a/default"}, `{}`, `{}`},
	} {
		s := compiled(t, c.schema)
		if diff := cmp.Diff(c.bad, s.BadDefaults()); diff != "" {
			t.Errorf("%s:\n%s", c.schema, diff)
		}
		for _, opt := range []Options{{}, {Lenient: true}} {
			if out, problems := s.Admit(parsed(t, c.in), opt); string(out) != c.want || problems != nil {
				t.Errorf("%s: %s became %s %v, want %s", c.schema, c.in, out, problems, c.want)
			}
		}
	}
}

// TestDefaultsAreBounded: defaults must not make compiling endless, neither by their number nor by the ways to them.
func TestDefaultsAreBounded(t *testing.T) {
	// Ten ways at every one of forty levels, and no default at their end.
	ways := `{"properties":{"a":{"$ref":"#/$defs/d40"},"b":{"default":1}},"$defs":{"d0":{},` + many(40, ",", func(i int) string {
		return fmt.Sprintf(`"d%d":{"allOf":[%s]}`, i+1, many(10, ",", func(int) string { return fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i) }))
	}) + `}}`
	if out, problems := compiled(t, ways).Admit(parsed(t, `{"a":1}`), Options{}); string(out) != `{"a":1,"b":1}` {
		t.Errorf("many ways: %s %v", out, problems)
	}
	// A long way of references to the only default.
	const far = 2000
	long := `{"$ref":"#/$defs/d0","$defs":{"d2000":{"properties":{"a":{"default":1}}},` +
		many(far, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1) }) + `}}`
	if out, problems := compiled(t, long).Admit(parsed(t, `{}`), Options{}); string(out) != `{"a":1}` {
		t.Errorf("a long way: %s %v", out, problems)
	}
	// Many defaults, each of them cheap to write and dear to judge or long once it is filled in.
	dear := many(500, ",", func(int) string { return `{"not":{"type":"string"}}` })
	for name, schema := range map[string]string{
		"takes too much work": `{"properties":{` + many(60, ",", func(i int) string {
			return fmt.Sprintf(`"k%d":{"$ref":"#/$defs/l","default":[%s]}`, i, many(100, ",", func(int) string { return "1" }))
		}) + `},"$defs":{"l":{"items":{"allOf":[` + dear + `]}}}}`,
		"all defaults together": `{"properties":{` + many(200, ",", func(i int) string { return fmt.Sprintf(`"k%d":{"$ref":"#/$defs/l","default":{}}`, i) }) +
			`},"$defs":{"l":{"properties":{"x":{"default":"` + strings.Repeat("x", 60_000) + `"}}}}}`,
	} {
		if _, err := Compile([]byte(schema)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error that says %q, got %v", name, err)
		}
	}
}
