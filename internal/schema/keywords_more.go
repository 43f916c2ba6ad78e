package schema

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

func (b *builder) numeric(r *rule, key string, v uint32) error {
	exclusive := key == "exclusiveMinimum" || key == "exclusiveMaximum"
	if exclusive && b.draft == draft4 {
		return b.expect(v, Bool) // it changes what minimum and maximum mean, see joinKeywords
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
			return b.fail(v, "must be greater than 0, got %s", quoteValue(b.d, v))
		}
		if b.checkOnly {
			return nil
		}
		if x.dec.n > maxDivisor {
			return b.fail(v, "must not have more than %d digits", maxDivisor)
		}
		n.multiple, n.multipleAt = newDivisor(x), v
	}
	return nil
}

// otherKeyword reads the keywords that decide nothing about a value, those that name a schema or refer to one, and those
// that judge what the others leave. A name that no draft knows is an annotation.
func (b *builder) otherKeyword(r *rule, key string, v uint32) (err error) {
	for _, a := range [...]struct {
		keywords []string
		kind     Kind
		since    int
	}{
		{[]string{"title", "description", "format", "$schema"}, String, draft4},
		{[]string{"$comment", "contentMediaType", "contentEncoding"}, String, draft7},
		{[]string{"readOnly", "writeOnly"}, Bool, draft7}, {[]string{"examples"}, Array, draft7},
		{[]string{"deprecated"}, Bool, draft2019}, {[]string{"$vocabulary"}, Object, draft2019},
	} {
		if b.draft >= a.since && slices.Contains(a.keywords, key) {
			return b.expect(v, a.kind)
		}
	}
	switch key {
	case "$id", "id":
		if key == idKeyword(b.draft) {
			return b.expect(v, String)
		}
	case "unevaluatedProperties":
		if b.draft >= draft2019 {
			r.object().rest, err = b.build(v)
		}
	case "unevaluatedItems":
		if b.draft >= draft2019 {
			r.array().rest, err = b.build(v)
		}
	case "contentSchema":
		if b.draft >= draft2019 {
			_, err = b.build(v)
		}
	case "$anchor", "$dynamicAnchor", "$recursiveAnchor":
		return b.anchor(r, key, v)
	case "$dynamicRef", "$recursiveRef":
		return b.dynamicReference(r, key, v)
	default:
		return b.applicator(r, key, v)
	}
	return err
}

// markRequired notes the required names on the properties; names that are not declared get an entry without a rule.
func (b *builder) markRequired(o *objRule, i uint32) error {
	v, ok := b.d.member(i, []byte("required"))
	if !ok {
		return nil
	}
	declared := len(o.props)
	if b.d.nodes[v].kind != Array {
		return nil // it has been told that this is no list
	}
	for _, e := range (Node{b.d, v}).Elems() {
		if b.d.nodes[e.i].kind != String {
			continue
		}
		name := b.d.str(e.i)
		at, found := slices.BinarySearchFunc(o.props[:declared], name, func(p prop, name []byte) int { return bytes.Compare(p.name, name) })
		if found {
			o.props[at].required = true
		} else {
			o.props = append(o.props, prop{name: name, required: true})
		}
	}
	if len(o.props) > declared {
		slices.SortFunc(o.props, func(p, q prop) int { return bytes.Compare(p.name, q.name) })
	}
	return nil
}

func (b *builder) stringList(v uint32, some bool) error {
	if err := b.expect(v, Array); err != nil {
		return err
	}
	if some && b.d.nodes[v].b == 0 {
		return b.fail(v, "must have at least one name")
	}
	for _, e := range (Node{b.d, v}).Elems() {
		if err := b.expect(e.i, String); err != nil {
			return err
		}
	}
	if j, k := duplicates(b.d, v); j >= 0 {
		return b.fail(v, "numbers %d and %d of the list are the same name", j+1, k+1)
	}
	return nil
}

func (b *builder) count(v uint32) (int, error) {
	if b.d.nodes[v].kind == Number {
		if f := b.d.number(v); f.decimal().isInteger() && f.dec.sign() >= 0 {
			lit, ok := f.dec.appendInt(nil)
			if !ok {
				return math.MaxInt, nil
			}
			n, err := strconv.Atoi(string(lit))
			if err != nil {
				return math.MaxInt, nil //nolint:nilerr // 32 bits: as good as no bound
			}
			return n, nil
		}
	}
	return 0, b.fail(v, "must be a whole number, zero or more, got %s", quoteValue(b.d, v))
}
