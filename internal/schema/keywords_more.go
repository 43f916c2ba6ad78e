package schema

import "strings"

func (b *builder) numeric(r *rule, key string, v uint32) error {
	exclusive := key == "exclusiveMinimum" || key == "exclusiveMaximum"
	if exclusive && b.draft == draft4 {
		b.slow(r) // a boolean there, which changes what minimum and maximum mean
		return b.expect(v, Bool)
	}
	if err := b.expect(v, Number); err != nil {
		return err
	}
	x := newBound(b.d.raw(v), b.d.nodes[v].flags)
	n := r.number()
	switch key {
	case "minimum":
		n.min, n.minAt = &x, v
	case "maximum":
		n.max, n.maxAt = &x, v
	case "exclusiveMinimum":
		n.above, n.aboveAt = &x, v
	case "exclusiveMaximum":
		n.below, n.belAt = &x, v
	default:
		if x.dec.sign() <= 0 {
			return b.fail(v, "must be greater than 0, got %s", show(b.d, v))
		}
		n.multiple, n.multipleAt = newDivisor(x), v
	}
	return nil
}

// otherKeyword reads the keywords that decide nothing about a value, and hands the schema over to the full validator at
// those that do but are not covered here. A name that no draft knows is an annotation.
func (b *builder) otherKeyword(r *rule, key string, v uint32) error {
	switch key {
	case "title", "description", "format":
		return b.expect(v, String)
	case "$comment", "contentMediaType", "contentEncoding":
		if b.draft >= draft7 {
			return b.expect(v, String)
		}
	case "readOnly", "writeOnly":
		if b.draft >= draft7 {
			return b.expect(v, Bool)
		}
	case "deprecated":
		if b.draft >= draft2019 {
			return b.expect(v, Bool)
		}
	case "examples":
		if b.draft >= draft7 {
			return b.expect(v, Array)
		}
	case "$schema":
		if err := b.expect(v, String); err != nil {
			return err
		}
		if draftOf(string(b.d.str(v))) == 0 {
			b.slow(r)
		}
	case "$id", "id":
		if key == b.idKeyword() {
			return b.identifier(r, v)
		}
	case "unevaluatedProperties":
		b.fast = false // it declares no property by itself, so the rule is not opaque
		r.object().sealed = b.d.nodes[v].kind == Bool && b.d.nodes[v].flags&flagTrue == 0
	case "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
		"additionalItems", "contains", "contentSchema", "dependencies", "dependentRequired", "dependentSchemas",
		"if", "then", "else", "maxContains", "minContains", "propertyNames", "unevaluatedItems":
		b.slow(r)
	}
	return nil
}

// identifier reads $id. On the outermost schema it changes nothing for references into this text; on any other it moves
// the ground under them. An address of unusual form is left to the full validator, which knows what a valid one is.
func (b *builder) identifier(r *rule, v uint32) error {
	if err := b.expect(v, String); err != nil {
		return err
	}
	b.ids = b.ids || r.at != 0
	rest := string(b.d.str(v))
	for _, scheme := range [...]string{"https://", "http://", "urn:"} {
		if after, ok := strings.CutPrefix(rest, scheme); ok {
			rest = after
			break
		}
	}
	if rest == "" || rest[0] == '/' || strings.HasPrefix(rest, "json-schema.org") {
		b.slow(r)
	}
	for _, c := range rest {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '/' || c == '.' || c == '-' || c == '_':
		default:
			b.slow(r)
		}
	}
	return nil
}
