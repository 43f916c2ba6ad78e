package schema

import (
	"encoding/json"
	"math/rand"
)

// grammar draws schemas and values from a small world of names, numbers and strings, so that they have to do with each
// other.
type grammar struct{ rng *rand.Rand }

func (g grammar) pick(from ...string) string { return from[g.rng.Intn(len(from))] }

func (g grammar) name() string { return g.pick("a", "b", "c", "ab", "x-1", "") }

func (g grammar) number() json.Number {
	return json.Number(g.pick("0", "1", "2", "3", "-1", "1.0", "2.5", "0.5", "1e1", "10", "100", "1E2", "-0", "9007199254740993", "9007199254740992", "0.1", "3.0", "7"))
}

func (g grammar) text() string {
	return g.pick("", "a", "ab", "abc", "b", "1", "3", "true", "no", " 3 ", "é", "aé", "2.5", "null", "x-1")
}

func (g grammar) value(depth int) any {
	n := 6
	if depth == 0 {
		n = 4
	}
	switch g.rng.Intn(n) {
	case 0:
		return g.number()
	case 1:
		return g.text()
	case 2:
		return g.rng.Intn(2) == 0
	case 3:
		if g.rng.Intn(2) == 0 {
			return g.number()
		}
		return nil
	case 4:
		list := []any{}
		for range g.rng.Intn(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range g.rng.Intn(4) {
		m[g.name()] = g.value(depth - 1)
	}
	return m
}

// root draws a whole schema, sometimes with definitions, a draft or an identifier.
func (g grammar) root() any {
	s, ok := g.schema(3).(map[string]any)
	if !ok {
		return g.rng.Intn(2) == 0
	}
	if g.rng.Intn(3) == 0 {
		s["$defs"] = map[string]any{"a": g.schema(2), "b": g.schema(2)}
		if r, ok := s["$defs"].(map[string]any)["a"].(map[string]any); ok && g.rng.Intn(3) == 0 {
			r["$id"] = "x"
		}
	}
	if g.rng.Intn(3) == 0 {
		s["$schema"] = g.pick("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema", "http://json-schema.org/draft-07/schema#",
			"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/schema#")
	}
	if g.rng.Intn(8) == 0 {
		s["$id"] = g.pick("https://a.invalid/x", "urn:x", "x/y", "#", "http://a b", "")
	}
	return s
}

func (g grammar) schema(depth int) any {
	if depth == 0 || g.rng.Intn(8) == 0 {
		if g.rng.Intn(2) == 0 {
			return g.rng.Intn(5) > 0
		}
		return map[string]any{"type": g.typeName()}
	}
	s := map[string]any{}
	for range 1 + g.rng.Intn(3) {
		g.keyword(s, depth)
	}
	return s
}

func (g grammar) typeName() string {
	return g.pick("string", "number", "integer", "boolean", "object", "array", "null")
}

func (g grammar) schemas(depth int) any {
	list := []any{}
	for range 1 + g.rng.Intn(3) {
		list = append(list, g.schema(depth-1))
	}
	return list
}

func (g grammar) count() any {
	if g.rng.Intn(30) == 0 {
		return json.Number(g.pick("-1", "1.5", "2.0", "1e1", "-0"))
	}
	return g.rng.Intn(4)
}

func (g grammar) keyword(s map[string]any, depth int) {
	switch g.rng.Intn(36) {
	case 0, 1:
		s["type"] = g.typeName()
	case 2:
		s["type"] = []any{g.typeName(), g.typeName()}
	case 3, 4, 5:
		m := map[string]any{}
		for range 1 + g.rng.Intn(3) {
			p := g.schema(depth - 1)
			if o, ok := p.(map[string]any); ok && g.rng.Intn(3) == 0 {
				o["default"] = g.value(1)
			}
			m[g.name()] = p
		}
		s["properties"] = m
	case 6:
		s["required"] = []any{g.name(), g.name() + g.pick("", "z")}
	case 7, 8:
		if g.rng.Intn(2) == 0 {
			s["additionalProperties"] = g.rng.Intn(3) == 0
		} else {
			s["additionalProperties"] = g.schema(depth - 1)
		}
	case 9:
		s["patternProperties"] = map[string]any{g.pick("^a", "^x-", "b$", "^[a-c]+$", "("): g.schema(depth - 1)}
	case 10:
		list := []any{}
		for range 1 + g.rng.Intn(4) {
			list = append(list, g.value(1))
		}
		s["enum"] = list
	case 11:
		s["const"] = g.value(1)
	case 12:
		s[g.pick("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")] = g.number()
	case 13:
		s["multipleOf"] = g.number()
	case 14:
		s[g.pick("minLength", "maxLength")] = g.count()
	case 15:
		s["pattern"] = g.pick("^a+$", "b", "^[a-z]*$", "^a?b?$", "[", "é$")
	case 16:
		s["items"] = g.schema(depth - 1)
	case 17:
		s[g.pick("minItems", "maxItems", "minProperties", "maxProperties")] = g.count()
	case 18:
		s["uniqueItems"] = g.rng.Intn(4) > 0
	case 19, 20:
		s[g.pick("anyOf", "oneOf", "allOf")] = g.schemas(depth)
	case 21:
		s["not"] = g.schema(depth - 1)
	case 22:
		s["$ref"] = g.pick("#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/nowhere", "#/items", "#n", "other", "x", "x#n", "x#/properties/a", "y")
	case 23:
		s["prefixItems"] = g.schemas(depth)
	case 24:
		s[g.pick("title", "description", "$comment", "x-order", "examples", "deprecated", "readOnly", "contentEncoding")] = g.value(1)
	case 25:
		s[g.pick("unevaluatedProperties", "unevaluatedItems", "contentSchema")] = g.schema(depth - 1)
	case 32:
		s["$id"] = g.pick("x", "y", "https://a.invalid/z", "x/y", "#n")
	case 33:
		s[g.pick("$anchor", "$dynamicAnchor", "$dynamicAnchor")] = g.pick("n", "m")
	case 34:
		if g.rng.Intn(2) == 0 {
			s["$recursiveRef"] = "#"
		} else {
			s["$recursiveAnchor"] = g.rng.Intn(3) > 0
		}
	case 35:
		s["$dynamicRef"] = g.pick("#n", "#m", "x#n", "y#n", "#/$defs/a", "x")
	case 26, 27:
		s["if"] = g.schema(depth - 1)
		for _, key := range [...]string{"then", "else"} {
			if g.rng.Intn(2) == 0 {
				s[key] = g.schema(depth - 1)
			}
		}
	case 28:
		s[g.pick("then", "else", "propertyNames", "propertyNames")] = g.schema(depth - 1)
	case 29:
		s["contains"] = g.schema(depth - 1)
		if g.rng.Intn(2) == 0 {
			s[g.pick("minContains", "maxContains")] = g.count()
		}
	case 30:
		switch key := g.pick("dependentRequired", "dependentSchemas", "dependencies", "dependencies"); {
		case key == "dependentRequired", key == "dependencies" && g.rng.Intn(2) == 0:
			s[key] = map[string]any{g.name(): []any{g.name(), g.name() + "z"}}
		default:
			s[key] = map[string]any{g.name(): g.schema(depth - 1)}
		}
	case 31:
		switch g.rng.Intn(3) {
		case 0:
			s["items"] = g.schemas(depth)
		case 1:
			s["minimum"], s["maximum"] = g.number(), g.number()
			s[g.pick("exclusiveMinimum", "exclusiveMaximum")] = g.rng.Intn(4) > 0
		}
		if g.rng.Intn(2) == 0 {
			s["additionalItems"] = g.schema(depth - 1)
		} else {
			s["additionalItems"] = g.rng.Intn(2) == 0
		}
	}
}
