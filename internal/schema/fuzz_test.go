package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
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

// FuzzAdmit: on every schema and value, this package and the other library agree about what is a schema and what is
// valid, and an admitted text is admitted again unchanged.
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

// agree holds this package against the other library on one schema and one value.
func agree(t rapid.TB, schema, value []byte) (fast bool) {
	t.Helper()
	sd, err := Parse(schema, Limits{})
	if err != nil {
		return false
	}
	defer sd.Release()
	if beyondReference(sd) {
		return false
	}
	s, err := Compile(schema)
	ref, refErr := referenceGuarded(schema)
	switch {
	case refErr != nil && strings.Contains(refErr.Error(), "panic"):
		return false
	case err != nil && strings.Contains(err.Error(), "default"):
		return false // the other library does not look at defaults
	case err != nil && strings.Contains(err.Error(), "/items: a schema must be an object, true or false, got an array"):
		return false // a $ref to the list under items: the other library takes a list for the schema true
	case err != nil && strings.Contains(err.Error(), "is not a regular expression") && (bytes.Contains(schema, []byte("draft-04")) || bytes.Contains(schema, []byte("draft-06"))):
		return false // these drafts do not look at patterns that nobody uses
	case err != nil && strings.Contains(err.Error(), "unfold into more than"):
		return false // nor at what they unfold into
	case err != nil && refErr == nil:
		t.Fatalf("refused a valid schema %s: %v", schema, err)
	case err == nil && refErr != nil && bytes.Contains(schema, []byte("draft-0")) && strings.Contains(refErr.Error(), "not found"):
		return false // drafts up to 07 ignore what stands beside $ref; the other library still follows the references there
	case err == nil && refErr != nil:
		t.Fatalf("accepted (fast: %v) an invalid schema %s: %v", s.Fast(), schema, refErr)
	case err != nil:
		return false
	}
	d, err := Parse(value, Limits{})
	if err != nil {
		return false
	}
	defer d.Release()
	if beyondReference(d) {
		return false
	}
	problems := s.Validate(d)
	if len(problems) == 1 && strings.Contains(problems[0].Message, "too complex") || !weighed(t, ref, d) {
		return false // the other library may not come back
	}
	if want := referenceValid(t, ref, value); (problems == nil) != want {
		t.Fatalf("schema %s\nvalue %s\nfast %v: %v, the reference says valid=%v", schema, value, s.Fast(), problems, want)
	}
	if s.Fast() {
		if got, want := distinct(remembering(s, d)), distinct(problems); !slices.Equal(got, want) {
			t.Fatalf("schema %s\nvalue %s\nwith memory %q, without %q", schema, value, got, want)
		}
	}
	for _, opt := range []Options{{}, {Closed: true}, {PlainInts: true}, {Lenient: true}, {Lenient: true, Closed: true}} {
		out, problems := s.Admit(d, opt)
		if problems != nil {
			continue
		}
		if !referenceValid(t, ref, out) {
			t.Fatalf("schema %s\nvalue %s\n%+v admitted %s, which is not valid", schema, value, opt, out)
		}
		e, err := Parse(out, Limits{})
		if err != nil {
			t.Fatalf("schema %s\nvalue %s\n%+v admitted %s: %v", schema, value, opt, out, err)
		}
		again, problems := s.Admit(e, opt)
		if problems != nil || !bytes.Equal(out, again) {
			t.Fatalf("schema %s\nvalue %s\n%+v admitted %s, and that as %s %v", schema, value, opt, out, again, problems)
		}
		e.Release()
	}
	return s.Fast()
}

// remembering judges with memory from the first step on.
func remembering(s *Schema, d *Doc) []Problem {
	v := validator{d: d, s: s, purse: purse{steps: budget(d), alarm: budget(d)}}
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

// weighed says whether the other library can be trusted to come back from judging a document by a schema.
func weighed(t rapid.TB, ref *jsonschema.Schema, d *Doc) bool {
	t.Helper()
	empty, err := Parse([]byte(`{}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	load, err := newScales(&fullCompiler{c: jsonschema.NewCompiler(), d: empty}).take(ref)
	if err != nil {
		return false
	}
	w := weighing{d: d, left: 5_000_000}
	return w.fits(load)
}

// beyondReference says whether a text has numbers that the other library cannot reckon with, or reckons wrongly with where
// it wants a count, or whether it uses, in a draft up to 07, what that library enforces there and should not: format, and
// const beside $ref.
func beyondReference(d *Doc) bool {
	for i := range d.nodes {
		if d.nodes[i].kind == Number {
			if x := parseDecimal(d.raw(uint32(i))); x.top > 17 || x.top < -400 || x.n > 400 {
				return true
			}
		}
	}
	has := func(word string) bool { return bytes.Contains(d.text, []byte(word)) }
	return has("draft-0") && (has("format") || has("$ref") && has("const"))
}

func referenceGuarded(schema []byte) (s *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return reference(schema)
}

// TestValidatorsAgree draws schemas and values that are likely to meet, which mutated texts hardly ever do.
func TestValidatorsAgree(t *testing.T) {
	total, fast := 0, 0
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
				fast++
			}
		}
	})
	t.Logf("%d schemas, %d of them valid and fast", total, fast)
	if fast < total/4 {
		t.Errorf("only %d of %d schemas are valid and fast: this test shows too little", fast, total)
	}
}
