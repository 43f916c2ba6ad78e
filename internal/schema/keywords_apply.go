package schema

// applicator reads the keywords that apply a schema under a condition, to names, or to some element. A name that no draft
// knows is an annotation.
func (b *builder) applicator(r *rule, key string, v uint32) (err error) {
	switch key {
	case "if", "then", "else":
		if b.draft >= draft7 {
			return b.condition(r, key, v)
		}
	case "contains":
		if b.draft >= draft6 {
			c := r.contained()
			c.judges = b.draft >= draft2020
			c.rule, err = b.build(v)
		}
	case "minContains":
		if b.draft >= draft2019 {
			c := r.contained()
			c.least = true
			c.min, err = b.count(v)
		}
	case "maxContains":
		if b.draft >= draft2019 {
			r.contained().max, err = b.count(v)
		}
	case "propertyNames":
		if b.draft >= draft6 {
			r.object().names, err = b.build(v)
		}
	case "dependentRequired", "dependentSchemas":
		if b.draft >= draft2019 {
			return b.dependents(r, key, v)
		}
	case "dependencies": // dropped from the standard in 2019, and still understood by everyone
		return b.dependents(r, key, v)
	case "additionalItems":
		if b.draft < draft2020 {
			_, err = b.boolOr(v)
		}
	}
	return err
}

// contained gives the rule's contains part, made on first use.
func (r *rule) contained() *containsRule {
	a := r.array()
	if a.contains == nil {
		a.contains = &containsRule{min: 1, max: -1}
	}
	return a.contains
}

func (b *builder) condition(r *rule, key string, v uint32) error {
	c, err := b.build(v)
	if err != nil {
		return err
	}
	if r.cond == nil {
		r.cond = &condRule{}
	}
	switch key {
	case "if":
		r.cond.test = c
	case "then":
		r.cond.then = c
	default:
		r.cond.other = c
	}
	r.opaque = true
	return nil
}

func (b *builder) dependents(r *rule, key string, v uint32) error {
	if err := b.expect(v, Object); err != nil {
		return err
	}
	o := r.object()
	for _, k := range b.d.keys(v) {
		dep := depRule{keyword: key, name: b.d.str(k)}
		names := key == "dependentRequired" || (key == "dependencies" && b.d.nodes[k+1].kind == Array)
		if names {
			if err := b.stringList(k+1, key == "dependencies" && b.draft == draft4); err != nil {
				return err
			}
			for _, e := range (Node{b.d, k + 1}).Elems() {
				dep.needs = append(dep.needs, b.d.str(e.i))
			}
		} else {
			var err error
			if dep.rule, err = b.build(k + 1); err != nil {
				return err
			}
			r.opaque = true
		}
		o.deps = append(o.deps, dep)
	}
	return nil
}

// boolOr builds a value that is a boolean, even in draft-04, or a schema; for a boolean there is no rule.
func (b *builder) boolOr(v uint32) (*rule, error) {
	if b.d.nodes[v].kind == Bool {
		return nil, nil
	}
	return b.build(v)
}

// joinKeywords joins the keywords of the schema at node i that change each other's meaning.
func (b *builder) joinKeywords(r *rule, i uint32) error {
	if r.obj != nil {
		if err := b.markRequired(r.obj, i); err != nil {
			return err
		}
	}
	if b.draft == draft4 {
		if err := b.exclusive(r, i); err != nil {
			return err
		}
	}
	if a := r.arr; a != nil {
		if a.contains != nil && a.contains.rule == nil {
			a.contains = nil // its bounds alone ask for nothing
		}
		if v, ok := b.d.member(i, []byte("additionalItems")); ok && a.prefix != nil && b.draft < draft2020 {
			var err error
			if a.items, err = b.boolOr(v); err != nil {
				return err
			}
			a.short = a.items == nil && b.d.nodes[v].flags&flagTrue == 0
			a.every = true
		}
	}
	if c := r.cond; c != nil {
		if c.test == nil {
			r.cond = nil
		} else if n := &b.d.nodes[c.test.at]; n.kind == Bool { // the part that is never asked may refer to nothing
			if n.flags&flagTrue != 0 {
				c.other = nil
			} else {
				c.then = nil
			}
		}
	}
	return nil
}

// exclusive applies the booleans by which draft-04 says that a bound is exclusive.
func (b *builder) exclusive(r *rule, i uint32) error {
	for _, pair := range [...][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		v, ok := b.d.member(i, []byte(pair[0]))
		if !ok {
			continue
		}
		if _, ok := b.d.member(i, []byte(pair[1])); !ok {
			return b.fail(i, "%s needs %s beside it", pair[0], pair[1])
		}
		switch n := r.num; {
		case b.d.nodes[v].flags&flagTrue == 0 || n == nil:
		case pair[1] == "minimum":
			n.above, n.aboveAt, n.min = n.min, n.minAt, nil
		default:
			n.below, n.belAt, n.max = n.max, n.maxAt, nil
		}
	}
	return nil
}
