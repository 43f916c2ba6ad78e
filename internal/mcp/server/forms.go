package server

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// deepestForm is how deep schemas are rewritten. Nobody reads deeper ones anyway, and they are
// shown as they are.
const deepestForm = 64

// readable gives a schema in forms that every client reads. It means the same: a list of
// types becomes anyOf, as pydantic and zod write it, and a property about which nothing is
// said is {} and not true. Clients that know one type per value read these, and some of
// them load no tool at all if one schema has the other form. Only what is shown is
// rewritten: calls, pins and hashes go by what the tool's supplier wrote.
func readable(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"type"`)) && !bytes.Contains(schema, []byte("true")) || !json.Valid(schema) {
		return schema
	}
	f := forms{fixed: bytes.Contains(schema, []byte(`$ref`)) || bytes.Contains(schema, []byte(`$dynamicRef`))}
	if out := f.schema(schema, 0); f.changed {
		return out
	}
	return schema
}

// forms rewrites one document.
type forms struct {
	fixed   bool // there are references, which may lead to any place: nothing is moved
	changed bool
}

// ofType are the keywords that are about values of one type and say nothing about null,
// so that they mean the same beside that type.
func ofType(key string) bool {
	switch key {
	case "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties",
		"items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems",
		"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return true
	}
	return false
}

func (f *forms) schema(text []byte, depth int) []byte {
	text = bytes.TrimSpace(text)
	if depth > deepestForm || len(text) == 0 || text[0] != '{' {
		return text
	}
	var members []jsontext.Member
	if jsontext.Members(text, func(m jsontext.Member) bool { members = append(members, m); return true }) != nil {
		return text
	}
	var types []string
	seen := map[string]bool{}
	for i := range members {
		m := &members[i]
		if seen[m.Key] {
			return text // two readers may take it for two things: it stays as it is
		}
		seen[m.Key] = true
		if m.Key == "type" {
			types = listed(m.Value)
		} else {
			m.Value = f.member(m.Key, m.Value, depth)
		}
	}
	if types == nil || len(types) > 1 && seen["anyOf"] {
		var o object
		for _, m := range members {
			o.raw(m.Key, m.Value)
		}
		return o.end()
	}
	f.changed = true
	return f.either(members, types, seen)
}

// either writes a schema whose type is one of a list.
func (f *forms) either(members []jsontext.Member, types []string, seen map[string]bool) []byte {
	var o, value object
	move := len(types) == 2 && slices.Contains(types, "null") && !f.fixed && !seen["unevaluatedProperties"] && !seen["unevaluatedItems"]
	if len(types) == 1 {
		o.text("type", types[0])
	}
	for _, m := range members {
		switch {
		case m.Key == "type":
		case move && ofType(m.Key):
			value.raw(m.Key, m.Value)
		default:
			o.raw(m.Key, m.Value)
		}
	}
	if len(types) == 1 {
		return o.end()
	}
	branches := make([][]byte, len(types))
	for i, name := range types {
		var one object
		one.text("type", name)
		if name != "null" && value.buf != nil {
			one.buf = append(append(one.buf, ','), value.buf[1:]...)
		}
		branches[i] = one.end()
	}
	o.raw("anyOf", slices.Concat([]byte("["), bytes.Join(branches, []byte(",")), []byte("]")))
	return o.end()
}

// listed reads a list of types, nil if it is none.
func listed(value []byte) []string {
	var types []string
	if !bytes.HasPrefix(bytes.TrimSpace(value), []byte("[")) || json.Unmarshal(value, &types) != nil || len(types) == 0 {
		return nil
	}
	return types
}

// member rewrites what is a schema in a member of a schema; what is a value stays as it is.
func (f *forms) member(key string, value []byte, depth int) []byte {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		if value = bytes.TrimSpace(value); len(value) == 0 || value[0] != '{' {
			return value
		}
		var o object
		if jsontext.Members(value, func(m jsontext.Member) bool { o.raw(m.Key, f.within(m.Value, depth)); return true }) != nil {
			return value
		}
		return o.end()
	case "items", "anyOf", "allOf", "oneOf", "prefixItems":
		var list []json.RawMessage
		if value = bytes.TrimSpace(value); len(value) == 0 || value[0] != '[' {
			return f.within(value, depth)
		}
		if json.Unmarshal(value, &list) != nil {
			return value
		}
		out := make([][]byte, len(list))
		for i, one := range list {
			out[i] = f.within(one, depth)
		}
		return slices.Concat([]byte("["), bytes.Join(out, []byte(",")), []byte("]"))
	case "additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems", "contains", "propertyNames", "not", "if", "then", "else":
		return f.schema(value, depth+1) // true is what everybody writes here
	}
	return value
}

// within is a schema where clients expect an object.
func (f *forms) within(text []byte, depth int) []byte {
	if string(bytes.TrimSpace(text)) == "true" {
		f.changed = true
		return []byte("{}")
	}
	return f.schema(text, depth+1)
}
