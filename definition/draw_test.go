package definition

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// artist draws schemas, and values that are meant to fit them. Whether they do is asked of the crib's own validator.
type artist struct {
	t    *rapid.T
	root *tree
	n    int
}

func (a *artist) int(low, high int) int {
	a.n++
	return rapid.IntRange(low, high).Draw(a.t, fmt.Sprint("n", a.n))
}

func (a *artist) pick(from ...string) string { return from[a.int(0, len(from)-1)] }

func (a *artist) chance(percent int) bool { return a.int(1, 100) <= percent }

func (a *artist) name() string {
	return a.pick("a", "b", "c", "kind", "$x", "a b", "1", "additional_properties", "ä")
}

func must(text string) *tree {
	t, err := parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return t
}

// arguments draws the schema of a tool.
func (a *artist) arguments() *tree {
	s := a.objectSchema(3)
	defs := object()
	for _, name := range []string{"x", "y"} {
		defs.set(name, a.schema(2))
	}
	s.set("$defs", defs)
	a.root = s
	return s
}

func (a *artist) schema(depth int) *tree {
	if depth == 0 {
		return a.scalar()
	}
	switch a.int(0, 11) {
	case 0, 1, 2:
		return a.scalar()
	case 3, 4, 5:
		return a.objectSchema(depth)
	case 6, 7:
		return a.arraySchema(depth)
	case 8:
		key := a.pick("anyOf", "oneOf", "allOf")
		s, parts := object(), list()
		for range a.int(1, 3) {
			parts.elems = append(parts.elems, a.schema(depth-1))
		}
		s.set(key, parts)
		return s
	case 9:
		return must(`{"$ref":"#/$defs/` + a.pick("x", "y") + `"}`)
	case 10:
		return must(a.pick(`{}`, `true`, `{"type":"object"}`, `{"type":"array"}`, `{"type":["object","null"]}`, `{"description":"whatever"}`, `{"type":["string","object"]}`))
	}
	// the same in two words: a union that differs in one property
	s := must(`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"v":{"type":"string"}},"required":["kind"],"additionalProperties":false}]}`)
	s.get("oneOf").elems = append(s.get("oneOf").elems, must(`{"type":"object","properties":{"kind":{"const":"b"},"v":{}},"required":["kind","v"],"additionalProperties":false}`))
	return s
}

func (a *artist) scalar() *tree {
	return must(a.pick(
		`{"type":"string"}`, `{"type":"string","minLength":1,"maxLength":3}`, `{"type":"string","enum":["p","q",""]}`, `{"type":"integer"}`,
		`{"type":"integer","minimum":1,"maximum":4}`, `{"type":"number","exclusiveMinimum":0}`, `{"type":"boolean"}`, `{"type":"null"}`, `{"const":"k"}`,
		`{"const":7}`, `{"enum":[1,"p",null,2.5]}`, `{"type":["string","null"]}`, `{"type":["integer","null"],"default":3}`, `{"type":["string","null"],"default":null}`,
		`{"type":["integer","boolean","string"]}`, `{"type":"string","pattern":"^p"}`, `{"type":"integer","multipleOf":2}`, `{"enum":[{"a":1},[1],"p"]}`,
		`{"not":{"type":"string"}}`, `{"type":"string","format":"date-time"}`))
}

func (a *artist) arraySchema(depth int) *tree {
	s := must(`{"type":"array"}`)
	if a.chance(70) {
		s.set("items", a.schema(depth-1))
	}
	if a.chance(20) {
		s.set("prefixItems", list(a.schema(depth-1), a.schema(depth-1)))
	}
	if a.chance(20) {
		s.set("maxItems", numeral(a.pick("1", "2", "3")))
	}
	if a.chance(10) {
		s.set("uniqueItems", truth(true))
	}
	return s
}

func (a *artist) objectSchema(depth int) *tree {
	s := must(`{"type":"object"}`)
	props, required := object(), list()
	for range a.int(1, 4) {
		name := a.name()
		if props.get(name) == nil {
			props.set(name, a.schema(depth-1))
			if a.chance(50) {
				required.elems = append(required.elems, text(name))
			}
		}
	}
	s.set("properties", props)
	s.set("required", required)
	switch a.int(0, 4) {
	case 0, 1:
		s.set("additionalProperties", truth(false))
	case 2:
		s.set("additionalProperties", a.schema(max(depth-1, 0)))
	}
	if a.chance(10) {
		s.set("anyOf", list(must(`{"required":["a"]}`), must(`{"properties":{"q":{"type":"string"}},"required":["q"]}`)))
	}
	if a.chance(5) {
		s.set("patternProperties", must(`{"^z":{"type":"integer"}}`))
	}
	return s
}

// shut gives a schema that refuses what the package does not show: properties that an object with declared ones neither
// declares nor mentions. In a place, what alternatives and conjunctions declare counts as declared.
func shut(s *tree, place bool) *tree {
	if s.kind != kindObject {
		return s
	}
	out := object()
	for _, m := range s.members {
		v := m.value
		switch m.key {
		case "properties", "$defs", "patternProperties":
			v = object()
			for _, p := range m.value.members {
				v.set(p.key, shut(p.value, m.key != "$defs"))
			}
		case "items", "additionalProperties":
			v = shut(v, true)
		case "prefixItems", "allOf", "anyOf", "oneOf":
			v = list()
			for _, e := range m.value.elems {
				v.elems = append(v.elems, shut(e, m.key == "prefixItems"))
			}
		}
		out.set(m.key, v)
	}
	for _, key := range []string{"properties", "allOf", "anyOf", "oneOf", "$ref"} {
		if place && s.get(key) != nil {
			out.set("unevaluatedProperties", truth(false))
			break
		}
	}
	return out
}

// value draws a value that may fit a schema. depth bounds recursion.
func (a *artist) value(s *tree, depth int) *tree {
	if s.kind != kindObject || depth <= 0 {
		return a.whatever()
	}
	if ref := s.get("$ref"); ref != nil {
		return a.value(a.root.get("$defs").get(strings.TrimPrefix(ref.text, "#/$defs/")), depth-1)
	}
	if v := s.get("const"); v != nil {
		return v
	}
	if v := s.get("enum"); v != nil {
		return v.elems[a.int(0, len(v.elems)-1)]
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if v := s.get(key); v != nil && s.get("properties") == nil {
			return a.value(v.elems[a.int(0, len(v.elems)-1)], depth-1)
		}
	}
	types := s.get("type")
	if types.is(kindArray) {
		types = types.elems[a.int(0, len(types.elems)-1)]
	}
	if types == nil {
		return a.whatever()
	}
	switch types.text {
	case "object":
		return a.objectValue(s, depth)
	case "array":
		v := list()
		for i := range a.int(0, 3) {
			item := s.get("items")
			if p := s.get("prefixItems"); p != nil && i < len(p.elems) {
				item = p.elems[i]
			}
			if item == nil {
				item = truth(true)
			}
			v.elems = append(v.elems, a.value(item, depth-1))
		}
		return v
	case "string":
		return text(a.pick("p", "pq", "", "long word", "123", "null", `{"a":1}`, "\"quoted\"", "k"))
	case "integer":
		return numeral(a.pick("1", "2", "4", "-3", "7", "1.0"))
	case "number":
		return numeral(a.pick("1", "2.5", "1e3", "-0.5"))
	case "boolean":
		return truth(a.chance(50))
	}
	return must("null")
}

func (a *artist) objectValue(s *tree, depth int) *tree {
	v := object()
	props := s.get("properties")
	if props != nil {
		for _, m := range props.members {
			needed := false
			if required := s.get("required"); required != nil {
				needed = slices.ContainsFunc(required.elems, func(r *tree) bool { return r.text == m.key })
			}
			if needed || a.chance(60) {
				v.set(m.key, a.value(m.value, depth-1))
			}
		}
	}
	if s.get("anyOf") != nil && v.get("q") == nil && a.chance(50) {
		v.set("q", text("p"))
	}
	// Names of other properties: only where the schema mentions them, or declares none at all.
	if extra := s.get("additionalProperties"); (extra != nil && (extra.kind != kindBool || extra.truth())) || (extra == nil && props == nil) {
		for _, name := range []string{"m", "n n"} {
			if a.chance(40) && v.get(name) == nil {
				if extra == nil {
					extra = truth(true)
				}
				v.set(name, a.value(extra, depth-1))
			}
		}
	}
	return v
}

func (a *artist) whatever() *tree {
	return must(a.pick(`1`, `"p"`, `true`, `null`, `[]`, `{}`, `{"a":[1,null]}`, `["x",{"b":"y"}]`, `2.5`, `"{}"`))
}
