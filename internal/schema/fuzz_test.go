package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// FuzzParse: no text makes Parse panic; what it accepts is JSON; what it refuses although it is JSON, it refuses for one
// of the reasons that the package names; and the canonical form is stable.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e3,"x\u00e9",null,true,false,{}]}`, `{"b":1,"a":2}`, `{"a":1,"\u0061":2}`, `"\ud800"`, "\"\xff\"", `[[[[]]]]`, ` 1 `, `-0.0`, `"\ud83d\ude00"`,
		`{"a":{"b":{"c":[]}}}`, `01`, `NaN`, `[1,]`, `{"` + strings.Repeat("k", 30) + `":1}`, nineInput, nineSchema,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text, Limits{Depth: 64})
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Message == "" || e.Offset < 0 || e.Offset > len(text) {
				t.Fatalf("a poor error: %#v", err)
			}
			if json.Valid(text) {
				switch {
				case strings.Contains(e.Message, "duplicate key"), strings.Contains(e.Message, "lone surrogate"),
					strings.Contains(e.Message, "nested deeper"), strings.Contains(e.Message, "not valid UTF-8") && !utf8.Valid(text):
				default:
					t.Fatalf("refused %q: %v", text, err)
				}
			}
			return
		}
		defer d.Release()
		if !json.Valid(text) {
			t.Fatalf("accepted %q, which is not JSON", text)
		}
		one := d.AppendCanonical(nil)
		e, err := Parse(one, Limits{Depth: 64})
		if err != nil {
			t.Fatalf("the canonical form %q of %q is refused: %v", one, text, err)
		}
		defer e.Release()
		if two := e.AppendCanonical(nil); !bytes.Equal(one, two) {
			t.Fatalf("canonical once %q, twice %q", one, two)
		}
		if !equal(d, 0, e, 0) {
			t.Fatalf("the canonical form %q is not equal to %q", one, text)
		}
		for i := range d.nodes {
			d.steps(uint32(i))
		}
	})
}

// FuzzAdmit: no schema and no value makes this package panic, an admitted text is admitted again unchanged, and what is
// remembered on the way changes nothing.
func FuzzAdmit(f *testing.F) {
	for _, seed := range [][2]string{
		{nineSchema, nineInput},
		{`{"type":"object","properties":{"a":{"type":["integer","null"],"default":1}},"additionalProperties":{"type":"string"}}`, `{"b":"x"}`},
		{`{"anyOf":[{"type":"string","minLength":2},{"type":"number","multipleOf":0.5}]}`, `1.5`},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["c"]}}`, `{"a":1}`},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"v":{"const":1}}}}}`, `{"next":{"next":{"v":1.0}}}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"minimum":0}},"items":{"$ref":"#/definitions/p"}}`, `[1,2]`},
		{`{"uniqueItems":true,"prefixItems":[true,false],"items":{"pattern":"^a+$"}}`, `["a"]`},
		{`{"if":{"type":"string"},"then":{"maxLength":3}}`, `"abcd"`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","dependencies":{"a":["b"],"c":{"maxProperties":2}},"items":[{"minimum":1,"exclusiveMinimum":true}],"additionalItems":false}`, `{"a":1}`},
		{`{"contains":{"const":1},"minContains":0,"maxContains":2,"unevaluatedItems":{"type":"string"}}`, `[1,1,"a"]`},
		{`{"propertyNames":{"maxLength":2},"dependentSchemas":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"required":["c"]}}}`, `{"a":1}`},
		{`{"$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}}}`, `{"c":[{"c":[]}]}`},
		{`{"patternProperties":{"^x-":{"enum":[1,"a",null,{"b":[]}]}},"minProperties":1}`, `{"x-1":{"b":[]}}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) { agree(t, schema, value) })
}

// agree holds this package against itself on one schema and one value. It says whether the schema is one.
func agree(t rapid.TB, schema, value []byte) bool {
	t.Helper()
	s, err := Compile(schema)
	if err != nil {
		if e, ok := errors.AsType[*SchemaError](err); !ok || e.Message == "" {
			t.Fatalf("a poor error: %#v", err)
		}
		return false
	}
	d, err := Parse(value, Limits{})
	if err != nil {
		return true
	}
	defer d.Release()
	problems := s.Validate(d)
	if isTooComplex(problems) {
		return true
	}
	if got, want := distinct(remembering(s, d)), distinct(problems); !slices.Equal(got, want) {
		t.Fatalf("schema %s\nvalue %s\nwith memory %q, without %q", schema, value, got, want)
	}
	for _, opt := range []Options{{}, {Closed: true}, {PlainInts: true}, {Lenient: true}, {Lenient: true, Closed: true}} {
		out, problems := s.Admit(d, opt)
		if problems != nil {
			continue
		}
		e, err := Parse(out, Limits{})
		if err != nil {
			t.Fatalf("schema %s\nvalue %s\n%+v admitted %s: %v", schema, value, opt, out, err)
		}
		if problems := s.Validate(e); problems != nil {
			t.Fatalf("schema %s\nvalue %s\n%+v admitted %s, which is not valid: %v", schema, value, opt, out, problems)
		}
		again, problems := s.Admit(e, opt)
		if problems != nil || !bytes.Equal(out, again) {
			t.Fatalf("schema %s\nvalue %s\n%+v admitted %s, and that as %s %v", schema, value, opt, out, again, problems)
		}
		e.Release()
	}
	return true
}

// remembering judges with memory from the first step on.
func remembering(s *Schema, d *Doc) []Problem {
	v := validator{d: d, s: s, stepBudget: stepBudget{steps: budget(d), rememberAt: budget(d)}}
	if v.check(s.root, 0) {
		return nil
	}
	v.collect = true
	v.check(s.root, 0)
	return v.report.problems()
}

// distinct gives the problems in order, each once.
func distinct(problems []Problem) []string {
	list := lines(problems)
	slices.Sort(list)
	return slices.Compact(list)
}

// TestAdmitDrawn draws schemas and values that are likely to meet, which mutated texts hardly ever do.
func TestAdmitDrawn(t *testing.T) {
	total, good := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		for range 20 {
			g := grammar{rng}
			schema, err := json.Marshal(g.root())
			if err != nil {
				t.Fatal(err)
			}
			value, err := json.Marshal(g.value(3))
			if err != nil {
				t.Fatal(err)
			}
			total++
			if agree(t, schema, value) {
				good++
			}
		}
	})
	t.Logf("%d schemas, %d of them valid", total, good)
	if good < total/4 {
		t.Errorf("only %d of %d schemas are valid: this test shows too little", good, total)
	}
}
