package schema

// build makes the rule of the subschema at node i, and checks it as the metaschema of its draft would.
func (b *builder) build(i uint32) (*rule, error) {
	if n := &b.d.nodes[i]; n.kind == Object && !b.checkOnly {
		outer := b.place
		if err := b.enter(i); err != nil && !b.leave(err) {
			return nil, err
		}
		if b.place != outer {
			defer func() { b.place = outer }()
		}
	}
	r, made, err := b.ruleAt(i)
	if made || err != nil {
		return r, err
	}
	n := &b.d.nodes[i]
	switch {
	case n.kind == Bool && (b.draft >= draft6 || b.foreign):
		r.deny = n.flags&flagTrue == 0
		return r, nil
	case n.kind == Bool:
		return nil, b.fail(i, "in draft-04 a schema must be an object, got a boolean")
	case n.kind != Object:
		err := b.fail(i, "a schema must be an object, true or false, got %s", withArticle(n.kind.String()))
		if b.leave(err) {
			return r, nil
		}
		return nil, err
	}
	for _, k := range b.d.keys(i) {
		if err := b.keyword(r, b.d.str(k), k+1); err != nil {
			if !b.leave(err) {
				return nil, err
			}
			r.forget(string(b.d.str(k)))
		}
	}
	if err := b.joinKeywords(r, i); err != nil && !b.leave(err) {
		return nil, err
	}
	if _, ok := b.d.member(i, []byte("$ref")); ok && b.draft < draft2019 {
		*r = rule{at: i, refAt: r.refAt} // these drafts ignore whatever stands beside $ref
	}
	r.joined = r.refAt != 0 || r.all != nil || r.any != nil || r.one != nil || r.not != nil || r.cond != nil ||
		(r.obj != nil && r.obj.rest != nil) || (r.arr != nil && r.arr.rest != nil)
	return r, nil
}

// keyword reads one keyword, whose value is node v, into r.
func (b *builder) keyword(r *rule, key []byte, v uint32) (err error) {
	kind := b.d.nodes[v].kind
	switch string(key) {
	case "type":
		return b.types(r, v)
	case "enum":
		return b.enum(r, v)
	case "const":
		if b.draft >= draft6 {
			if r.enum == nil {
				r.enum = &enumRule{keyword: "const", values: []uint32{v}}
			} else {
				r.all = append(r.all, &rule{at: r.at, enum: &enumRule{keyword: "const", values: []uint32{v}}})
			}
		}
	case "properties":
		return b.properties(r.object(), v)
	case "patternProperties":
		return b.patternProperties(r.object(), v)
	case "additionalProperties":
		o := r.object()
		o.every = true
		if kind == Bool {
			o.closed = b.d.nodes[v].flags&flagTrue == 0
			return nil
		}
		o.extra, err = b.build(v)
	case "required":
		r.object()
		return b.stringList(v, b.draft == draft4)
	case "items":
		if kind == Array && (b.draft < draft2020 || b.foreign) {
			r.array().prefix, err = b.schemas(v)
			return err
		}
		r.array().every = true
		r.array().items, err = b.build(v)
	case "prefixItems":
		if b.draft >= draft2020 {
			r.array().prefix, err = b.schemas(v)
		}
	case "allOf":
		var list []*rule
		list, err = b.schemas(v)
		r.all = append(r.all, list...)
	case "anyOf":
		r.any, err = b.schemas(v)
	case "oneOf":
		r.one, err = b.schemas(v)
	case "not":
		r.not, err = b.build(v)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return b.numeric(r, string(key), v)
	case "minLength":
		r.text().min, err = b.count(v)
	case "maxLength":
		r.text().max, err = b.count(v)
	case "minItems":
		r.array().min, err = b.count(v)
	case "maxItems":
		r.array().max, err = b.count(v)
	case "minProperties":
		r.object().min, err = b.count(v)
	case "maxProperties":
		r.object().max, err = b.count(v)
	case "uniqueItems":
		r.array().unique = b.d.nodes[v].flags&flagTrue != 0
		return b.expect(v, Bool)
	case "pattern":
		if err = b.expect(v, String); err == nil {
			r.text().pattern, err = b.regexp(v)
		}
	case "default":
		r.def = &defaultValue{rule: r, node: v}
	case "$ref":
		b.reference(r, v, plainRef)
		return b.expect(v, String)
	case "$defs", "definitions":
		if string(key) == "definitions" || b.draft >= draft2019 {
			return b.schemaMap(v)
		}
	default:
		return b.otherKeyword(r, string(key), v)
	}
	return err
}

func (b *builder) expect(v uint32, kind Kind) error {
	if got := b.d.nodes[v].kind; got != kind {
		return b.fail(v, "must be %s, got %s", withArticle(kind.String()), withArticle(got.String()))
	}
	return nil
}

func (b *builder) types(r *rule, v uint32) error {
	one := func(v uint32) error {
		t := typeSet(0)
		if b.d.nodes[v].kind == String {
			t = typeNamed(string(b.d.str(v)))
		}
		switch {
		case t == 0:
			return b.fail(v, "%s is not a type; use string, number, integer, boolean, object, array or null", quoteValue(b.d, v))
		case r.types&t != 0:
			return b.fail(v, "the type %s is named twice", quoteValue(b.d, v))
		}
		r.types |= t
		r.order = append(r.order, t)
		return nil
	}
	if b.d.nodes[v].kind != Array {
		return one(v)
	}
	if b.d.nodes[v].b == 0 {
		return b.fail(v, "must name at least one type")
	}
	for _, e := range (Node{b.d, v}).Elems() {
		if err := one(e.i); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) enum(r *rule, v uint32) error {
	if err := b.expect(v, Array); err != nil {
		return err
	}
	e := &enumRule{keyword: "enum", values: make([]uint32, 0, b.d.nodes[v].b)}
	for _, x := range (Node{b.d, v}).Elems() {
		e.values = append(e.values, x.i)
	}
	if b.draft <= draft7 {
		if len(e.values) == 0 {
			return b.fail(v, "must have at least one value")
		}
		if j, k := duplicates(b.d, v); j >= 0 {
			return b.fail(e.values[k], "is the same value as number %d of the list", j+1)
		}
	}
	if len(e.values) > manyValues {
		e.strings = make(map[string]struct{}, len(e.values))
		for _, x := range e.values {
			if b.d.nodes[x].kind == String {
				e.strings[string(b.d.str(x))] = struct{}{}
			}
		}
	}
	if r.enum != nil { // const came first
		r.all = append(r.all, &rule{at: r.at, enum: r.enum})
	}
	r.enum = e
	return nil
}

// schemas builds a list of at least one schema.
func (b *builder) schemas(v uint32) ([]*rule, error) {
	if err := b.expect(v, Array); err != nil {
		return nil, err
	}
	if b.d.nodes[v].b == 0 {
		return nil, b.fail(v, "must have at least one schema")
	}
	list := make([]*rule, 0, b.d.nodes[v].b)
	for _, e := range (Node{b.d, v}).Elems() {
		r, err := b.build(e.i)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// schemaMap builds the schemas of an object for the sake of checking them; a $ref may use them later.
func (b *builder) schemaMap(v uint32) error {
	if err := b.expect(v, Object); err != nil {
		return err
	}
	for _, k := range b.d.keys(v) {
		if b.scope != nil {
			break // they have been checked, and are made where a reference leads to them
		}
		if _, err := b.build(k + 1); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) properties(o *objRule, v uint32) error {
	if err := b.expect(v, Object); err != nil {
		return err
	}
	o.props = make([]prop, 0, b.d.nodes[v].b)
	for _, k := range b.d.keys(v) {
		r, err := b.build(k + 1)
		if err != nil {
			return err
		}
		o.props = append(o.props, prop{name: b.d.str(k), rule: r})
	}
	return nil
}

func (b *builder) patternProperties(o *objRule, v uint32) error {
	if err := b.expect(v, Object); err != nil {
		return err
	}
	for _, k := range b.d.keys(v) {
		re, err := b.regexp(k)
		if err != nil {
			return err
		}
		r, err := b.build(k + 1)
		if err != nil {
			return err
		}
		o.patterns = append(o.patterns, patternRule{re, r})
	}
	return nil
}

func (b *builder) regexp(v uint32) (*matcher, error) {
	if b.checkOnly {
		return nil, nil
	}
	re, err := newMatcher(string(b.d.str(v)))
	if err != nil && b.foreign && b.patterns+len(b.d.str(v)) <= maxPatterns {
		re, err = newJSMatcher(string(b.d.str(v)))
	}
	if err != nil {
		return nil, b.fail(v, "%s is not a regular expression of Go: %v", quoteValue(b.d, v), err)
	}
	if b.patterns += re.weight; b.patterns > maxPatterns {
		return nil, b.fail(v, "the patterns of this schema are too large: together they unfold into more than %d steps", maxPatterns)
	}
	return re, nil
}
