package schema

import (
	"bytes"
	"slices"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// writer writes a document anew as the rules shape it.
type writer struct {
	s       *Schema
	d       *Doc
	out     []byte
	rules   []*rule // a stack: for each value on the way, the rules that govern it
	missing []*prop // a stack: for each object on the way, the properties to fill in
	lenient bool
	ints    bool
	bare    bool // defaults are not filled in
	changed bool
	stepBudget
	chosen map[ruleQuestion]*rule   // alternatives, remembered as answers are: by the first of them and the value
	limit  int                      // how long out may become
	fill   func(*defaultValue) bool // makes the text of a default, while the schema is being compiled; false: leave it out
}

func newWriter(s *Schema, d *Doc, opt Options) *writer {
	w, ok := pools.writers.Get().(*writer)
	if !ok {
		w = &writer{out: make([]byte, 0, 512)}
	}
	w.s, w.d, w.bare = s, d, opt.NoDefaults
	w.lenient, w.ints, w.changed = opt.Lenient, opt.Lenient || opt.PlainInts && d.wholes, false
	w.stepBudget = newStepBudget(d)
	w.limit = 2*len(d.text) + maxGrowth
	return w
}

func (w *writer) release() {
	w.s, w.d, w.fill, w.memory, w.chosen = nil, nil, nil, nil, nil
	if cap(w.out) > 1<<20 || cap(w.rules) > 1<<10 || cap(w.missing) > 1<<10 {
		return
	}
	clear(w.rules[:cap(w.rules)]) // a pooled writer must not keep a schema alive
	clear(w.missing[:cap(w.missing)])
	w.out, w.rules, w.missing = w.out[:0], w.rules[:0], w.missing[:0]
	pools.writers.Put(w)
}

// value writes the value at node i, governed by r.
func (w *writer) value(r *rule, i uint32) {
	base := len(w.rules)
	w.addRules(base, r, i)
	w.write(i, base)
	w.rules = w.rules[:base]
}

// addRules puts r and the rules that it applies to the same value on the stack. Of alternatives it takes the one that
// accepts the value.
func (w *writer) addRules(base int, r *rule, i uint32) {
	if w.steps -= 1 + (len(w.rules)-base)>>3; w.steps < w.rememberAt && !w.stepsLeft() {
		return
	}
	if slices.Contains(w.rules[base:], r) {
		return // many ways may lead to one rule
	}
	w.rules = append(w.rules, r)
	if r.ref != nil && !r.ref.loops {
		w.addRules(base, r.ref, i)
	}
	for _, c := range r.all {
		w.addRules(base, c, i)
	}
	for _, list := range [...][]*rule{r.any, r.one} {
		if c := w.chooseBranch(list, i); c != nil {
			w.addRules(base, c, i)
		}
	}
}

// write writes the value at node i, governed by the rules from base up.
func (w *writer) write(i uint32, base int) {
	rules := w.rules[base:]
	idle := !w.ints
	for _, r := range rules {
		idle = idle && !r.fills
	}
	if idle || len(rules) == 0 {
		if i == 0 {
			w.out = w.d.AppendCanonical(w.out)
		} else {
			w.out = w.d.appendNode(w.out, i)
		}
		return
	}
	switch w.d.nodes[i].kind {
	case Object:
		w.object(i, rules)
	case Array:
		w.array(i, rules)
	default:
		w.scalar(i, rules)
	}
}

func (w *writer) array(i uint32, rules []*rule) {
	w.out = append(w.out, '[')
	c := i + 1
	for k := range int(w.d.nodes[i].b) {
		if k > 0 {
			w.out = append(w.out, ',')
		}
		base := len(w.rules)
		w.steps -= len(rules) >> 3
		for _, r := range rules {
			switch {
			case r.arr == nil:
			case k < len(r.arr.prefix):
				w.addRules(base, r.arr.prefix[k], c)
			case r.arr.items != nil:
				w.addRules(base, r.arr.items, c)
			}
		}
		w.write(c, base)
		w.rules = w.rules[:base]
		c = w.d.nodes[c].next
	}
	w.out = append(w.out, ']')
}

func (w *writer) object(i uint32, rules []*rule) {
	from := len(w.missing)
	w.findMissing(i, rules)
	next := from
	w.out = append(w.out, '{')
	open := len(w.out)
	comma := func() {
		if len(w.out) > open {
			w.out = append(w.out, ',')
		}
	}
	for _, k := range w.d.keys(i) {
		name := w.d.str(k)
		for next < len(w.missing) && bytes.Compare(w.missing[next].name, name) < 0 {
			w.writeDefault(w.missing[next], comma)
			next++
		}
		base := len(w.rules)
		if !w.member(rules, name, k+1) {
			w.changed = true
			w.rules = w.rules[:base]
			continue
		}
		comma()
		w.out = w.d.appendNode(w.out, k)
		w.out = append(w.out, ':')
		w.write(k+1, base)
		w.rules = w.rules[:base]
	}
	for ; next < len(w.missing); next++ {
		w.writeDefault(w.missing[next], comma)
	}
	w.missing = w.missing[:from]
	w.out = append(w.out, '}')
}

// member puts the rules of one member on the stack; false means that the member is to be dropped.
func (w *writer) member(rules []*rule, name []byte, value uint32) bool {
	known, shut, sealed, opaque := false, false, false, false
	base := len(w.rules)
	w.steps -= len(rules) >> 3
	for _, r := range rules {
		opaque = opaque || r.opaque
		o := r.obj
		if o == nil {
			continue
		}
		mine := false
		if p := o.find(name); p != nil && p.rule != nil {
			mine = true
			w.addRules(base, p.rule, value)
		}
		for j := range o.patterns {
			if w.matches(o.patterns[j].re, name) {
				mine = true
				w.addRules(base, o.patterns[j].rule, value)
			}
		}
		if !mine && o.extra != nil {
			mine = true
			w.addRules(base, o.extra, value)
		}
		known = known || mine
		shut = shut || (o.closed && !mine)
		sealed = sealed || (o.rest != nil && o.rest.deny)
	}
	return known || !w.lenient || !(shut || sealed && !opaque)
}

// findMissing lists the properties that have a default and are not there, sorted by name.
func (w *writer) findMissing(i uint32, rules []*rule) {
	from := len(w.missing)
	for _, r := range rules {
		if r.obj == nil {
			continue
		}
		w.steps -= len(r.obj.defaults) >> 2
		for _, j := range r.obj.defaults {
			p := &r.obj.props[j]
			if _, ok := w.d.member(i, p.name); !ok {
				w.missing = append(w.missing, p)
			}
		}
	}
	if found := w.missing[from:]; len(rules) > 1 && len(found) > 1 {
		slices.SortStableFunc(found, func(p, q *prop) int { return bytes.Compare(p.name, q.name) })
		found = slices.CompactFunc(found, func(p, q *prop) bool { return bytes.Equal(p.name, q.name) })
		w.missing = w.missing[:from+len(found)]
	}
}

func (w *writer) writeDefault(p *prop, comma func()) {
	if w.bare || len(w.out) > w.limit || (w.fill != nil && !w.fill(p.def)) {
		return // the result is refused anyway, or this default is
	}
	w.changed = true
	comma()
	w.out = jsontext.AppendString(w.out, p.name)
	w.out = append(w.out, ':')
	w.out = append(w.out, p.def.text...)
}

// scalar writes a string, number, boolean or null, converted if a rule wants another type and it can be had.
func (w *writer) scalar(i uint32, rules []*rule) {
	d, at := w.d, i
	for _, r := range rules {
		lit, ok := w.converted(d, at, r)
		if !ok {
			continue
		}
		e, err := Parse(lit, Limits{})
		if err != nil {
			continue
		}
		if d != w.d {
			d.Release()
		}
		d, at = e, 0
		w.changed = true
	}
	w.out = d.appendNode(w.out, at)
	if d != w.d {
		d.Release()
	}
}

// converted gives the literal that the value at node i becomes under r, if it must become another.
func (w *writer) converted(d *Doc, i uint32, r *rule) ([]byte, bool) {
	if r.types == 0 {
		return nil, false
	}
	n := &d.nodes[i]
	if r.types&kindBit(n.kind) != 0 {
		return nil, false
	}
	if n.kind == Number && r.types&integerType != 0 {
		if n.flags&flagInt != 0 {
			return nil, false
		}
		x := parseDecimal(d.raw(i))
		return x.appendInt(nil)
	}
	if !w.lenient {
		return nil, false
	}
	var first []byte
	for _, t := range r.order {
		lit, ok := convert(d, i, t)
		if !ok {
			continue
		}
		if len(r.order) == 1 || w.acceptsText(&rule{types: r.types, enum: r.enum, num: r.num, str: r.str}, lit) {
			return lit, true
		}
		if first == nil {
			first = lit
		}
	}
	return first, first != nil
}
