package definition

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func many(n int, sep string, f func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, sep)
}

func nested(n int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, n) + `{"type":"string"}` + strings.Repeat(`}}`, n)
}

// hostile are schemas made to break a projection, and whether the tool may be left out for it.
func hostile() []struct {
	name, schema string
	left         bool
} {
	return []struct {
		name, schema string
		left         bool
	}{
		{"nothing", ``, false},
		{"true", `true`, false},
		{"false", `false`, true},
		{"null", `null`, true},
		{"a list", `[]`, true},
		{"not JSON", `{"type":`, true},
		{"two values", `{} {}`, true},
		{"a key twice", `{"type":"object","type":"string"}`, true},
		{"a string", `{"type":"string"}`, true},
		{"an object or a string", `{"type":["string","object"],"properties":{"a":{}}}`, false},
		{"no object among alternatives", `{"anyOf":[{"type":"string"},{"type":"array"}]}`, true},
		{"unknown type", `{"type":"file"}`, false},
		{"type is a number", `{"type":5}`, false},
		{"properties is a list", `{"properties":[]}`, false},
		{"a property that is no schema", `{"properties":{"a":5}}`, false},
		{"recursive", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"},"l":{"type":"array","items":{"$ref":"#"}}}}}}`, false},
		{"a loop of references", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, false},
		{"a reference to itself", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, false},
		{"a reference through a property", `{"properties":{"a":{"allOf":[{"$ref":"#/properties/b"}]},"b":{"anyOf":[{"$ref":"#/properties/a"},{"type":"null"}]}}}`, false},
		{"references elsewhere", `{"properties":{"a":{"$ref":"https://a.invalid/x"},"b":{"$ref":"#/nowhere"},"c":{"$ref":"#anchor"},"d":{"$dynamicRef":"#x"}}}`, false},
		{"identifiers inside", `{"properties":{"a":{"$id":"x","$ref":"#/$defs/y","$defs":{"y":{"type":"string"}}}}}`, false},
		{"100 levels", nested(100), false},
		{"1,000 levels", nested(1000), true},
		{"100,000 brackets", strings.Repeat("[", 100_000), true},
		{"10,000 properties", `{"properties":{` + many(10_000, ",", func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string","description":"what it is"}`, i) }) + `}}`, true},
		{"3,000 properties", `{"properties":{` + many(3000, ",", func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) + `}}`, false},
		{"a huge enumeration", `{"properties":{"a":{"enum":[` + many(20_000, ",", func(i int) string { return fmt.Sprintf(`"v%d"`, i) }) + `]}}}`, false},
		{"many enumerations", `{"properties":{` + many(50, ",", func(i int) string {
			return fmt.Sprintf(`"p%d":{"enum":[%s]}`, i, many(100, ",", func(i int) string { return fmt.Sprint(i) }))
		}) + `}}`, false},
		{"an exponential unfolding", `{"$ref":"#/$defs/d0","$defs":{` + many(40, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1)
		}) + `,"d40":{"type":"string"}}}`, false},
		{"exponential alternatives", `{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + many(30, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"type":"array","items":{"$ref":"#/$defs/d%d"}}]}`, i, i+1, i+1)
		}) + `,"d30":{"type":"string"}}}`, false},
		{"many alternatives of alternatives", `{"properties":{"a":{"allOf":[` + many(200, ",", func(i int) string {
			return fmt.Sprintf(`{"anyOf":[{"properties":{"x%d":{}},"required":["x%d"]},{"properties":{"y%d":{}},"required":["y%d"]}]}`, i, i, i, i)
		}) + `]}}}`, false},
		{"odd names", `{"properties":{"":{},"$x":{"type":"string"},"a b":{},"ä":{},"` + strings.Repeat("n", 300) + `":{},"1":{},"-":{},".":{}}}`, false},
		{"names made to collide", `{"properties":{"$x":{"type":"string"},"_x_` + hashOf("$x") + `":{"type":"number"}}}`, false},
		{"a name that is ours", `{"type":"object","properties":{"additional_properties":{"type":"string"}},"additionalProperties":{"type":"integer"}}`, false},
		{"false inside", `{"properties":{"a":false,"b":{"items":false},"c":{"type":"array","items":false}},"required":["a"]}`, false},
		{"only false inside", `{"properties":{"b":{"type":"object","properties":{"a":false}},"c":{"type":"object","properties":{"a":false},"additionalProperties":false}}}`, false},
		{"everything at once", `{"type":"object","properties":{"a":{"type":["string","number","array","object","null"],"minLength":1,"minimum":2,"items":{"type":"string"},"properties":{"x":{}},"enum":["", 1, null, [], {}]}},"not":{"required":["b"]},"if":{},"then":{},"patternProperties":{"^x":{"type":"string"}},"propertyNames":{"maxLength":3},"dependentRequired":{"a":["b"]},"unevaluatedProperties":false}`, false},
		{"patterns of another engine", `{"properties":{"a":{"pattern":"(?=x)\\p{L}"},"b":{"pattern":"["},"c":{"pattern":"^a+$"},"d":{"pattern":"[[:alpha:]]"}}}`, false},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","properties":{"a":{"minimum":1,"exclusiveMinimum":true},"b":{"items":[{"type":"string"},{}],"additionalItems":false}}}`, false},
		{"limits that are none", `{"properties":{"a":{"maxLength":1e30,"minLength":0.0,"maxItems":2.0}}}`, false},
		{"a limit that is a word", `{"properties":{"a":{"maxLength":"5"}}}`, false},
		{"HTML and control characters", `{"properties":{"a":{"description":"<b>\u0000\u2028</b>","enum":["<","\u0001"]}}}`, false},
		{"a schema of two megabytes", `{"description":"` + strings.Repeat("x", 2<<20) + `"}`, true},
	}
}

// TestHostile: whatever the schema, the good tool beside it is shown, and the bad one is shown right or left out with a
// reason.
func TestHostile(t *testing.T) {
	good := toolcrib.Spec{Name: "good", Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}
	for _, c := range hostile() {
		for _, v := range variants() {
			bad := toolcrib.Spec{Name: "bad", Input: json.RawMessage(c.schema)}
			set, err := Options{Strict: v.strict}.Of(v.format, []toolcrib.Entry{{Spec: good}, {Spec: bad}})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := set.Real("good"); !ok {
				t.Errorf("%s, %s: the good one is missing", c.name, v)
			}
			if _, ok := set.Real("bad"); ok == c.left && v.format != MCP {
				t.Errorf("%s, %s: shown %v, left %v", c.name, v, ok, set.Left)
			}
			if len(set.Tools)+len(set.Left) != 2 {
				t.Errorf("%s, %s: %d tools, left %v", c.name, v, len(set.Tools), set.Left)
			}
			for _, l := range set.Left {
				if l.Why == "" || len(l.Why) > 300 {
					t.Errorf("%s, %s: why is %.400q", c.name, v, l.Why)
				}
			}
			for _, def := range set.Tools {
				if err := checkTool(v.format, v.strict, def); err != nil {
					t.Errorf("%s, %s: %v in %.2000s", c.name, v, err, def)
				}
			}
		}
	}
}
