package schema

import "slices"

// BadDefaults gives the JSON pointers of the defaults that their own schema refuses, in the order of the text. Such a
// default is never filled in. Contracts of strangers have them ({"type":"string","default":null}), and are usable all the
// same; in a contract of one's own they are a mistake.
func (s *Schema) BadDefaults() []string {
	var list []string
	for _, node := range s.bad {
		list = append(list, s.doc.pointer(node))
	}
	return list
}

// finishDefaults makes the texts of the defaults and links each to the properties it belongs to.
func (b *builder) finishDefaults() error {
	some := false
	for _, r := range b.all {
		some = some || r.def != nil
	}
	if !some {
		return nil
	}
	b.steps = defaultSteps
	b.linkDefaults()
	for _, r := range b.all {
		if r.def == nil {
			continue
		}
		if err := b.fillDefault(r.def); err != nil {
			return err
		}
	}
	for _, r := range b.all {
		if err := b.dropBad(r); err != nil {
			return err
		}
	}
	if b.s.bad != nil {
		slices.Sort(b.s.bad)
		b.s.bad = slices.Compact(b.s.bad)
		b.spreadFills()
	}
	return nil
}

// linkDefaults gives every property its default.
func (b *builder) linkDefaults() {
	for _, r := range b.all {
		if r.obj == nil {
			continue
		}
		for j := range r.obj.props {
			if p := &r.obj.props[j]; p.rule != nil {
				if p.def = defaultOf(p.rule); p.def != nil {
					r.obj.defaults = append(r.obj.defaults, j)
				}
			}
		}
	}
	b.spreadFills()
}

// defaultOf finds the default of a property: its own, or that of a schema it refers to or is made of. It is asked once of
// each, because many may share one.
func defaultOf(r *rule) *defaultValue {
	if r.def != nil {
		return r.def
	}
	if r.inheritedKnown {
		return r.inherited
	}
	r.inheritedKnown = true
	if r.ref != nil && !r.ref.loops {
		r.inherited = defaultOf(r.ref)
	}
	for _, c := range r.all {
		if r.inherited != nil {
			break
		}
		r.inherited = defaultOf(c)
	}
	return r.inherited
}

// spreadFills marks every rule from which a default can be reached, going from the rules that have one to those that lead
// to them.
func (b *builder) spreadFills() {
	// The rules that lead to rule n stand in leads from ends[n] up to ends[n+1].
	ends := make([]uint32, len(b.all)+1)
	todo := make([]uint32, 0, len(b.all))
	for n, r := range b.all {
		r.place = uint32(n)
	}
	for n, r := range b.all {
		if r.fills = r.obj != nil && len(r.obj.defaults) > 0; r.fills {
			todo = append(todo, uint32(n))
		}
		count := func(c *rule) { ends[c.place]++ }
		r.shapes(count)
		r.shapesBelow(count)
	}
	for n := 1; n < len(ends); n++ {
		ends[n] += ends[n-1]
	}
	leads := make([]uint32, ends[len(b.all)])
	for n, r := range b.all {
		note := func(c *rule) {
			ends[c.place]--
			leads[ends[c.place]] = uint32(n)
		}
		r.shapes(note)
		r.shapesBelow(note)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range leads[ends[n]:ends[n+1]] {
			if r := b.all[from]; !r.fills {
				r.fills = true
				todo = append(todo, from)
			}
		}
	}
}

// fillDefault makes the text of a default, with the defaults inside it filled in, so that admitting an admitted text
// changes nothing, and finds out whether its own schema accepts it. The first error ends the whole compilation, so it is
// kept: trying again could take forever.
func (b *builder) fillDefault(def *defaultValue) error {
	if def.text != nil || b.failed != nil {
		return b.failed
	}
	if def.busy {
		b.failed = b.fail(def.node, "this default contains itself without end: it fills in a property whose default is the same again")
		return b.failed
	}
	def.busy = true
	defer func() { def.busy = false }()
	w := newWriter(b.s, b.d, Options{PlainInts: true})
	defer w.release()
	w.fill = func(inner *defaultValue) bool { return b.fillDefault(inner) == nil && !inner.bad }
	had := min(w.steps, b.steps)
	w.steps = had
	w.value(def.rule, def.node)
	b.steps -= had - w.steps + len(w.out)>>4
	if b.failed != nil {
		return b.failed
	}
	if w.steps < 0 {
		b.failed = b.fail(def.node, "the default is too complex to be filled in")
		return b.failed
	}
	if b.filled += len(w.out); len(w.out) > maxDefault || b.filled > maxDefaults {
		b.failed = b.fail(def.node, "the default, with what it fills in, is longer than %d bytes, or all defaults together longer than %d", maxDefault, maxDefaults)
		return b.failed
	}
	def.text = append([]byte(nil), w.out...)
	ok, err := b.accepts(def.rule, def)
	if err != nil {
		b.failed = err
		return err
	}
	if def.bad = !ok; def.bad {
		b.s.bad = append(b.s.bad, def.node)
	}
	return nil
}

// dropBad takes away from the properties of r the defaults that their schema refuses: the schema that has the default, or
// the one that inherits it and asks for more.
func (b *builder) dropBad(r *rule) error {
	if r.obj == nil || r.obj.defaults == nil {
		return nil
	}
	kept := r.obj.defaults[:0]
	for _, j := range r.obj.defaults {
		p := &r.obj.props[j]
		ok := !p.def.bad
		if ok && p.def.rule != p.rule {
			var err error
			if ok, err = b.accepts(p.rule, p.def); err != nil {
				return err
			}
		}
		if ok {
			kept = append(kept, j)
			continue
		}
		b.s.bad = append(b.s.bad, p.def.node)
		p.def = nil
	}
	r.obj.defaults = kept
	return nil
}

// accepts says whether a rule accepts a default. All judging of defaults spends from one budget.
func (b *builder) accepts(r *rule, def *defaultValue) (bool, error) {
	d, err := Parse(def.text, Limits{Depth: maxDepth})
	if err != nil {
		return false, b.fail(def.node, "the default, with what it fills in: %v", err)
	}
	defer d.Release()
	p := newStepBudget(d)
	v := validator{d: d, s: b.s, stepBudget: stepBudget{steps: min(b.steps, p.steps), rememberAt: p.rememberAt}}
	had := v.steps
	ok := v.check(r, 0)
	if b.steps -= had - v.steps; b.steps < 0 {
		return false, b.fail(def.node, "judging the defaults of this schema takes too much work")
	}
	return ok, nil
}
