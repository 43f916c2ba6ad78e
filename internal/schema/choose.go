package schema

// chooseBranch picks the first alternative that accepts the value as it is, else the first that accepts it once it is written
// anew.
func (w *writer) chooseBranch(list []*rule, i uint32) *rule {
	active := w.ints
	for _, c := range list {
		active = active || c.fills
	}
	if !active || len(list) == 0 {
		return nil
	}
	q := ruleQuestion{list[0], i}
	if c, known := w.chosen[q]; known {
		return c
	}
	c := w.tryBranches(list, i)
	if w.memory != nil && w.steps >= 0 {
		if w.chosen == nil || len(w.chosen) >= maxMemory {
			w.chosen = make(map[ruleQuestion]*rule)
		}
		w.chosen[q] = c
	}
	return c
}

func (w *writer) tryBranches(list []*rule, i uint32) *rule {
	for _, c := range list {
		if w.accepts(w.d, c, i) {
			return c
		}
	}
	for _, c := range list {
		if w.steps < 0 {
			return nil
		}
		sub := newWriter(w.s, w.d, Options{Lenient: w.lenient, PlainInts: w.ints})
		sub.fill, sub.stepBudget, sub.chosen = w.fill, w.stepBudget, w.chosen
		sub.value(c, i)
		w.stepBudget, w.chosen = sub.stepBudget, sub.chosen
		w.steps -= len(sub.out) >> 4
		ok := sub.changed && w.acceptsText(c, sub.out)
		sub.release()
		if ok {
			return c
		}
	}
	return nil
}

// accepts asks for a rule's judgement. Only answers about the document itself are worth remembering.
func (w *writer) accepts(d *Doc, r *rule, i uint32) bool {
	v := validator{d: d, s: w.s, lenient: w.lenient, stepBudget: w.stepBudget}
	if d != w.d {
		v.memory, v.rememberAt = nil, w.steps-patience(d)
	}
	ok := v.check(r, i)
	if w.steps = v.steps; d == w.d {
		w.stepBudget = v.stepBudget
	}
	return ok && v.steps >= 0
}

func (w *writer) acceptsText(r *rule, text []byte) bool {
	d, err := Parse(text, Limits{Depth: maxDepth})
	if err != nil {
		return false
	}
	defer d.Release()
	return w.accepts(d, r, 0)
}
