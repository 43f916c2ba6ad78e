package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// property shows one property of a tool.
func shownProperty(t *testing.T, v variant, head, schema string) string {
	t.Helper()
	input := `{` + head + `"type":"object","properties":{"p":` + schema + `},"required":["p"],"additionalProperties":false}`
	set, err := Options{Strict: v.strict}.Of(v.format, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "t", Input: json.RawMessage(input)}}})
	if err != nil || len(set.Tools) != 1 {
		t.Fatalf("%v, left %v", err, set.Left)
	}
	def := must(string(set.Tools[0]))
	if v.format == OpenAI {
		def = def.get("function")
	}
	for _, key := range []string{"parameters", "input_schema"} {
		if s := def.get(key); s != nil {
			return s.get("properties").get("p").String()
		}
	}
	t.Fatalf("no schema in %s", def)
	return ""
}

// TestProjection: what each API is told of a property. The loose form is the same for OpenAI and Anthropic.
func TestProjection(t *testing.T) {
	const draft7, draft4 = `"$schema":"http://json-schema.org/draft-07/schema#",`, `"$schema":"http://json-schema.org/draft-04/schema#",`
	for _, c := range []struct{ name, head, schema, loose, strict, gemini string }{
		{"plain", ``, `{"type":"string","description":"A word."}`, `{"type":"string","description":"A word."}`, `{"type":"string","description":"A word."}`, `{"type":"STRING","description":"A word."}`},
		{"bounds", ``, `{"type":"integer","minimum":1,"maximum":20,"default":5}`, `{"type":"integer","minimum":1,"maximum":20,"default":5}`,
			`{"type":"integer","description":"Default 5","minimum":1,"maximum":20}`, `{"type":"INTEGER","description":"Default 5","minimum":1,"maximum":20}`},
		{"lengths and a pattern", ``, `{"type":"string","minLength":1,"maxLength":20,"pattern":"^a"}`, `{"type":"string","minLength":1,"maxLength":20,"pattern":"^a"}`,
			`{"type":"string","description":"Between 1 and 20 characters; matches ^a"}`, `{"type":"STRING","description":"Matches ^a","minLength":1,"maxLength":20}`},
		{"a pattern for one engine", ``, `{"type":"string","pattern":"(?=a)"}`, `{"type":"string","description":"Matches (?=a)"}`, `{"type":"string","description":"Matches (?=a)"}`, `{"type":"STRING","description":"Matches (?=a)"}`},
		{"a format", ``, `{"type":"string","format":"uri"}`, `{"type":"string","format":"uri"}`, `{"type":"string","description":"Format uri"}`, `{"type":"STRING","description":"Format uri"}`},
		{"const", ``, `{"const":"a"}`, `{"type":"string","enum":["a"]}`, `{"type":"string","enum":["a"]}`, `{"type":"STRING","enum":["a"]}`},
		{"numbers to choose from", ``, `{"enum":[1,2]}`, `{"type":"integer","enum":[1,2]}`, `{"type":"integer","enum":[1,2]}`, `{"type":"INTEGER","description":"One of: 1, 2"}`},
		{"an empty choice", ``, `{"enum":["","a"]}`, `{"type":"string","enum":["","a"]}`, `{"type":"string","enum":["","a"]}`, `{"type":"STRING","description":"One of: \"\", \"a\""}`},
		{"literals", ``, `{"oneOf":[{"const":"a","description":"first"},{"const":"b","title":"second"}]}`, `{"type":"string","description":"\"a\": first; \"b\": second","enum":["a","b"]}`,
			`{"type":"string","description":"\"a\": first; \"b\": second","enum":["a","b"]}`, `{"type":"STRING","description":"\"a\": first; \"b\": second","enum":["a","b"]}`},
		{"or null", ``, `{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`, `{"type":["string","null"],"enum":["a",null]}`, `{"type":["string","null"],"enum":["a",null]}`, `{"type":"STRING","enum":["a"],"nullable":true}`},
		{"two types", ``, `{"type":["string","integer"],"minimum":1}`, `{"type":["string","integer"],"minimum":1}`,
			`{"anyOf":[{"type":"string"},{"type":"integer","minimum":1}]}`, `{"anyOf":[{"type":"STRING"},{"type":"INTEGER","minimum":1}]}`},
		{"a reference", `"$defs":{"d":{"type":"string","description":"Below."}},`, `{"$ref":"#/$defs/d","description":"Here."}`, `{"type":"string","description":"Here. Below."}`, `{"type":"string","description":"Here. Below."}`, `{"type":"STRING","description":"Here. Below."}`},
		{"an escaped reference", `"$defs":{"a/b~c d":{"type":"boolean"}},`, `{"$ref":"#/$defs/a~1b~0c%20d"}`, `{"type":"boolean"}`, `{"type":"boolean"}`, `{"type":"BOOLEAN"}`},
		{"beside a reference in draft 7", draft7 + `"definitions":{"d":{"type":["string","number"]}},`, `{"$ref":"#/definitions/d","type":"string"}`, `{"type":["string","number"]}`, `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}`},
		{"const in draft 4", draft4, `{"type":"string","const":"a"}`, `{"type":"string"}`, `{"type":"string"}`, `{"type":"STRING"}`},
		{"exclusive in draft 4", draft4, `{"type":"number","minimum":1,"exclusiveMinimum":true}`, `{"type":"number","exclusiveMinimum":1}`, `{"type":"number","exclusiveMinimum":1}`, `{"type":"NUMBER","description":"More than 1"}`},
		{"exclusive as in draft 4", ``, `{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`, `{"type":"number","maximum":9,"exclusiveMinimum":1}`, `{"type":"number","maximum":9,"exclusiveMinimum":1}`, `{"type":"NUMBER","description":"More than 1","maximum":9}`},
		{"exclusive without a bound", ``, `{"type":"number","exclusiveMaximum":true}`, `{"type":"number"}`, `{"type":"number"}`, `{"type":"NUMBER"}`},
		{"allOf", ``, `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"additionalProperties":false}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"required":["a","b"],"additionalProperties":false}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"INTEGER"}},"required":["a"]}`},
		{"a map", ``, `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`,
			`{"type":"string","description":"An object, as JSON text; by this JSON Schema: {\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"}`,
			`{"type":"STRING","description":"An object, as JSON text; by this JSON Schema: {\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"}`},
		{"anything", ``, `{"description":"The value."}`, `{"description":"The value."}`, `{"type":["string","null"],"description":"The value. (any value, as JSON text)"}`, `{"type":"STRING","description":"The value. (any value, as JSON text)","nullable":true}`},
		{"a list of anything", ``, `{"type":"array"}`, `{"type":"array","items":{}}`, `{"type":"array","items":{"type":["string","null"],"description":"Any value, as JSON text"}}`, `{"type":"ARRAY","items":{"type":"STRING","description":"Any value, as JSON text","nullable":true}}`},
		{"a tuple", ``, `{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false}`, `{"type":"array","description":"In this order: a number, a number","items":{"type":"number"},"maxItems":2}`,
			`{"type":"array","description":"In this order: a number, a number","items":{"type":"number"},"maxItems":2}`, `{"type":"ARRAY","description":"In this order: a number, a number","items":{"type":"NUMBER"},"maxItems":2}`},
		{"not", ``, `{"type":"string","not":{"const":"x"}}`, `{"type":"string","description":"Also holds: {\"not\":{\"const\":\"x\"}}"}`, `{"type":"string","description":"Also holds: {\"not\":{\"const\":\"x\"}}"}`, `{"type":"STRING","description":"Also holds: {\"not\":{\"const\":\"x\"}}"}`},
		{"an OpenAPI word", ``, `{"type":"string","nullable":true,"x-note":1}`, `{"type":"string"}`, `{"type":"string"}`, `{"type":"STRING"}`},
		{"alternatives beside properties", ``, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false,"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false,"anyOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"object","properties":{"b":{}},"required":["b"]}]}`,
			`{"type":"object","description":"Give a, or b","properties":{"a":{"type":["string","null"]},"b":{"type":["string","null"]}},"required":["a","b"],"additionalProperties":false}`,
			`{"type":"OBJECT","description":"Give a, or b","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}}`},
	} {
		for _, want := range []struct {
			v    variant
			text string
		}{{variant{OpenAI, false}, c.loose}, {variant{Anthropic, false}, c.loose}, {variant{OpenAI, true}, c.strict}, {variant{Gemini, false}, c.gemini}} {
			if got := shownProperty(t, want.v, c.head, c.schema); got != want.text {
				t.Errorf("%s, %s:\n got %s\nwant %s", c.name, want.v, got, want.text)
			}
		}
	}
}

// TestRestore: what a model gives becomes what the contract wants, and what is not understood stays.
func TestRestore(t *testing.T) {
	const input = `{"type":"object","properties":{
		"word":{"type":"string"}, "maybe":{"type":"integer"}, "empty":{"type":["integer","null"]}, "note":{"type":["string","null"]}, "none":{"type":["string","null"],"default":null},
		"map":{"type":"object","additionalProperties":true}, "free":{}, "$odd name":{"type":"object","properties":{"@id":{"type":"string"}}},
		"list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}},
		"either":{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"v":{"type":"string"}},"required":["kind","v"]},{"type":"object","properties":{"kind":{"const":"b"},"v":{}},"required":["kind","v"]}]}
	},"required":["word"],"additionalProperties":{"type":"integer"}}`
	odd := "_odd_name_" + hashOf("$odd name")
	id := "_id_" + hashOf("@id")
	strict, loose, gemini := variant{OpenAI, true}, variant{Anthropic, false}, variant{Gemini, false}
	for _, c := range []struct {
		v          variant
		args, want string // want without {: part of the error
	}{
		{strict, ``, `{}`},
		{strict, `{"word":"x","maybe":null,"empty":null,"note":null,"none":null}`, `{"word":"x"}`},
		{strict, `{"empty":"__null__","note":"__null__"}`, `{"empty":null,"note":null}`},
		{strict, `{"word":"__null__"}`, `{"word":"__null__"}`},
		{strict, `{"map":"{\"k\":[1]}","free":"[1,2]"}`, `{"map":{"k":[1]},"free":[1,2]}`},
		{strict, `{"free":"just words"}`, `{"free":"just words"}`},
		{strict, `{"free":"\"quoted\""}`, `{"free":"quoted"}`},
		{strict, `{"free":"null"}`, `{"free":null}`},
		{strict, `{"map":"[1]"}`, `{"map":"[1]"}`},
		{strict, `{"map":{"k":1}}`, `{"map":{"k":1}}`},
		{strict, `{"` + odd + `":{"` + id + `":"i"}}`, `{"$odd name":{"@id":"i"}}`},
		{strict, `{"additional_properties":"{\"more\":1}"}`, `{"more":1}`},
		{strict, `{"additional_properties":{"more":1}}`, `{"more":1}`},
		{strict, `{"additional_properties":"x"}`, `{"additional_properties":"x"}`},
		{strict, `{"word":"x","additional_properties":"{\"word\":1}"}`, `given twice`},
		{strict, `{"list":[{"x":1},{"x":null}]}`, `{"list":[{"x":1},{}]}`},
		{strict, `{"either":{"kind":"a","v":"1"}}`, `{"either":{"kind":"a","v":"1"}}`},
		{strict, `{"either":{"kind":"b","v":"1"}}`, `{"either":{"kind":"b","v":1}}`},
		{strict, `{"maybe":12345678901234567890}`, `{"maybe":12345678901234567890}`},
		{strict, `{"unknown":null}`, `{"unknown":null}`},
		{strict, `[1]`, `[1]`},
		{strict, `{"word":`, `not JSON`},
		{strict, `{"word":"a","word":"b"}`, `twice`},
		{loose, `{"word":"x", "maybe":null}`, `{"word":"x","maybe":null}`},
		{loose, `{"` + odd + `":{"` + id + `":"i"}}`, `{"$odd name":{"@id":"i"}}`},
		{loose, `{"$odd name":1,"` + odd + `":2}`, `given twice`},
		{loose, `{"free":"[1]"}`, `{"free":"[1]"}`},
		{gemini, `{"empty":null,"map":"{}"}`, `{"empty":null,"map":{}}`},
		{gemini, `{"additional_properties":"{\"more\":1}","` + odd + `":{}}`, `{"more":1,"$odd name":{}}`},
	} {
		set, err := Options{Strict: c.v.strict}.Of(c.v.format, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "t", Input: json.RawMessage(input)}}})
		if err != nil || len(set.Tools) != 1 {
			t.Fatal(err, set.Left)
		}
		got, err := set.Restore("t", json.RawMessage(c.args))
		switch {
		case err != nil && (strings.HasPrefix(c.want, "{") || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s, %s: %v, want %s", c.v, c.args, err, c.want)
		case err == nil && string(got) != c.want:
			t.Errorf("%s, %s: got %s, want %s", c.v, c.args, got, c.want)
		}
	}
	if _, err := (Set{}).Restore("t", nil); err == nil {
		t.Error("a tool that is not shown has arguments")
	}
}

// TestAlternatives: where a value could fit two alternatives that mean different things by it, they are merged, so that
// it means one thing.
func TestAlternatives(t *testing.T) {
	for _, c := range []struct{ name, schema, shown, args, want string }{
		{"lists of strings or of anything", `{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"array"}]}`,
			`{"type":"array","items":{"type":["string","null"],"description":"Any value, as JSON text"}}`, `["1","\"a\""]`, `[1,"a"]`},
		{"objects that differ in one type", `{"anyOf":[{"type":"object","properties":{"v":{"type":"string"}},"required":["v"]},{"type":"object","properties":{"v":{}},"required":["v"]}]}`,
			`{"type":"object","properties":{"v":{"type":["string","null"],"description":"Any value, as JSON text"}},"required":["v"],"additionalProperties":false}`, `{"v":"1"}`, `{"v":1}`},
		{"objects that differ in a name", `{"anyOf":[{"type":"object","properties":{"v":{"type":"string"}},"required":["v"]},{"type":"object","properties":{"w":{}},"required":["w"]}]}`,
			`{"anyOf":[{"type":"object","properties":{"v":{"type":"string"}},"required":["v"],"additionalProperties":false},{"type":"object","properties":{"w":{"type":["string","null"],"description":"Any value, as JSON text"}},"required":["w"],"additionalProperties":false}]}`,
			`{"w":"1"}`, `{"w":1}`},
		{"a string or a map", `{"anyOf":[{"type":"string"},{"type":"object","additionalProperties":true}]}`,
			`{"type":"string","description":"A string or an object, as JSON text; by this JSON Schema: {\"type\":\"object\",\"additionalProperties\":true}"}`, `"{\"a\":1}"`, `{"a":1}`},
		{"a number or a map", `{"anyOf":[{"type":"number"},{"type":"object","additionalProperties":true}]}`,
			`{"anyOf":[{"type":"number"},{"type":"string","description":"An object, as JSON text; by this JSON Schema: {\"type\":\"object\",\"additionalProperties\":true}"}]}`, `"{}"`, `{}`},
	} {
		if got := shownProperty(t, variant{OpenAI, true}, ``, c.schema); got != c.shown {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.shown)
		}
		input := `{"type":"object","properties":{"p":` + c.schema + `},"required":["p"]}`
		set, err := Options{Strict: true}.Of(OpenAI, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "t", Input: json.RawMessage(input)}}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := set.Restore("t", json.RawMessage(`{"p":`+c.args+`}`))
		if want := `{"p":` + c.want + `}`; err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, want)
		}
	}
}

func TestMCP(t *testing.T) {
	for _, c := range []struct {
		spec toolcrib.Entry
		want string
	}{
		{toolcrib.Entry{Spec: toolcrib.Spec{Name: "a", Effects: toolcrib.Pure}}, `{"annotations":{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true},"inputSchema":{"type":"object"},"name":"a"}`},
		{toolcrib.Entry{Spec: toolcrib.Spec{Name: "a", Effects: toolcrib.Pure, Calls: true}}, `{"annotations":{"destructiveHint":true,"openWorldHint":true},"inputSchema":{"type":"object"},"name":"a"}`},
		{toolcrib.Entry{Spec: toolcrib.Spec{Name: "a", Title: "A", Description: "<a>", Effects: toolcrib.Reads | toolcrib.Network, Input: json.RawMessage(`{"type": "object", "$ref": "#/x"}`), Output: json.RawMessage(`{"type":"string"}`)}},
			`{"annotations":{"destructiveHint":false,"idempotentHint":true,"openWorldHint":true,"readOnlyHint":true},"description":"<a>","inputSchema":{"type":"object","$ref":"#/x"},"name":"a","outputSchema":{"type":"string"},"title":"A"}`},
		{toolcrib.Entry{Spec: toolcrib.Spec{Name: "a", Input: json.RawMessage(`{"properties":{}}`)}}, `{"annotations":{"destructiveHint":true,"openWorldHint":true},"inputSchema":{"type":"object","properties":{}},"name":"a"}`},
		{toolcrib.Entry{Spec: toolcrib.Spec{Name: "a", Effects: toolcrib.Writes, Idempotent: true, Input: json.RawMessage(`true`)}}, `{"annotations":{"destructiveHint":true,"idempotentHint":true,"openWorldHint":false},"inputSchema":{"type":"object"},"name":"a"}`},
		{toolcrib.Entry{Spec: toolcrib.Spec{Name: "a", Input: json.RawMessage(`{`)}}, ``},
		{toolcrib.Entry{Spec: toolcrib.Spec{Name: "a", Output: json.RawMessage(`{`)}}, ``},
	} {
		set, err := Of(MCP, []toolcrib.Entry{c.spec})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(set.Tools) == 1 {
			got = string(set.Tools[0])
		}
		if got != c.want {
			t.Errorf("got %s, left %v\nwant %s", got, set.Left, c.want)
		}
	}
}

// TestSet: the outcome does not depend on the order, names lead back, and what is left out is told.
func TestSet(t *testing.T) {
	specs := []toolcrib.Entry{
		{Spec: toolcrib.Spec{Name: "b", Description: "B."}}, {Spec: toolcrib.Spec{Name: "1a", Title: "One"}}, {Spec: toolcrib.Spec{Name: "dup", Description: "second"}, Box: "y"}, {Spec: toolcrib.Spec{Name: "dup", Description: "first"}, Box: "x"},
		{Spec: toolcrib.Spec{Name: ""}}, {Spec: toolcrib.Spec{Name: "bad", Input: json.RawMessage(`{"type":"string"}`)}},
	}
	set, err := Of(Gemini, specs)
	if err != nil {
		t.Fatal(err)
	}
	one := "_1a_" + hashOf("1a")
	want := []json.RawMessage{
		json.RawMessage(`{"name":"` + one + `","description":"One"}`), json.RawMessage(`{"name":"b","description":"B."}`), json.RawMessage(`{"name":"dup","description":"first"}`),
	}
	if diff := cmp.Diff(want, set.Tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{one: "1a", "b": "b", "dup": "dup"}, set.Names); diff != "" {
		t.Error(diff)
	}
	left := []Left{{"", "it has no name"}, {"bad", "the schema allows no object, and arguments always are one"}, {"dup", "another tool has the same name"}}
	if diff := cmp.Diff(left, set.Left); diff != "" {
		t.Error(diff)
	}
	if name, ok := set.Real(one); !ok || name != "1a" {
		t.Error(name, ok)
	}
	slices.Reverse(specs)
	again, err := Of(Gemini, specs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{set.Tools, set.Names, set.Left}, []any{again.Tools, again.Names, again.Left}); diff != "" {
		t.Error("another order, another outcome:", diff)
	}
	if _, err := Of("cobol", nil); err == nil || !strings.Contains(err.Error(), "openai-responses") {
		t.Error(err)
	}
}

// TestWith: definitions of others are put into a set as they are.
func TestWith(t *testing.T) {
	set := With([]toolcrib.Entry{{Spec: toolcrib.Spec{Name: "b"}}, {Spec: toolcrib.Spec{Name: "a"}}}, func(s toolcrib.Entry) (json.RawMessage, error) {
		if s.Name == "b" {
			return nil, fmt.Errorf("cannot show %s", s.Name)
		}
		return json.RawMessage(`"` + s.Name + `"`), nil
	})
	if len(set.Tools) != 1 || string(set.Tools[0]) != `"a"` || !slices.Equal(set.Left, []Left{{"b", "cannot show b"}}) {
		t.Errorf("%s %v", set.Tools, set.Left)
	}
	if got, err := set.Restore("a", json.RawMessage(`{"x": null}`)); err != nil || string(got) != `{"x": null}` {
		t.Error(string(got), err)
	}
}

// TestStrictLimits: beyond the limits a tool is shown without strictness, and that is told.
func TestStrictLimits(t *testing.T) {
	wide := `{"properties":{` + many(5001, ",", func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) + `}}`
	set, err := Options{Strict: true}.Of(OpenAI, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "wide", Input: json.RawMessage(wide)}}, {Spec: toolcrib.Spec{Name: "small"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Tools) != 2 || len(set.Loose) != 1 || set.Loose[0].Tool != "wide" || !strings.HasSuffix(string(set.Tools[1]), `"strict":false}}`) {
		t.Errorf("%d tools, loose %v, left %v", len(set.Tools), set.Loose, set.Left)
	}
	if got, err := set.Restore("wide", json.RawMessage(`{"p1":null}`)); err != nil || string(got) != `{"p1":null}` {
		t.Error(string(got), err)
	}
}

func TestMaxDescription(t *testing.T) {
	set, err := Options{MaxDescription: 5}.Of(Anthropic, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "a", Description: "größer"}}, {Spec: toolcrib.Spec{Name: "b", Description: "groß"}}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(set.Tools[0]), `"größ…"`) || !strings.Contains(string(set.Tools[1]), `"groß"`) {
		t.Errorf("%s", set.Tools)
	}
}
