package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// Schemas of real servers break the rules of their draft. A tool without one of its
// rules can be used; a tool that is missing cannot.
func TestOddKeywordsDropNoTool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ odd, skipped string }{ // of the property p; skipped: what the warning names, empty: there is none
		{`{"type":"number","minimum":0,"exclusiveMinimum":true}`, ""},
		{`{"type":"number","maximum":9,"exclusiveMaximum":true}`, ""},
		{`{"type":"number","exclusiveMinimum":true}`, ""},
		{`{"type":"number","exclusiveMinimum":"0"}`, "properties/p: exclusiveMinimum is not a number"},
		{`{"type":"number","minimum":true,"multipleOf":[]}`, "properties/p: minimum is not a number"},
		{`{"type":"any"}`, `properties/p: unknown type "any"`},
		{`{"type":"String"}`, `properties/p: unknown type "String"`},
		{`{"type":["string","any"]}`, `unknown type "any"`},
		{`{"type":["string",5]}`, "unknown type 5"},
		{`{"type":{"type":"string"}}`, "properties/p: type is neither"},
		{`{"type":"string","required":true}`, ""},
		{`{"type":"object","required":"a"}`, "properties/p: required is not a list"},
		{`{"type":"object","required":["a",1]}`, "properties/p: required lists"},
		{`{"type":"array","items":[{"type":"string"},{"type":"number"}]}`, ""},
		{`{"type":"array","items":[{"type":"string"},5]}`, "properties/p/items/1: it is not a schema"},
		{`{"type":"array","items":5}`, "properties/p/items: it is not a schema"},
		{`{"type":"array","prefixItems":{}}`, "prefixItems is not a list"},
		{`{"type":"array","minItems":"1","maxItems":-1}`, "minItems is not a count"},
		{`{"type":"string","maxLength":2.5}`, "maxLength is not a count"},
		{`{"type":"object","minProperties":null}`, "minProperties is not a count"},
		{`{"type":"string","enum":"a"}`, "enum is not a list"},
		{`{"type":"string","pattern":5,"format":[]}`, ""},
		{`{"type":"object","properties":["a"]}`, "properties/p: properties is not an object"},
		{`{"type":"object","properties":{"a":"string"}}`, "properties/p/properties/a: it is not a schema"},
		{`{"type":"object","patternProperties":[]}`, "patternProperties is not an object"},
		{`{"type":"object","additionalProperties":"no"}`, "properties/p/additionalProperties: it is not a schema"},
		{`{"allOf":{"type":"string"}}`, "allOf is not a list"},
		{`{"anyOf":{"type":"string"}}`, "anyOf is not a list"},
		{`{"oneOf":[{"type":"string"},null]}`, "properties/p/oneOf/1: it is not a schema"},
		{`{"$ref":"https://example.com/a.json#/x"}`, ""},
		{`{"$ref":5}`, ""},
		{`null`, "properties/p: it is not a schema"},
		{`"string"`, "properties/p: it is not a schema"},
	} {
		for _, top := range []bool{false, true} {
			input := `{"type":"object","properties":{"p":` + c.odd + `,"q":{"type":"string"}},"required":["q"]}`
			if top { // the same among the keywords of the arguments
				if !strings.HasPrefix(c.odd, "{") || strings.Contains(c.odd, `"type":"string"`) && !strings.Contains(c.odd, `Of"`) || strings.Contains(c.odd, `"type":"array"`) || strings.Contains(c.odd, `"type":"number"`) {
					continue
				}
				input = c.odd
			}
			for _, v := range variants() {
				if v.format == MCP {
					continue
				}
				set, err := Options{Strict: v.strict}.Of(v.format, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "t", Input: json.RawMessage(input)}}})
				if err != nil || len(set.Tools) != 1 || len(set.Left) > 0 {
					t.Errorf("%s, %s: %v, %d tools, left %v", input, v, err, len(set.Tools), set.Left)
					continue
				}
				if err := checkTool(v.format, v.strict, set.Tools[0]); err != nil {
					t.Errorf("%s, %s: %v in %s", input, v, err, set.Tools[0])
				}
				if top {
					continue
				}
				if !strings.Contains(string(set.Tools[0]), `"q"`) {
					t.Errorf("%s, %s: the other property is missing in %s", input, v, set.Tools[0])
				}
				var skipped []string
				for _, l := range set.Skipped {
					skipped = append(skipped, l.Why)
				}
				if all := strings.Join(skipped, "\n"); (c.skipped == "") != (all == "") || !strings.Contains(all, c.skipped) {
					t.Errorf("%s, %s: skipped %q, want %q", input, v, all, c.skipped)
				}
			}
		}
	}
}

// The warnings about one schema have an end.
func TestSkippedKeywordsAreBounded(t *testing.T) {
	t.Parallel()
	input := `{"properties":{` + many(500, ",", func(i int) string { return `"` + strings.Repeat("n", i) + `":5` }) + `}}`
	set, err := Of(OpenAI, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "t", Input: json.RawMessage(input)}}})
	if err != nil || len(set.Tools) != 1 || len(set.Skipped) != maxSkipped+1 {
		t.Fatalf("%v, %d tools, %d skipped", err, len(set.Tools), len(set.Skipped))
	}
	for _, l := range set.Skipped {
		if len(l.Why) > 2*maxRuleText {
			t.Errorf("%d bytes", len(l.Why))
		}
	}
}
