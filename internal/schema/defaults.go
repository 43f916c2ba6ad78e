package schema

// maxDefault bounds the text of one default. Defaults inside defaults can double at every level, so a short schema could
// otherwise ask for any amount of memory.
const maxDefault = 64 << 10

// finishDefaults links every default to the properties it belongs to, makes the texts that are filled in, and refuses a
// default that its own schema would refuse. full is the other validator, when it is in charge.
func (b *builder) finishDefaults(full *fullCompiler) error {
	some := false
	for _, r := range b.all {
		some = some || r.def != nil
	}
	if !some {
		return nil
	}
	for _, r := range b.all {
		if r.obj == nil {
			continue
		}
		for j := range r.obj.props {
			p := &r.obj.props[j]
			if p.rule == nil {
				continue
			}
			if p.def = defaultOf(p.rule, 0); p.def != nil {
				r.obj.defaults = append(r.obj.defaults, j)
				r.fills = true
			}
		}
	}
	b.spreadFills()
	for _, r := range b.all {
		if r.def == nil {
			continue
		}
		if err := b.fillDefault(r.def); err != nil {
			return err
		}
		if err := b.checkDefault(r.def, full); err != nil {
			return err
		}
	}
	return nil
}

// defaultOf finds the default of a property: its own, or that of a schema it refers to or is made of.
func defaultOf(r *rule, depth int) *fallback {
	if r.def != nil || depth > 16 {
		return r.def
	}
	if r.ref != nil {
		if def := defaultOf(r.ref, depth+1); def != nil {
			return def
		}
	}
	for _, c := range r.all {
		if def := defaultOf(c, depth+1); def != nil {
			return def
		}
	}
	return nil
}

// spreadFills marks every rule from which a default can be reached. References may form circles, so it goes round until
// nothing changes any more.
func (b *builder) spreadFills() {
	for changed := true; changed; {
		changed = false
		for _, r := range b.all {
			if r.fills {
				continue
			}
			spread := func(c *rule) { r.fills = r.fills || c.fills }
			r.inPlace(spread)
			r.below(spread)
			changed = changed || r.fills
		}
	}
}

// fillDefault makes the text of a default, with the defaults inside it filled in, so that admitting an admitted text
// changes nothing. The first error ends the whole compilation, so it is kept: trying again could take forever.
func (b *builder) fillDefault(def *fallback) error {
	if def.text != nil || b.failed != nil {
		return b.failed
	}
	if def.busy {
		b.failed = b.fail(def.node, "this default contains itself without end: it fills in a property whose default is the same again")
		return b.failed
	}
	def.busy = true
	defer func() { def.busy = false }()
	w := newWriter(b.s, b.d, Options{})
	defer w.release()
	w.fill = func(inner *fallback) bool { return b.fillDefault(inner) == nil }
	w.value(def.rule, def.node)
	switch {
	case b.failed != nil:
	case len(w.out) > maxDefault:
		b.failed = b.fail(def.node, "the default, with what it fills in, is longer than %d bytes", maxDefault)
	default:
		def.text = append([]byte(nil), w.out...)
	}
	return b.failed
}

func (b *builder) checkDefault(def *fallback, full *fullCompiler) error {
	d, err := Parse(def.text, Limits{Depth: maxDepth})
	if err != nil {
		return b.fail(def.node, "the default, with what it fills in: %v", err)
	}
	defer d.Release()
	var problems []Problem
	if full == nil {
		problems = b.s.judge(d, def.rule, false)
	} else if problems, err = full.judge(d, def.rule.at); err != nil {
		return err
	}
	if problems != nil {
		return b.fail(def.node, "the default does not satisfy its own schema: %s", problems[0])
	}
	return nil
}
