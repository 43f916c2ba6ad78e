package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestCompileRefuses: what the metaschema of a draft forbids is an error that names the place.
func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ schema, pointer, want string }{
		{``, "", "not a JSON text"},
		{`{"a":1,"a":2}`, "", "duplicate key"},
		{`{"title":"` + strings.Repeat("x", 4<<20) + `"}`, "", "the limit is"},
		{`3`, "", "a schema must be an object, true or false, got a number"},
		{`[]`, "", "got an array"},
		{`{"type":"strin"}`, "/type", `"strin" is not a type`},
		{`{"type":["string","string"]}`, "/type/1", "named twice"},
		{`{"type":[]}`, "/type", "at least one type"},
		{`{"type":["string",3]}`, "/type/1", "3 is not a type"},
		{`{"type":null}`, "/type", "is not a type"},
		{`{"properties":{"a":{"minimum":"3"}}}`, "/properties/a/minimum", "must be a number, got a string"},
		{`{"properties":{"a/b~c":{"maximum":[]}}}`, "/properties/a~1b~0c/maximum", "must be a number"},
		{`{"properties":[]}`, "/properties", "must be an object, got an array"},
		{`{"properties":{"a":1}}`, "/properties/a", "a schema must be an object"},
		{`{"required":"a"}`, "/required", "must be an array, got a string"},
		{`{"required":["a",1]}`, "/required/1", "must be a string"},
		{`{"required":["a","b","a"]}`, "/required", "numbers 1 and 3 of the list are the same name"},
		{`{"minLength":-1}`, "/minLength", "zero or more, got -1"},
		{`{"maxLength":1.5}`, "/maxLength", "whole number"},
		{`{"minItems":"1"}`, "/minItems", "whole number"},
		{`{"maxProperties":-2}`, "/maxProperties", "whole number"},
		{`{"pattern":"("}`, "/pattern", "not a regular expression"},
		{`{"pattern":3}`, "/pattern", "must be a string"},
		{`{"patternProperties":{"[":{}}}`, "/patternProperties/[", "not a regular expression"},
		{`{"enum":"a"}`, "/enum", "must be an array"},
		{`{"multipleOf":0}`, "/multipleOf", "greater than 0"},
		{`{"multipleOf":-1}`, "/multipleOf", "greater than 0"},
		{`{"exclusiveMinimum":true}`, "/exclusiveMinimum", "must be a number, got a boolean"},
		{`{"uniqueItems":1}`, "/uniqueItems", "must be a boolean"},
		{`{"items":[{}]}`, "/items", "a schema must be an object"},
		{`{"anyOf":[]}`, "/anyOf", "at least one schema"},
		{`{"anyOf":{}}`, "/anyOf", "must be an array"},
		{`{"allOf":[{"oneOf":[{"type":"x"}]}]}`, "/allOf/0/oneOf/0/type", "is not a type"},
		{`{"not":[]}`, "/not", "a schema must be"},
		{`{"additionalProperties":"no"}`, "/additionalProperties", "a schema must be"},
		{`{"title":1}`, "/title", "must be a string"},
		{`{"format":1}`, "/format", "must be a string"},
		{`{"examples":{}}`, "/examples", "must be an array"},
		{`{"deprecated":"yes"}`, "/deprecated", "must be a boolean"},
		{`{"$schema":3}`, "/$schema", "must be a string"},
		{`{"$ref":3}`, "/$ref", "must be a string"},
		{`{"$ref":"#/$defs/a"}`, "/$ref", "points to nothing"},
		{`{"$ref":"#/$defs/a","$defs":{"a":3}}`, "/$defs/a", "a schema must be"},
		{`{"$defs":{"a":{"type":"x"}}}`, "/$defs/a/type", "is not a type"},
		{`{"definitions":[]}`, "/definitions", "must be an object"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","required":[]}`, "/required", "at least one name"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","items":true}`, "/items", "must be an object"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","enum":[]}`, "/enum", "at least one value"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","enum":[1,2,1.0]}`, "/enum/2", "same value as number 1"},
		{`{"if":3}`, "/if", "a schema must be an object"},
		{`{"if":{"type":"strin"}}`, "/if/type", "is not a type"},
		{`{"properties":{"a":{"contains":[]}}}`, "/properties/a/contains", "a schema must be an object"},
		{`{"if":{},"else":{"if":3}}`, "/else/if", "a schema must be an object"},
		{`{"then":[]}`, "/then", "a schema must be an object"},
		{`{"if":false,"else":{"$ref":"#/zip"}}`, "/else/$ref", "points to nothing"},
		{`{"propertyNames":{"pattern":"("}}`, "/propertyNames/pattern", "not a regular expression"},
		{`{"contains":{},"minContains":-1}`, "/minContains", "whole number"},
		{`{"maxContains":"1"}`, "/maxContains", "whole number"},
		{`{"dependentSchemas":{"a":3}}`, "/dependentSchemas/a", "a schema must be an object"},
		{`{"dependentSchemas":{"a":{"type":"strin"}}}`, "/dependentSchemas/a/type", "is not a type"},
		{`{"dependentSchemas":[]}`, "/dependentSchemas", "must be an object"},
		{`{"dependentRequired":{"a":[1]}}`, "/dependentRequired/a/0", "must be a string"},
		{`{"dependentRequired":{"a":["b","b"]}}`, "/dependentRequired/a", "the same name"},
		{`{"dependentRequired":{"a":{}}}`, "/dependentRequired/a", "must be an array"},
		{`{"dependencies":{"a":3}}`, "/dependencies/a", "a schema must be an object"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","dependencies":{"a":[]}}`, "/dependencies/a", "at least one name"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":true}`, "", "exclusiveMinimum needs minimum beside it"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","maximum":1,"exclusiveMaximum":1}`, "/exclusiveMaximum", "must be a boolean"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[]}`, "/items", "at least one schema"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"x"}]}`, "/items/0/type", "is not a type"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","additionalItems":3}`, "/additionalItems", "a schema must be an object"},
		{`{"multipleOf":` + strings.Repeat("7", 1001) + `}`, "/multipleOf", "more than 1000 digits"},
		{`{"pattern":"` + strings.Repeat("x{1000}", 101) + `"}`, "/pattern", "too large"},
		{`{"properties":{"a":{"pattern":"` + strings.Repeat("x{1000}", 60) + `"},"b":{"pattern":"` + strings.Repeat("y{1000}", 60) + `"}}}`, "/properties/b/pattern", "too large"},
		{`{"if":{"$ref":"#/zip"}}`, "/if/$ref", "points to nothing"},
		{`{"if":{"$ref":"#zap"}}`, "/if/$ref", "points to nothing"},
		{`{"unevaluatedItems":{"$ref":"#/zip"}}`, "/unevaluatedItems/$ref", "points to nothing"},
		{`{"$anchor":"1 2"}`, "/$anchor", "must match the pattern"},
		{`{"$recursiveAnchor":3,"$schema":"https://json-schema.org/draft/2019-09/schema"}`, "/$recursiveAnchor", "must be a boolean"},
		{`{"$id":"http://a b"}`, "/$id", "not a valid address"},
		{`{"$ref":"http://a b"}`, "/$ref", "not a valid address"},
		{`{"$id":3}`, "/$id", "must be a string"},
		{`{"$id":"a#b"}`, "/$id", "nothing after #"},
		{`{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, "/$defs/b/$id", "two parts of this schema have the identifier"},
		{`{"$defs":{"a":{"$anchor":"x"},"b":{"$dynamicAnchor":"x"}}}`, "/$defs/b/$dynamicAnchor", "two parts of this schema have the anchor"},
		{`{"$dynamicRef":"#x"}`, "/$dynamicRef", "points to nothing"},
		{`{"$dynamicAnchor":"meta","$ref":"https://json-schema.org/draft/2020-12/schema"}`, "/$ref", "must not extend"},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"$ref":"https://json-schema.org/draft/2019-09/schema"}`, "/$ref", "must not extend"},
		{`{"$vocabulary":3}`, "/$vocabulary", "must be an object"},
		{`{"$defs":{"a":{"$id":"https://a.invalid/x"}},"$ref":"https://a.invalid/x#/nowhere"}`, "/$ref", "points to nothing"},
		{`{"$defs":{"a":{"$id":"x","$schema":"https://example.com/meta"}}}`, "/$defs/a/$schema", "must not refer to other documents"},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema#/$defs/x"}`, "/$ref", "must not refer to other documents"},
		// nothing is loaded
		{`{"$ref":"https://example.com/schema.json"}`, "/$ref", "must not refer to other documents"},
		{`{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "/properties/a/$ref", "must not refer to other documents"},
		{`{"$ref":"other.json#/a"}`, "/$ref", "must not refer to other documents"},
		{`{"$schema":"https://example.com/meta"}`, "/$schema", "must not refer to other documents"},
		// defaults
		{`{"properties":{"c":{"$ref":"#","default":{}}}}`, "/properties/c/default", "contains itself without end"},
	} {
		_, err := Compile([]byte(c.schema))
		var e *SchemaError
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, want a *SchemaError", c.schema, err)
			continue
		}
		if e.Pointer != c.pointer || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s: got %v, want %q at %s", c.schema, err, c.want, c.pointer)
		}
		if strings.Contains(err.Error(), "schema.invalid") {
			t.Errorf("%s: the error shows an address that means nothing: %v", c.schema, err)
		}
	}
}

// TestCompileOwnsItsText: the caller may reuse the bytes.
func TestCompileOwnsItsText(t *testing.T) {
	text := []byte(`{"properties":{"alpha":{"enum":["one","two"],"default":"one"}},"additionalProperties":false}`)
	s, err := Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	copy(text, bytes.Repeat([]byte("#"), len(text)))
	out, problems := s.Admit(parsed(t, `{}`), Options{})
	if string(out) != `{"alpha":"one"}` || problems != nil {
		t.Errorf("got %s %v", out, problems)
	}
}

// TestCompileIsBounded: a short schema must not ask for unbounded memory or time.
func TestCompileIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		next := string(rune('a'+(i+1)/26)) + string(rune('a'+(i+1)%26))
		this := string(rune('a'+i/26)) + string(rune('a'+i%26))
		b.WriteString(`"` + this + `":{"properties":{"x":{"$ref":"#/$defs/` + next + `","default":{}},"y":{"$ref":"#/$defs/` + next + `","default":{}}}},`)
	}
	b.WriteString(`"bo":{},"d0":{"$ref":"#/$defs/aa"}}}`)
	start := time.Now()
	if _, err := Compile([]byte(b.String())); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("defaults that double forty times: %v", err)
	}
	if _, err := Compile([]byte(strings.Repeat(`{"not":`, 10_000) + "{}" + strings.Repeat("}", 10_000))); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("a schema 10,000 deep: %v", err)
	}
	// Every level leads to two resources that bind an anchor of its own, so that there are 2^30 ways to the last one.
	levels := many(30, ",", func(i int) string {
		return fmt.Sprintf(`"s%d":{"anyOf":[{"$ref":"a%d"},{"$ref":"b%d"}]},`+
			`"a%d":{"$id":"a%d","$dynamicAnchor":"n%d","$ref":"root#/$defs/s%d"},"b%d":{"$id":"b%d","$dynamicAnchor":"n%d","$ref":"root#/$defs/s%d"}`, i, i, i, i, i, i, i+1, i, i, i, i+1)
	})
	if _, err := Compile([]byte(`{"$id":"https://a.invalid/root","$ref":"#/$defs/s0","$defs":{"s30":{},` + levels + `}}`)); err == nil || !strings.Contains(err.Error(), "too many ways") {
		t.Errorf("dynamic anchors that double thirty times: %v", err)
	}
	long := strings.Repeat("x", 1_000_000)
	if _, err := Compile([]byte(`{"$id":"` + long + `/","$defs":{` + many(50_000, ",", func(i int) string { return fmt.Sprintf(`"%d":{"$id":"%d"}`, i, i) }) + `}}`)); err == nil || !strings.Contains(err.Error(), "bytes together") {
		t.Errorf("many identifiers below a long one: %.300v", err)
	}
	key := strings.Repeat("k", 400_000) // read anew for each way that leads to it
	if _, err := Compile([]byte(`{"$defs":{"` + key + `":{}},"allOf":[` + many(2, ",", func(int) string { return `{"$ref":"#/$defs/` + key + `"}` }) + `]}`)); err != nil {
		t.Errorf("a long reference: %v", err)
	}
	scopes := many(4000, ",", func(i int) string {
		return fmt.Sprintf(`"s%d":{"$id":"http://x/%d","$dynamicAnchor":"n","$ref":"http://x/leaf"}`, i, i)
	})
	leaf := `"leaf":{"$id":"http://x/leaf","allOf":[{"$dynamicRef":"#n"},{"$ref":"#/$defs/` + key + `"}],"$dynamicAnchor":"n","$defs":{"` + key + `":{}}}`
	began := time.Now()
	_, err := Compile([]byte(`{"$id":"http://x/","$defs":{` + scopes + `,` + leaf + `},"allOf":[` + many(4000, ",", func(i int) string { return fmt.Sprintf(`{"$ref":"http://x/%d"}`, i) }) + `]}`))
	if took := time.Since(began); took > 30*time.Second { // 4,000 readings of 400 kB
		t.Errorf("it took %v: %v", took, err)
	}
	if _, err := Compile([]byte(`{"allOf":[` + many(30_000, ",", func(int) string { return `{"$ref":"#/allOf/29999"}` }) + `,{}]}`)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("many references through a long list: %.300v", err)
	}
	if _, err := Compile([]byte(`{"$ref":"#/x","x":{"allOf":[` + many(6, ",", func(int) string { return `{"pattern":"` + strings.Repeat("x{1000}", 90) + `"}` }) + `]}}`)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("patterns out of sight: %v", err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
