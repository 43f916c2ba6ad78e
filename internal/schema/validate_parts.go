package schema

import (
	"bytes"
	"fmt"
)

func (v *validator) checkArray(r *rule, i uint32) bool {
	a, n, ok := r.arr, int(v.d.nodes[i].b), true
	if n < a.min {
		ok = v.badCount("minItems", n, a.min)
	}
	if a.max >= 0 && n > a.max {
		ok = v.badCount("maxItems", n, a.max)
	}
	if !ok && !v.collect {
		return false
	}
	if a.unique {
		v.steps -= 4*int(v.d.nodes[i].next-i) + int(v.d.nodes[i].end-v.d.nodes[i].start)>>4
		if j, k := duplicates(v.d, i); j >= 0 {
			ok = v.reporting() && v.add("uniqueItems", fmt.Sprintf("elements %d and %d are equal, every element must be different", j, k))
		}
	}
	if extra := n - len(a.prefix); a.short && extra > 0 && (ok || v.collect) {
		ok = v.reporting() && v.add("additionalItems", "has "+plural(extra, "element")+" too many")
	}
	if ok || v.collect {
		ok = (a.contains == nil || v.checkContains(a.contains, i)) && ok
	}
	if a.items == nil && a.prefix == nil || !ok && !v.collect {
		return ok
	}
	c := i + 1
	for k := range n {
		item := a.items
		if k < len(a.prefix) {
			item = a.prefix[k]
		}
		if item != nil {
			v.push(pathStep{index: k})
			good := v.check(item, c)
			v.pop()
			if !good {
				if ok = false; !v.collect {
					return false
				}
			}
		}
		c = v.d.nodes[c].next
	}
	return ok
}

func (v *validator) checkObject(r *rule, i uint32) bool {
	o, n, ok := r.obj, int(v.d.nodes[i].b), true
	if n < o.min {
		ok = v.badCount("minProperties", n, o.min)
	}
	if o.max >= 0 && n > o.max {
		ok = v.badCount("maxProperties", n, o.max)
	}
	if !ok && !v.collect {
		return false
	}
	v.steps -= (n + len(o.props)) >> 3
	// The members and the properties are both sorted, so one walk side by side finds the known, the missing and the
	// unknown.
	at := 0
	for _, k := range v.d.keys(i) {
		name := v.d.str(k)
		var p *prop
		for at < len(o.props) {
			c := bytes.Compare(o.props[at].name, name)
			if c > 0 {
				break
			}
			at++
			if c == 0 {
				p = &o.props[at-1]
				break
			}
			if o.props[at-1].required {
				if ok = v.badMissing(&o.props[at-1]); !v.collect {
					return false
				}
			}
		}
		if !v.checkMember(r, p, name, k+1) {
			if ok = false; !v.collect {
				return false
			}
		}
	}
	for ; at < len(o.props); at++ {
		if o.props[at].required {
			if ok = v.badMissing(&o.props[at]); !v.collect {
				return false
			}
		}
	}
	if o.names != nil && !v.checkNames(o, i) {
		if ok = false; !v.collect {
			return false
		}
	}
	return (o.deps == nil || v.checkDeps(o, i)) && ok
}

// checkMember judges one member; p is its entry among the properties, if it has one.
func (v *validator) checkMember(r *rule, p *prop, name []byte, value uint32) bool {
	o, ok := r.obj, true
	known := p != nil && p.rule != nil
	v.push(pathStep{key: name})
	if known {
		ok = v.check(p.rule, value)
	}
	for j := range o.patterns {
		matches := v.matches(o.patterns[j].re, name)
		if v.steps < 0 {
			ok = false
		}
		if (ok || v.collect && v.steps >= 0) && matches {
			known = true
			ok = v.check(o.patterns[j].rule, value) && ok
		}
	}
	if !known {
		switch {
		case o.closed:
			ok = v.badUnknown(o, name, "additionalProperties")
		case o.extra != nil:
			ok = v.check(o.extra, value)
		}
	}
	v.pop()
	return ok
}

func (v *validator) checkAny(r *rule, i uint32) bool {
	for _, c := range r.any {
		if v.accepts(c, i) {
			return true
		}
	}
	return v.badBranches(r.any, i, "anyOf")
}

func (v *validator) checkOne(r *rule, i uint32) bool {
	fits := 0
	for _, c := range r.one {
		if v.accepts(c, i) {
			if fits++; fits > 1 && !v.collect {
				return false
			}
		}
	}
	switch fits {
	case 0:
		return v.badBranches(r.one, i, "oneOf")
	case 1:
		return true
	}
	return v.reporting() && v.add("oneOf", "fits more than one of the forms of which exactly one is allowed; make clear which is meant")
}

func (v *validator) checkCond(c *condRule, i uint32) bool {
	next := c.other
	if v.accepts(c.test, i) {
		next = c.then
	}
	return next == nil || v.check(next, i)
}

func (v *validator) checkContains(c *containsRule, i uint32) bool {
	n, e := 0, i+1
	for range v.d.nodes[i].b {
		if v.accepts(c.rule, e) {
			n++
		}
		e = v.d.nodes[e].next
	}
	ok := true
	switch {
	case n >= c.min:
	case c.least:
		ok = v.badCount("minContains", n, c.min)
	default:
		ok = v.reporting() && v.add("contains", "must have an element of the form that contains asks for, has none")
	}
	if c.max >= 0 && n > c.max {
		ok = v.badCount("maxContains", n, c.max)
	}
	return ok
}

// checkNames judges the names of the members: a key is a string like any other.
func (v *validator) checkNames(o *objRule, i uint32) bool {
	ok := true
	for _, k := range v.d.keys(i) {
		if !v.accepts(o.names, k) {
			if ok = v.badName(o.names, k); !v.collect {
				return false
			}
		}
	}
	return ok
}

func (v *validator) checkDeps(o *objRule, i uint32) bool {
	ok := true
	v.steps -= len(o.deps) >> 1
	for j := range o.deps {
		dep := &o.deps[j]
		if _, given := v.d.member(i, dep.name); !given {
			continue
		}
		v.steps -= len(dep.needs) >> 1
		for _, name := range dep.needs {
			if _, given := v.d.member(i, name); !given {
				if ok = v.badDep(dep, name); !v.collect {
					return false
				}
			}
		}
		if dep.rule != nil && !v.check(dep.rule, i) {
			if ok = false; !v.collect {
				return false
			}
		}
	}
	return ok
}
