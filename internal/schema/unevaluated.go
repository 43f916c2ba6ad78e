package schema

import "slices"

// evaluation is which members of an object, or elements of an array, the rules about it have judged. What is left is for
// unevaluatedProperties and unevaluatedItems.
type evaluation struct {
	owner  *rule   // the rule that asks
	seen   []*rule // many ways may lead to one rule
	judged []bool
	left   int // how many are not judged
}

// checkRest judges what no other part of the rule has judged.
func (v *validator) checkRest(r *rule, i uint32) bool {
	n := &v.d.nodes[i]
	var rest *rule
	switch {
	case n.kind == Object && r.obj != nil:
		rest = r.obj.rest
	case n.kind == Array && r.arr != nil:
		rest = r.arr.rest
	}
	if rest == nil || n.b == 0 {
		return true
	}
	v.steps -= int(n.b) >> 3
	e := &evaluation{owner: r, judged: make([]bool, n.b), left: int(n.b)}
	v.evaluate(e, r, i)
	if e.left == 0 {
		return true
	}
	ok := true
	if n.kind == Object {
		for j, k := range v.d.keys(i) {
			if !e.judged[j] && !v.checkLeft(r, rest, pathStep{key: v.d.str(k)}, k+1) {
				if ok = false; !v.collect {
					return false
				}
			}
		}
		return ok
	}
	c := i + 1
	for j := range e.judged {
		if !e.judged[j] && !v.checkLeft(r, rest, pathStep{index: j}, c) {
			if ok = false; !v.collect {
				return false
			}
		}
		c = v.d.nodes[c].next
	}
	return ok
}

func (v *validator) checkLeft(r, rest *rule, step pathStep, value uint32) bool {
	v.push(step)
	defer v.pop()
	switch {
	case !rest.deny:
		return v.check(rest, value)
	case step.key != nil:
		return v.badUnknown(r.obj, step.key, "unevaluatedProperties")
	}
	return v.reporting() && v.add("unevaluatedItems", "no further elements are allowed")
}

// evaluate marks what r judges, and what the rules judge that it applies to the same value. Whether those that must hold do
// hold is not asked: where they do not, the value is invalid anyway. Of alternatives those count that accept the value, or
// all if none does, so that a report names only what nobody knows.
func (v *validator) evaluate(e *evaluation, r *rule, i uint32) {
	if v.steps -= 1 + len(e.seen)>>3; v.steps < 0 || e.left == 0 || slices.Contains(e.seen, r) {
		return
	}
	e.seen = append(e.seen, r)
	switch {
	case v.d.nodes[i].kind == Object && r.obj != nil:
		v.evaluateMembers(e, r, i)
	case v.d.nodes[i].kind == Array && r.arr != nil:
		v.evaluateElements(e, r, i)
	}
	if r.ref != nil {
		v.evaluate(e, r.ref, i)
	}
	for _, c := range r.all {
		v.evaluate(e, c, i)
	}
	for _, list := range [...][]*rule{r.any, r.one} {
		some := false
		for _, c := range list {
			if v.accepts(c, i) {
				some = true
				v.evaluate(e, c, i)
			}
		}
		for _, c := range list {
			if !some {
				v.evaluate(e, c, i)
			}
		}
	}
	if r.cond != nil {
		next := r.cond.other
		if v.accepts(r.cond.test, i) {
			v.evaluate(e, r.cond.test, i)
			next = r.cond.then
		}
		if next != nil {
			v.evaluate(e, next, i)
		}
	}
}

func (v *validator) evaluateMembers(e *evaluation, r *rule, i uint32) {
	o := r.obj
	every := o.every || (o.rest != nil && r != e.owner)
	v.steps -= len(e.judged) >> 1
	for j, k := range v.d.keys(i) {
		if e.judged[j] {
			continue
		}
		name := v.d.str(k)
		known := every
		if p := o.find(name); p != nil && p.rule != nil {
			known = true
		}
		for p := 0; p < len(o.patterns) && !known; p++ {
			if known = v.matches(o.patterns[p].re, name); v.steps < 0 {
				return
			}
		}
		e.mark(j, known)
	}
	for j := range o.deps {
		v.steps--
		if _, given := v.d.member(i, o.deps[j].name); given && o.deps[j].rule != nil {
			v.evaluate(e, o.deps[j].rule, i)
		}
	}
}

func (v *validator) evaluateElements(e *evaluation, r *rule, i uint32) {
	a, c := r.arr, i+1
	every := a.every || (a.rest != nil && r != e.owner)
	v.steps -= len(e.judged) >> 3
	for j := range e.judged {
		if !e.judged[j] {
			e.mark(j, every || j < len(a.prefix) || a.contains != nil && a.contains.judges && v.accepts(a.contains.rule, c))
		}
		c = v.d.nodes[c].next
	}
}

func (e *evaluation) mark(j int, judged bool) {
	if judged && !e.judged[j] {
		e.judged[j] = true
		e.left--
	}
}

// checkMeta judges the value at node i as a schema of a draft: it is one if it can be read as one.
func (v *validator) checkMeta(draft int, i uint32) bool {
	if v.steps -= 20 * int(v.d.nodes[i].next-i); v.steps < 0 {
		return false
	}
	b := &builder{d: v.d, checkOnly: true, place: place{draft: draft}}
	if _, err := b.build(i); err != nil {
		return v.badSchema(i, err)
	}
	return true
}
