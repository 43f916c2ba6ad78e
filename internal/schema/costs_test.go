package schema

import (
	"fmt"
	"strings"
)

// doubled is a chain of definitions of which each applies the next twice.
func doubled(keyword string, n int) string {
	var b strings.Builder
	b.WriteString(`"$defs":{"d0":{"type":["object","number"],"minimum":1}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `,"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i-1, i-1)
	}
	b.WriteString("}")
	return b.String()
}

// expression is a plausible contract: a tree of operations, told apart by a constant.
func expression(more string) string {
	op := func(name string) string {
		return `{"type":"object","properties":{"op":{"const":"` + name + `"},"left":{"$ref":"#/$defs/e"},"right":{"$ref":"#/$defs/e"}},"required":["op"]}`
	}
	return `{"type":"object","properties":{"expr":{"$ref":"#/$defs/e"},"unit":{"type":"string"}},` + more +
		`,"$defs":{"e":{"anyOf":[{"type":"number"},` + op("add") + `,` + op("mul") + `,` + op("pow") + `]}}}`
}

func operations(n int, leaf string) string {
	return `{"expr":` + strings.Repeat(`{"op":"pow","right":1,"left":`, n) + leaf + strings.Repeat(`}`, n) + `}`
}

func many(n int, sep string, item func(int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = item(i)
	}
	return strings.Join(list, sep)
}

// costCase is a schema with a value that asks for much, and is honest all the same.
type costCase struct{ name, schema, value string }

func costCases() []costCase {
	nested := func(n int, open, leaf, end string) string {
		return strings.Repeat(open, n) + leaf + strings.Repeat(end, n)
	}
	return []costCase{
		{"expression, valid", expression(`"unevaluatedProperties":false`), operations(7, "1")},
		{"expression, invalid", expression(`"unevaluatedProperties":false`), operations(7, `"x"`)},
		{"allOf doubled", `{"$ref":"#/$defs/d12",` + doubled("allOf", 12) + `}`, `0`},
		{"anyOf doubled", `{"$ref":"#/$defs/d12",` + doubled("anyOf", 12) + `}`, `0`},
		{"oneOf doubled", `{"$ref":"#/$defs/d12",` + doubled("oneOf", 12) + `}`, `{"a":1}`},
		{"not nested", `{"not":{"not":{"not":{"$ref":"#/$defs/d8"}}},` + doubled("anyOf", 8) + `}`, `{"a":1,"b":2}`},
		{"two ways down", `{"properties":{"c":{"items":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}},"v":{"type":"integer"}}}`, nested(9, `{"c":[`, `{"v":"x"}`, `]}`)},
		{"wide and deep", `{"properties":{"c":{"items":{"$ref":"#"}},"v":{"type":"integer"}}}`, nested(40, `{"v":1.5,"c":[`, many(2000, ",", func(i int) string { return fmt.Sprintf(`{"v":%d}`, i) }), `]}`)},
		{"deep, all wrong", `{"items":{"anyOf":[{"$ref":"#"},{"type":"string"}]},"maxItems":0}`, nested(120, `[`, ``, `]`)},
		{"wide object", `{"properties":{"a":{}},"unevaluatedProperties":false}`, `{` + many(5000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"wide object, in place", `{"allOf":[{"anyOf":[{"minProperties":1},{"properties":{"a":{}}}]},{"oneOf":[{"required":["k1"]},{"required":["x"]}]}],"unevaluatedProperties":{"type":"integer"}}`, `{` + many(5000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"unevaluated items", `{"anyOf":[{"prefixItems":[{}]},{"contains":{"type":"string"}}],"unevaluatedItems":{"type":"number","multipleOf":0.5}}`, `[` + many(5000, ",", func(i int) string { return fmt.Sprintf(`%d.5`, i) }) + `]`},
		{"unevaluated items alone", `{"prefixItems":[{"type":"string"}],"unevaluatedItems":{"type":"integer","minimum":0}}`, `[` + many(5000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"dependencies", `{"$ref":"#/$defs/d9","$defs":{"d0":{"maxProperties":1},` + many(9, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"dependentSchemas":{"a":{"$ref":"#/$defs/d%d"}},"dependencies":{"b":{"$ref":"#/$defs/d%d"}}}`, i+1, i, i)
		}) + `}}`, `{"a":1,"b":2}`},
		{"names", `{"propertyNames":{"allOf":[{"minLength":1},{"anyOf":[{"maxLength":1},{"pattern":"k"}]}]}}`, `{` + many(2000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"a tuple", `{"$schema":"https://json-schema.org/draft/2019-09/schema","items":[{"type":"integer"}],"additionalItems":{"allOf":[{"minimum":0},{"type":"integer"}]}}`, `[` + many(2000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"contains", `{"contains":{"type":"integer","maximum":5},"minContains":10}`, `[` + many(2000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"a condition", `{"items":{"if":{"allOf":[{"minimum":0},{"minimum":-1},{"minimum":-2}]},"then":{"type":"integer"}}}`, `[` + many(2000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"unique numbers", `{"uniqueItems":true}`, `[` + many(5000, ",", func(i int) string { return fmt.Sprintf(`%d.25e3`, i) }) + `]`},
		{"unique objects", `{"items":{"uniqueItems":true}}`, `[` + many(60, ",", func(i int) string {
			return `[` + many(20, ",", func(j int) string { return fmt.Sprintf(`{"a":[1,2,%d]}`, j) }) + `]`
		}) + `]`},
		{"enum of numbers", `{"items":{"enum":[` + many(150, ",", func(i int) string { return fmt.Sprint(i) }) + `]}}`, `[` + many(150, ",", func(i int) string { return fmt.Sprintf(`%d.0`, i+140) }) + `]`},
		{"enum of objects", `{"items":{"enum":[` + many(50, ",", func(i int) string { return fmt.Sprintf(`{"a":[1,2,3,{"b":%d}]}`, i) }) + `]}}`, `[` + many(300, ",", func(i int) string { return fmt.Sprintf(`{"a":[1,2,3,{"b":%d}]}`, i) }) + `]`},
		{"long string", `{"allOf":[` + many(50, ",", func(i int) string { return fmt.Sprintf(`{"minLength":%d}`, i) }) + `]}`, `"` + strings.Repeat("k", 100_000) + `"`},
		{"pattern", `{"pattern":"(a|aa|aaa)+(b|c)*(.*x.*){1,20}$"}`, `"` + strings.Repeat("a", 20_000) + `"`},
		{"pattern of names", `{"patternProperties":{"(a|aa)+$":{},"k.*1.*z":{},"^k":{"type":"integer"}},"propertyNames":{"pattern":"(.*9.*){1,3}"}}`, `{` + many(2000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"long numbers", `{"items":{"minimum":0.5,"multipleOf":0.01,"enum":[1e900,2e-900]}}`, `[` + many(300, ",", func(i int) string { return fmt.Sprintf(`%d.5e%d`, i, i%900) }) + `]`},
		{"conditions", `{"if":{"required":["a"]},"then":{"properties":{"a":{"$ref":"#"}}},"else":{"properties":{"b":{"$ref":"#"}}},"dependentSchemas":{"a":{"minProperties":1},"c":{"properties":{"a":{"$ref":"#"}}}}}`, nested(9, `{"c":1,"a":`, `{"b":{}}`, `}`)},
		{"a tree by $dynamicRef", `{"$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}}}`, nested(60, `{"c":[{},`, `{}`, `]}`)},
		{"two trees by $dynamicRef", `{"$id":"https://a.invalid/strict","$dynamicAnchor":"n","$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}}}}}`, nested(6, `{"c":[{},`, `{}`, `]}`)},
		{"a tree by $recursiveRef", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"c":{"items":{"$recursiveRef":"#"}}}}`, nested(60, `{"c":[{},`, `{}`, `]}`)},
		{"two trees by $recursiveRef", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://a.invalid/strict","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$recursiveAnchor":true,"properties":{"c":{"items":{"$recursiveRef":"#"}}}}}}`, nested(3, `{"c":[{},`, `{}`, `]}`)},
		{"a schema as the value", `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2020-12/schema"}},"$anchor":"x"}`, `{"s":` + nested(12, `{"properties":{"a":{"type":"string"},"b":{"anyOf":[`, nineSchema, `]}}}`) + `}`},
		{"an old schema as the value", `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2019-09/schema"}},"$anchor":"x"}`, `{"s":` + nested(12, `{"properties":{"a":{"type":"string"},"b":{"anyOf":[`, `{}`, `]}}}`) + `}`},
		{"circles", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/c"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/c"}]},"c":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}}}`, `[1]`},
		{"a long way of references", `{"$ref":"#/$defs/d0","$defs":{"d1000":{"type":"string"},` + many(1000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1) }) + `}}`, `1`},
	}
}
