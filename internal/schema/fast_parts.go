package schema

import "bytes"

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
		if j, k := duplicates(v.d, i); j >= 0 {
			if ok = v.badPair(j, k); !v.collect {
				return false
			}
		}
	}
	if a.items == nil && a.prefix == nil {
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
	return ok
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
		if (ok || v.collect) && o.patterns[j].re.match(name) {
			known = true
			ok = v.check(o.patterns[j].rule, value) && ok
		}
	}
	if !known {
		switch {
		case o.closed:
			ok = v.badUnknown(o, name)
		case o.extra != nil:
			ok = v.check(o.extra, value)
		}
	}
	v.pop()
	return ok
}

func (v *validator) checkAny(r *rule, i uint32) bool {
	for _, c := range r.any {
		if v.try(c, i) {
			return true
		}
	}
	return v.badBranches(r.any, i, "anyOf")
}

func (v *validator) checkOne(r *rule, i uint32) bool {
	fits := 0
	for _, c := range r.one {
		if v.try(c, i) {
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
	return v.badCount("oneOf", fits, 1)
}
