package spec

import "strings"

// flatBody is the properties of a body that is an object with declared properties and
// nothing else to say.
func (d *Document) flatBody(b *builder, body *Body) ([]argument, bool) {
	parts, ok := d.plainObject(body.schema, 0)
	if !ok {
		return nil, false
	}
	var out []argument
	seen := map[string]int{}
	for _, p := range parts {
		if b.otherSide(p.at) {
			continue
		}
		if i, again := seen[p.name]; again { // two parts of an allOf
			out[i].required = out[i].required || p.required
			out[i].schema = b.schema(p.at, 1)
			continue
		}
		seen[p.name] = len(out)
		name := strings.Clone(p.name)
		out = append(out, argument{"body", name, fileHint(b.schema(p.at, 1), body.Fields[name]), p.required && body.Required})
	}
	return out, len(out) > 0
}

// plainObject lists the properties of an object that has declared properties only, or is an
// allOf of such.
func (d *Document) plainObject(at located, depth int) ([]property, bool) {
	if o, ok := at.value.(*Object); ok && d.refSiblings && o.Len() > 1 {
		if _, is := refOf(o); is {
			return nil, false // both count, the reference and what stands beside it
		}
	}
	at, err := d.follow(at)
	o, ok := at.value.(*Object)
	if d.work++; err != nil || !ok || depth > 10 || d.work > maxWork || o.object("properties").Len() > maxParams || len(o.list("allOf")) > maxList || len(o.list("required")) > maxParams {
		return nil, false
	}
	for _, m := range o.Members {
		switch m.Key {
		case "oneOf", "anyOf", "not", "if", "patternProperties", "items", "enum", "const", "$ref", "minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas":
			return nil, false
		case "additionalProperties":
			if v, isBool := m.Value.(bool); !isBool || v {
				return nil, false
			}
		case "type":
			if m.Value != "object" {
				return nil, false
			}
		case "nullable":
			if m.Value == true {
				return nil, false
			}
		}
	}
	required := map[string]bool{}
	for _, v := range o.list("required") {
		required[textOf(v)] = true
	}
	var out []property
	for _, m := range o.object("properties").members() {
		out = append(out, property{m.Key, located{at.file, m.Value}, required[m.Key]})
	}
	for _, part := range o.list("allOf") {
		inner, ok := d.plainObject(located{at.file, part}, depth+1)
		if !ok {
			return nil, false
		}
		if out = append(out, inner...); len(out) > maxParams {
			return nil, false
		}
	}
	for i := range out {
		out[i].required = out[i].required || required[out[i].name]
	}
	return out, len(out) <= maxParams
}
