package schema

import "encoding/json"

// extreme finds a number that the other validator would write out digit by digit, or would choke on.
func (d *Doc) extreme() (uint32, bool) {
	const reach = 1000
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.kind != Number || (n.flags&flagInt != 0 && n.end-n.start < reach) {
			continue
		}
		if x := parseDecimal(d.raw(uint32(i))); n.end-n.start > 2*reach || x.top > reach || x.top < -reach {
			return uint32(i), true
		}
	}
	return 0, false
}

// value decodes a node into what the other validator works on.
func value(d *Doc, i uint32) any {
	switch n := &d.nodes[i]; n.kind {
	case Bool:
		return n.flags&flagTrue != 0
	case Number:
		return json.Number(d.raw(i))
	case String:
		return string(d.str(i))
	case Array:
		list := make([]any, 0, n.b)
		for _, e := range (Node{d, i}).Elems() {
			list = append(list, value(d, e.i))
		}
		return list
	case Object:
		m := make(map[string]any, n.b)
		for _, k := range d.keys(i) {
			m[string(d.str(k))] = value(d, k+1)
		}
		return m
	}
	return nil
}

// oldDraft takes out of every subschema what the other validator would enforce up to draft-07 and should not: format, which
// is an annotation here in every draft, and const beside $ref, where these drafts ignore it. Values of const, enum and
// the like are left alone.
func oldDraft(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if _, ok := m["$ref"].(string); ok {
		delete(m, "const")
	}
	for key, v := range m {
		switch key {
		case "format":
			delete(m, key)
		case "not", "additionalProperties", "additionalItems", "propertyNames", "contains", "if", "then", "else":
			oldDraft(v)
		case "items", "allOf", "anyOf", "oneOf":
			oldDraft(v)
			if list, ok := v.([]any); ok {
				for _, c := range list {
					oldDraft(c)
				}
			}
		case "definitions", "$defs", "properties", "patternProperties", "dependencies":
			if sub, ok := v.(map[string]any); ok {
				for _, c := range sub {
					oldDraft(c)
				}
			}
		}
	}
	return m
}
