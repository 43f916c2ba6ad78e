package schema

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func compiled(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile([]byte(schema))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return s
}

func parsed(t testing.TB, text string) *Doc {
	t.Helper()
	d, err := Parse([]byte(text), Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func lines(problems []Problem) []string {
	var list []string
	for _, p := range problems {
		list = append(list, p.String())
	}
	return list
}

// TestProblems checks path, rule and words of every kind of problem.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		schema, value string
		want          []string
	}{
		{`{"type":"string"}`, `5`, []string{`expected a string, got the number 5; write "5" in quotes (type)`}},
		{`{"type":"integer"}`, `"12"`, []string{`expected an integer, got the string "12"; write 12 without quotes (type)`}},
		{`{"type":"integer"}`, `3.5`, []string{`expected an integer, got the number 3.5 (type)`}},
		{`{"type":"boolean"}`, `"yes"`, []string{`expected a boolean, got the string "yes"; write true without quotes (type)`}},
		{`{"type":"object"}`, `"{\"a\":1}"`, []string{`expected an object, got the string "{\"a\":1}"; send the value itself, not a string that holds it (type)`}},
		{`{"type":"array"}`, `"x"`, []string{`expected an array, got the string "x"; put it into a list, like ["x"] (type)`}},
		{`{"type":["string","null"]}`, `[1]`, []string{`expected a string or null, got an array of 1 element (type)`}},
		{`{"type":["string","integer","null"]}`, `{}`, []string{`expected a string, an integer or null, got an object (type)`}},
		{`{"enum":["exact","prefix","fuzzy"]}`, `"prefx"`, []string{`must be "exact", "prefix" or "fuzzy"; got the string "prefx"; did you mean "prefix"? (enum)`}},
		{`{"const":1}`, `2`, []string{`must be 1, got the number 2 (const)`}},
		{`{"minimum":1}`, `0`, []string{`must be at least 1, got 0 (minimum)`}},
		{`{"maximum":1.50}`, `2`, []string{`must be at most 1.50, got 2 (maximum)`}},
		{`{"exclusiveMinimum":0}`, `0`, []string{`must be greater than 0, got 0 (exclusiveMinimum)`}},
		{`{"exclusiveMaximum":10}`, `10`, []string{`must be less than 10, got 10 (exclusiveMaximum)`}},
		{`{"multipleOf":5,"maximum":3}`, `7`, []string{`must be at most 3, got 7 (maximum)`, `must be a multiple of 5, got 7 (multipleOf)`}},
		{`{"minLength":3}`, `"é"`, []string{`must have at least 3 characters, has 1 (minLength)`}},
		{`{"maxLength":1}`, `"éé"`, []string{`must have at most 1 character, has 2 (maxLength)`}},
		{`{"pattern":"^a+$"}`, `"b"`, []string{`must match the pattern ^a+$, got the string "b" (pattern)`}},
		{`{"minItems":1}`, `[]`, []string{`must have at least 1 element, has 0 (minItems)`}},
		{`{"maxItems":1}`, `[1,2]`, []string{`must have at most 1 element, has 2 (maxItems)`}},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, []string{`elements 0 and 2 are equal, every element must be different (uniqueItems)`}},
		{`{"minProperties":2}`, `{"a":1}`, []string{`must have at least 2 properties, has 1 (minProperties)`}},
		{`{"maxProperties":0}`, `{"a":1}`, []string{`must have at most 0 properties, has 1 (maxProperties)`}},
		{`{"not":{"type":"string"}}`, `"a"`, []string{`the schema forbids this value; got the string "a" (not)`}},
		{`{"properties":{"a":false}}`, `{"a":1}`, []string{`a: no value is allowed here; leave it out (false)`}},
		{
			`{"type":"object","properties":{"expression":{"type":"string"},"precision":{"type":"integer"}},"required":["expression"],"additionalProperties":false}`,
			`{"expr":1,"precison":2,"zzz":3}`,
			[]string{
				`expr: unknown property; did you mean "expression"? (additionalProperties)`,
				`expression: is required but missing; give a string (required)`,
				`precison: unknown property; did you mean "precision"? (additionalProperties)`,
				`zzz: unknown property; the known ones are "expression", "precision" (additionalProperties)`,
			},
		},
		{`{"additionalProperties":false}`, `{"a":1}`, []string{`a: unknown property; no properties are allowed here (additionalProperties)`}},
		{
			`{"properties":{"items":{"items":{"properties":{"name":{"type":"string"}},"required":["name","id"]}}}}`,
			`{"items":[{"name":"a","id":1},{"id":2},{"name":3}]}`,
			[]string{
				`items[1].name: is required but missing; give a string (required)`,
				`items[2].id: is required but missing; give a value (required)`,
				`items[2].name: expected a string, got the number 3; write "3" in quotes (type)`,
			},
		},
		{`{"additionalProperties":{"type":"null"}}`, `{"a b":1,"":2,"x.y":3}`, []string{
			`[""]: expected null, got the number 2 (type)`, `["a b"]: expected null, got the number 1 (type)`, `["x.y"]: expected null, got the number 3 (type)`,
		}},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `[]`, []string{`expected a string or an integer, got an array of 0 elements (anyOf)`}},
		{
			`{"properties":{"o":{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"type":"null"}]}}}`, `{"o":{"n":"x"}}`,
			[]string{`o.n: expected an integer, got the string "x" (type)`},
		},
		{
			`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"integer"}}},{"type":"object","properties":{"kind":{"const":"b"},"y":{"type":"integer"}}}]}`,
			`{"kind":"b","y":true}`, []string{`y: expected an integer, got true (type)`},
		},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, []string{`fits more than one of the forms of which exactly one is allowed; make clear which is meant (oneOf)`}},
		{`{"allOf":[{"minimum":2},{"maximum":0}]}`, `1`, []string{`must be at least 2, got 1 (minimum)`, `must be at most 0, got 1 (maximum)`}},
		{`{"$ref":"#/$defs/p","$defs":{"p":{"minimum":2}}}`, `1`, []string{`must be at least 2, got 1 (minimum)`}},
		{
			`{"properties":{"c":{"$ref":"#"},"v":{"type":"integer"}}}`, `{"c":{"c":{"v":"x"}}}`,
			[]string{`c.c.v: expected an integer, got the string "x" (type)`},
		},
		{`{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}`, `["a",1]`, []string{
			`[0]: expected an integer, got the string "a" (type)`, `[1]: expected a string, got the number 1; write "1" in quotes (type)`,
		}},
		{`{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`, `{"x-a":1,"y":2}`, []string{
			`x-a: expected a string, got the number 1; write "1" in quotes (type)`, `y: unknown property; no properties are allowed here (additionalProperties)`,
		}},
		{`{"contains":{"type":"string"}}`, `[1]`, []string{`must have an element of the form that contains asks for, has none (contains)`}},
		{`{"contains":{"type":"string"},"minContains":2}`, `["a"]`, []string{`must have at least 2 elements of the form that contains asks for, has 1 (minContains)`}},
		{`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, []string{`must have at most 1 element of the form that contains asks for, has 2 (maxContains)`}},
		{`{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"A":1}`, []string{`A: this property name is not allowed: must match the pattern ^[a-z]+$, got the string "A" (propertyNames)`}},
		{`{"properties":{"o":{"propertyNames":{"enum":["a","b"]}}}}`, `{"o":{"c":1}}`, []string{`o.c: this property name is not allowed: must be "a" or "b"; got the string "c" (propertyNames)`}},
		{`{"propertyNames":false}`, `{"A":1}`, []string{`A: this property name is not allowed: no value is allowed here; leave it out (propertyNames)`}},
		{`{"propertyNames":{"anyOf":[{"const":"a"},{"maxLength":2}]}}`, `{"a":1,"xyz":1}`, []string{`xyz: this property name is not allowed: must have at most 2 characters, has 3 (propertyNames)`}},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, []string{`b: is required because "a" is given (dependentRequired)`}},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, []string{`b: is required but missing; give a value (required)`}},
		{`{"dependencies":{"a":["b"],"c":{"maxProperties":1}}}`, `{"a":1,"c":2}`, []string{
			`b: is required because "a" is given (dependencies)`, `must have at most 1 property, has 2 (maxProperties)`,
		}},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, []string{`b: is required but missing; give a value (required)`}},
		{`{"if":{"type":"string"},"then":false,"else":{"minimum":3}}`, `2`, []string{`must be at least 3, got 2 (minimum)`}},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`, []string{`must be greater than 1, got 1 (exclusiveMinimum)`}},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","maximum":1,"exclusiveMaximum":true,"minimum":2,"exclusiveMinimum":false}`, `1`, []string{
			`must be at least 2, got 1 (minimum)`, `must be less than 1, got 1 (exclusiveMaximum)`,
		}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}],"additionalItems":false}`, `[1,2,3]`, []string{`has 2 elements too many (additionalItems)`}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}],"additionalItems":{"type":"string"}}`, `[1,2]`, []string{
			`[0]: expected null, got the number 1 (type)`, `[1]: expected a string, got the number 2; write "2" in quotes (type)`,
		}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","if":{"format":"email"},"else":false,"properties":{"r":{"format":"regex"}}}`, `{"r":"("}`, nil},
		{`{"properties":{"name":{}},"unevaluatedProperties":false}`, `{"nam":1}`, []string{`nam: unknown property; did you mean "name"? (unevaluatedProperties)`}},
		{`{"prefixItems":[{}],"unevaluatedItems":false}`, `[1,2]`, []string{`[1]: no further elements are allowed (unevaluatedItems)`}},
		{
			`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}],"unevaluatedProperties":{"type":"integer"}}`,
			`{"b":1,"c":"x"}`, []string{`c: expected an integer, got the string "x" (type)`},
		},
		{`{"allOf":[{"properties":{"a":{"type":"string"}}}],"unevaluatedProperties":false}`, `{"a":1,"z":2}`, []string{
			`a: expected a string, got the number 1; write "1" in quotes (type)`, `z: unknown property; no properties are allowed here (unevaluatedProperties)`,
		}},
		{`{"$ref":"#"}`, `1`, []string{`the schema refers to itself here without end, so that no value can be checked ($ref)`}},
		{`{"anyOf":[{"type":"string"},{"$ref":"#"}]}`, `"x"`, nil},
		{`{"$ref":"#n","$defs":{"x":{"$anchor":"n","type":"string"}}}`, `1`, []string{`expected a string, got the number 1; write "1" in quotes (type)`}},
		{`{"properties":{"s":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`, `{"s":{"properties":{"a":{"type":"strin"}}}}`, []string{
			`s: is not a JSON Schema: /properties/a/type: "strin" is not a type; use string, number, integer, boolean, object, array or null ($ref)`,
		}},
		{`{"enum":[1,2,3]}`, `"` + strings.Repeat("ä", 100) + `"`, []string{`must be 1, 2 or 3; got the string "` + strings.Repeat("ä", 29) + `… (enum)`}},
	} {
		if diff := cmp.Diff(c.want, lines(compiled(t, c.schema).Validate(parsed(t, c.value)))); diff != "" {
			t.Errorf("%s by %s:\n%s", c.value, c.schema, diff)
		}
	}
}

// TestValidateAtOnce runs many admissions at once: the pools must not mix documents up.
func TestValidateAtOnce(t *testing.T) {
	s := compiled(t, nineSchema)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				query := fmt.Sprintf("%d-%d\n", g, i)
				d, err := Parse([]byte(fmt.Sprintf(`{"query":"%d-%d\n","mode":"exact","limit":"%d"}`, g, i, i%100+1)), Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				out, problems := s.Admit(d, Options{Lenient: true})
				d.Release()
				want := fmt.Sprintf(`{"limit":%d,"mode":"exact","offset":0,"query":%s,"recursive":false,"threshold":0.5}`, i%100+1, quoted([]byte(query)))
				if problems != nil || string(out) != want {
					t.Errorf("got %s %v, want %s", out, problems, want)
				}
			}
		})
	}
	wg.Wait()
}

// TestManyValues: long lists take other ways than short ones (hashes, maps), with the same outcome.
func TestManyValues(t *testing.T) {
	distinct := `1,"1",true,false,null,[],{},[1],[[1]],{"a":1},{"a":"1"},{"b":1},{"a":1,"b":2},"a","","\u00e9",1.5,-1,[1,2],[2,1],1e2,[{}],{"a":[]}`
	unique, enum := compiled(t, `{"uniqueItems":true}`), compiled(t, `{"enum":[`+distinct+`]}`)
	if problems := unique.Validate(parsed(t, "["+distinct+"]")); problems != nil {
		t.Errorf("all different: %v", problems)
	}
	for _, again := range []string{`1.0`, `"\u0031"`, `true`, `null`, `[]`, `{}`, `[[1.00]]`, `{"b":2,"a":1}`, `"é"`, `15e-1`, `-1.0`, `100`, `[2,1]`, `{"a":[]}`} {
		if problems := unique.Validate(parsed(t, "["+distinct+","+again+"]")); len(problems) != 1 || problems[0].Rule != "uniqueItems" {
			t.Errorf("%s again: %v", again, problems)
		}
		if problems := enum.Validate(parsed(t, again)); problems != nil {
			t.Errorf("%s is listed: %v", again, problems)
		}
	}
	for _, other := range []string{`2`, `"2"`, `[2]`, `{"a":2}`, `{"c":1}`, `[null]`, `"A"`, `{"a":1,"b":2,"c":3}`} {
		if problems := unique.Validate(parsed(t, "["+distinct+","+other+"]")); problems != nil {
			t.Errorf("%s is new: %v", other, problems)
		}
		if problems := enum.Validate(parsed(t, other)); len(problems) != 1 || !strings.Contains(problems[0].Message, "or 3 others; got") {
			t.Errorf("%s is not listed: %v", other, problems)
		}
	}
}
