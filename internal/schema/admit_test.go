package schema

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAdmit(t *testing.T) {
	const (
		ab     = `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a"]}`
		nested = `{"type":"object","properties":{"n":{"type":"integer","default":3},"o":{"type":"object","properties":{"x":{"default":[1, 2.0]},"y":{"type":"string","default":"q"}}}}}`
		deep   = `{"properties":{"o":{"type":"object","properties":{"x":{"type":"integer","default":1}},"required":["x"],"default":{}}}}`
		either = `{"properties":{"o":{"anyOf":[{"type":"object","properties":{"x":{"type":"integer","default":1}},"required":["x"],"additionalProperties":false},{"type":"null"}]}}}`
		shut   = `{"type":"object","properties":{"a":{"type":"integer"},"l":{"items":{"type":"object","properties":{"b":{}},"additionalProperties":false}}},"additionalProperties":false}`
	)
	for _, c := range []struct {
		name, schema, value string
		opt                 Options
		want                string // starts with { or [ or a scalar: admitted; else: problems, joined
	}{
		{"canonical", ab, ` { "b" : "\u0041" , "a" : 1.0 } `, Options{}, `{"a":1.0,"b":"A"}`},
		{"plain integers", ab, `{"a":1.0}`, Options{PlainInts: true}, `{"a":1}`},
		{"plain integers, exponent", ab, `{"a":12e2}`, Options{PlainInts: true}, `{"a":1200}`},
		{"plain integers leave numbers alone", `{"items":{"type":"number"}}`, `[1.0,2e1]`, Options{PlainInts: true}, `[1.0,2e1]`},
		{"plain integers leave huge ones alone", ab, `{"a":1e30}`, Options{PlainInts: true}, `{"a":1e30}`},
		{"all missing", nested, `{}`, Options{}, `{"n":3}`},
		{"nested object present", nested, `{"o":{"y":"z"},"n":1}`, Options{}, `{"n":1,"o":{"x":[1,2.0],"y":"z"}}`},
		{"null is present", `{"properties":{"a":{"type":["integer","null"],"default":1}}}`, `{"a":null}`, Options{}, `{"a":null}`},
		{"a default is filled in itself", deep, `{}`, Options{}, `{"o":{"x":1}}`},
		{"required with a default", `{"properties":{"a":{"default":1}},"required":["a"]}`, `{}`, Options{}, `{"a":1}`},
		{"defaults count as properties", `{"properties":{"a":{"default":1}},"maxProperties":1}`, `{"b":1}`, Options{}, `must have at most 1 property, has 2 (maxProperties)`},
		{"defaults sort among keys", `{"properties":{"b":{"default":2},"d":{"default":4},"é":{"default":5}}}`, `{"c":3,"e":0,"a":1}`, Options{}, `{"a":1,"b":2,"c":3,"d":4,"e":0,"é":5}`},
		{"default through $ref", `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer","default":7}}}`, `{}`, Options{}, `{"a":7}`},
		{"own default before that of $ref", `{"properties":{"a":{"$ref":"#/$defs/x","default":8}},"$defs":{"x":{"default":7}}}`, `{}`, Options{}, `{"a":8}`},
		{"default through allOf", `{"allOf":[{"properties":{"a":{"default":1}}},{"properties":{"b":{"allOf":[{"default":2}]}}}]}`, `{}`, Options{}, `{"a":1,"b":2}`},
		{"two defaults, the first wins", `{"allOf":[{"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2}}}]}`, `{}`, Options{}, `{"a":1}`},
		{"default in a branch", either, `{"o":{}}`, Options{}, `{"o":{"x":1}}`},
		{"other branch", either, `{"o":null}`, Options{}, `{"o":null}`},
		{"defaults in a list", `{"items":{"properties":{"a":{"default":1}}}}`, `[{},{"a":2},3]`, Options{}, `[{"a":1},{"a":2},3]`},
		{"defaults in other properties", `{"additionalProperties":{"properties":{"a":{"default":1}}}}`, `{"x":{}}`, Options{}, `{"x":{"a":1}}`},
		{"defaults by pattern", `{"patternProperties":{"^x":{"properties":{"a":{"default":1}}}}}`, `{"x":{},"y":{}}`, Options{}, `{"x":{"a":1},"y":{}}`},
		{"defaults in a recursive schema", `{"properties":{"c":{"$ref":"#"},"v":{"default":0}}}`, `{"c":{"c":{}}}`, Options{}, `{"c":{"c":{"v":0},"v":0},"v":0}`},
		{"a default that is not an object's", `{"properties":{"a":{"default":1}}}`, `[]`, Options{}, `[]`},
		{"default before a condition", `{"properties":{"a":{"default":1},"b":{}},"dependentRequired":{"a":["b"]}}`, `{"b":2}`, Options{}, `{"a":1,"b":2}`},
		{"default that brings a condition", `{"properties":{"a":{"default":1}},"dependentRequired":{"a":["b"]}}`, `{}`, Options{}, `b: is required because "a" is given (dependentRequired)`},

		{"a condition fills nothing in", `{"if":{"required":["a"]},"then":{"properties":{"b":{"default":1}}}}`, `{"a":1}`, Options{}, `{"a":1}`},
		{"defaults are there for a condition", `{"properties":{"a":{"default":1},"b":{}},"dependentRequired":{"a":["b"]},"if":{"required":["a"]},"else":false}`, `{"b":2}`, Options{}, `{"a":1,"b":2}`},
		{"a bad default is not filled in", `{"properties":{"a":{"type":"string","default":null},"b":{"default":2}}}`, `{}`, Options{}, `{"b":2}`},
		{"defaults in a tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"properties":{"a":{"default":1}}}],"additionalItems":false}`, `[{}]`, Options{}, `[{"a":1}]`},

		{"open", ab, `{"a":1,"c":2}`, Options{}, `{"a":1,"c":2}`},
		{"closed", ab, `{"a":1,"c":2}`, Options{Closed: true}, `c: unknown property; the known ones are "a", "b" (additionalProperties)`},
		{"closed names everything", `{"properties":{"expression":{"type":"string"}},"required":["expression"]}`, `{"expr":"1"}`, Options{Closed: true},
			`expr: unknown property; did you mean "expression"? (additionalProperties); expression: is required but missing; give a string (required)`},
		{"closed, only the top", `{"properties":{"o":{"properties":{"x":{}}}}}`, `{"o":{"y":1}}`, Options{Closed: true}, `{"o":{"y":1}}`},
		{"closed, not below $ref to the root", `{"properties":{"c":{"$ref":"#"}}}`, `{"c":{"y":1}}`, Options{Closed: true}, `{"c":{"y":1}}`},
		{"closed, no arguments at all", `{"type":"object","properties":{}}`, `{"y":1}`, Options{Closed: true}, `y: unknown property; no properties are allowed here (additionalProperties)`},
		{"closed, with a condition", `{"properties":{"a":{}},"dependentRequired":{}}`, `{"b":1}`, Options{Closed: true}, `b: unknown property; the known ones are "a" (additionalProperties)`},
		{"closed with defaults", nested, `{"N":1}`, Options{Closed: true}, `N: unknown property; did you mean "n"? (additionalProperties)`},
		{"bare object stays open", `{"type":"object"}`, `{"y":1}`, Options{Closed: true}, `{"y":1}`},
		{"required alone stays open", `{"type":"object","required":["a"]}`, `{"a":1,"y":1}`, Options{Closed: true}, `{"a":1,"y":1}`},

		{"unknown properties are dropped", shut, `{"z":1,"a":2,"l":[{"b":1,"c":2},{"c":3}]}`, Options{Lenient: true}, `{"a":2,"l":[{"b":1},{}]}`},
		{"unknown properties are dropped when closed", ab, `{"z":1,"a":2}`, Options{Lenient: true, Closed: true}, `{"a":2}`},
		{"unknown properties of open objects stay", ab, `{"z":1,"a":2}`, Options{Lenient: true}, `{"a":2,"z":1}`},
		{"a name that a neighbour declares is not dropped", `{"allOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`, `{"b":1,"c":2}`, Options{Lenient: true},
			`b: unknown property; the known ones are "a" (additionalProperties)`},
		{"dropped in a branch", either, `{"o":{"q":1}}`, Options{Lenient: true}, `{"o":{"x":1}}`},
		{"dropped where nothing is evaluated", `{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"a":1,"b":2}`, Options{Lenient: true}, `{"a":1}`},
		{"not dropped where something may evaluate it", `{"properties":{"a":{}},"if":{"required":["a"]},"then":{"properties":{"b":{}}},"unevaluatedProperties":false}`, `{"a":1,"b":2}`, Options{Lenient: true}, `{"a":1,"b":2}`},
		{"dropped only if unknown to a pattern", `{"patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"x-a":1,"b":2}`, Options{Lenient: true}, `{"x-a":1}`},
		{"strict drops nothing", shut, `{"z":1}`, Options{}, `z: unknown property; the known ones are "a", "l" (additionalProperties)`},

		{"converted", ab, `{"a":" +3 "}`, Options{Lenient: true}, `{"a":3}`},
		{"converted in a tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}],"additionalItems":{"type":"boolean"}}`, `["1","yes"]`, Options{Lenient: true}, `[1,true]`},
		{"what is dropped leaves nothing behind", `{"type":"object","properties":{"o":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"integer"},"c":{"type":"string"}}},"z":{"type":"string"}}}`, `{"o":{"a":"1","b":"2","c":"3"},"z":"4"}`, Options{Lenient: true}, `{"o":{"a":1,"c":"3"},"z":"4"}`},
		{"converted in depth", `{"properties":{"l":{"type":"array","items":{"type":"object","additionalProperties":{"type":"boolean"}}}}}`, `{"l":[{"a":"yes","b":0}]}`, Options{Lenient: true}, `{"l":[{"a":true,"b":false}]}`},
		{"converted, then judged", `{"type":"integer","maximum":2}`, `"3"`, Options{Lenient: true}, `must be at most 2, got 3 (maximum)`},
		{"not converted when strict", ab, `{"a":"3"}`, Options{}, `a: expected an integer, got the string "3"; write 3 without quotes (type)`},
		{"what fits is kept", `{"type":["string","integer"]}`, `"3"`, Options{Lenient: true}, `"3"`},
		{"first type that converts", `{"type":["null","integer","boolean"]}`, `"1"`, Options{Lenient: true}, `1`},
		{"first type that converts and is accepted", `{"type":["integer","boolean"],"enum":[true,5]}`, `"1"`, Options{Lenient: true}, `true`},
		{"first branch that fits as it is", `{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"3"`, Options{Lenient: true}, `"3"`},
		{"first branch that fits after conversion", `{"anyOf":[{"type":"integer","minimum":10},{"type":"number"},{"type":"null"}]}`, `"3"`, Options{Lenient: true}, `3`},
		{"branch of oneOf", `{"oneOf":[{"type":"integer"},{"type":"null"}]}`, `"3"`, Options{Lenient: true}, `3`},
		{"conversion through $ref and allOf", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"type":"number"},{"minimum":1}]}}}`, `"3"`, Options{Lenient: true}, `3`},
		{"no object out of a string", `{"type":"object"}`, `"{}"`, Options{Lenient: true}, `expected an object, got the string "{}"; send the value itself, not a string that holds it (type)`},
		{"no list out of a string", `{"type":"array"}`, `"[1]"`, Options{Lenient: true}, `expected an array, got the string "[1]"; send the value itself, not a string that holds it (type)`},
		{"converted beside a rule for names", `{"properties":{"a":{"type":"integer"}},"propertyNames":{"maxLength":1}}`, `{"a":"3"}`, Options{Lenient: true}, `{"a":3}`},
		{"draft-07 ignores what stands beside $ref", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/x","default":8}},"definitions":{"x":{"default":7}}}`, `{}`, Options{}, `{"a":7}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := compiled(t, c.schema)
			d := parsed(t, c.value)
			before := string(d.AppendCanonical(nil))
			out, problems := s.Admit(d, c.opt)
			got := string(out)
			if problems != nil {
				if out != nil {
					t.Errorf("problems, and yet a text: %s", out)
				}
				got = strings.Join(lines(problems), "; ")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s by %s:\n%s", c.value, c.schema, diff)
			}
			if after := string(d.AppendCanonical(nil)); after != before {
				t.Errorf("the document changed from %s to %s", before, after)
			}
		})
	}
}

// TestStaysOpen: every keyword that says which other properties are welcome keeps a schema open.
func TestStaysOpen(t *testing.T) {
	for _, keyword := range []string{
		`"additionalProperties":true`, `"additionalProperties":{}`, `"patternProperties":{"^q":{}}`, `"unevaluatedProperties":true`, `"propertyNames":{}`,
		`"$ref":"#/$defs/x","$defs":{"x":{}}`, `"allOf":[{}]`, `"anyOf":[{}]`, `"oneOf":[{}]`, `"if":{}`, `"dependentSchemas":{}`,
	} {
		s := compiled(t, `{"type":"object","properties":{"a":{}},`+keyword+`}`)
		if _, problems := s.Admit(parsed(t, `{"z":1}`), Options{Closed: true}); problems != nil {
			t.Errorf("%s: %v", keyword, problems)
		}
	}
}

// TestGrowthIsBounded: a small text must not swell into gigabytes of defaults.
func TestGrowthIsBounded(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	s := compiled(t, `{"items":{"properties":{"a":{"default":"`+long+`"}}}}`)
	start := time.Now()
	out, problems := s.Admit(parsed(t, "["+strings.Repeat("{},", 500_000)+"{}]"), Options{})
	if out != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "too large once its defaults are filled in") {
		t.Errorf("got %d bytes, %v", len(out), problems)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// TestAdmitAllocates: a valid input costs one allocation, the text that is handed out.
func TestAdmitAllocates(t *testing.T) {
	s := compiled(t, nineSchema)
	text := []byte(nineInput)
	n := testing.AllocsPerRun(200, func() {
		d, err := Parse(text, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, problems := s.Admit(d, Options{Closed: true}); problems != nil {
			t.Fatal(problems)
		}
		d.Release()
	})
	if n > 2 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
}
