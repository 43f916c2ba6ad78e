package schema

import "bytes"

// The other validator cannot be stopped, so its work is reckoned before it begins. weighing goes the way that it would go
// with a document, and counts.
//
// The count is never less than the work, because of how the other validator goes (its validate, validateSelf and
// validateVal): for every subschema that it applies to a value there is one visit here.
//
//   - It leaves a subschema early if that is a boolean, if it is being applied to this very value already, if the type is
//     wrong, and for other reasons. The first three are the only ones for which a visit goes no further.
//   - Otherwise it applies some or all of the subschemas in place, and to each member and element those of properties,
//     patternProperties, additionalProperties, propertyNames, prefixItems, items, contains. A visit takes all of them: both
//     then and else, every alternative even after one has fit, every member even after one has failed.
//   - unevaluatedProperties and unevaluatedItems are applied to what the neighbouring keywords of the same schema did not
//     evaluate, or less. A visit takes all of that.
//   - A $dynamicRef or $recursiveRef has one target. Where it is not certain which, a visit takes all candidates.
//
// What else takes time is charged by what it grows with: the members and elements of the value, its bytes, and the lists and
// patterns of the schema. So is memory: a subschema that refuses a value makes an error with the whole path to it.
// A unit stands for about 100 ns and at most 50 bytes; TestWeighingIsEnough holds it against what really happens.
type weighing struct {
	d      *Doc
	left   int // units
	visits int
	depth  int
	chain  []frame // the subschemas that are being applied, outermost first
}

// frame is a subschema and the value that it is applied to.
type frame struct {
	load *burden
	node uint32
}

// fullBudget is how many units a document is worth. It does not grow without end with the document, because the memory
// does, too: the other validator is for schemas that use rare keywords, and those do not come with megabytes of input.
func fullBudget(d *Doc) int { return min(2_000_000+40*len(d.nodes), 12_000_000) }

// fits says whether the work of judging the document is within the budget.
func (w *weighing) fits(b *burden) bool {
	w.visit(b, 0)
	return w.left >= 0
}

// visit counts what applying b to the value at node i takes.
func (w *weighing) visit(b *burden, i uint32) {
	w.visits++
	if w.left -= 16 + w.depth/2; w.left < 0 || b.leaf {
		return
	}
	for k := len(w.chain) - 1; k >= 0 && w.chain[k].node == i; k-- {
		if w.chain[k].load == b {
			return
		}
		if k&7 == 0 {
			w.left--
		}
	}
	n := &w.d.nodes[i]
	if n.kind == Number && n.flags&flagInt == 0 {
		w.left -= figureCost(w.d.raw(i)) // to find out whether it is whole
	}
	if b.types != 0 && b.types&kindBit(n.kind) == 0 && (n.kind != Number || b.types&integerType == 0) {
		return
	}
	w.own(b, i)
	w.chain = append(w.chain, frame{b, i})
	for _, c := range b.same {
		w.visit(c, i)
	}
	for _, t := range b.turns {
		w.left -= len(w.chain) >> 3
		for _, c := range w.targets(t) {
			w.visit(c, i)
		}
	}
	switch n.kind {
	case Object:
		w.object(b, i)
	case Array:
		w.array(b, i)
	}
	w.chain = w.chain[:len(w.chain)-1]
}

// own charges for the keywords of b that apply no schema.
func (w *weighing) own(b *burden, i uint32) {
	n := &w.d.nodes[i]
	switch n.kind {
	case Number:
		cost := figureCost(w.d.raw(i))
		if b.numeric {
			w.left -= cost
		}
		w.left -= b.values*cost + b.weight
	case String:
		w.left -= b.values + int(n.end-n.start)>>5
		if b.pattern != nil {
			w.left -= b.pattern.cost(int(n.end - n.start))
		}
	case Array, Object:
		w.left -= b.values + b.weight
		if n.kind == Object {
			w.left -= b.lists
		} else if b.unique {
			w.left -= uniqueCost(w.d, i)
		}
	}
}

// figureCost is what reading a number as a fraction takes. A power of ten is written out.
func figureCost(literal []byte) int {
	cost := 10 + len(literal)>>1
	if bytes.ContainsAny(literal, "eE") {
		cost += 100
	}
	return cost
}

// uniqueCost is what finding equal elements takes: up to twenty are compared with each other, more are hashed.
func uniqueCost(d *Doc, i uint32) int {
	n := &d.nodes[i]
	inside := int(n.next-i) + int(n.end-n.start)>>4
	if n.b <= 20 {
		return 150 * inside
	}
	return 12 * inside
}

func (w *weighing) object(b *burden, i uint32) {
	w.left -= 4 * int(w.d.nodes[i].b)
	for _, dep := range b.deps {
		if _, ok := w.d.member(i, []byte(dep.name)); ok {
			w.visit(dep.load, i)
		}
	}
	w.depth++
	for _, k := range w.d.keys(i) {
		if w.left < 0 {
			break
		}
		w.member(b, k)
	}
	w.depth--
}

func (w *weighing) member(b *burden, k uint32) {
	name := w.d.str(k)
	c, mine := b.props[string(name)]
	if mine {
		w.visit(c, k+1)
	}
	for _, p := range b.patterns {
		w.left--
		if m, ok := p.re.(*matcher); ok {
			w.left -= m.cost(len(name))
		}
		if w.left >= 0 && p.re.MatchString(string(name)) {
			mine = true
			w.visit(p.load, k+1)
		}
	}
	if !mine && b.extra != nil {
		w.visit(b.extra, k+1)
	}
	if b.loose != nil && !mine && !b.handled {
		w.visit(b.loose, k+1)
	}
	if b.names != nil {
		// The other validator begins anew with a name: nothing is around it.
		around := w.chain
		w.chain = nil
		w.visit(b.names, k)
		w.chain = around
	}
}

func (w *weighing) array(b *burden, i uint32) {
	w.left -= 4 * int(w.d.nodes[i].b)
	w.depth++
	c := i + 1
	for k := range int(w.d.nodes[i].b) {
		if w.left < 0 {
			break
		}
		switch {
		case k < len(b.prefix):
			w.visit(b.prefix[k], c)
		case b.items != nil:
			w.visit(b.items, c)
		}
		if b.contains != nil {
			w.visit(b.contains, c)
		}
		if b.rest != nil && k >= len(b.prefix) && !b.covered {
			w.visit(b.rest, c)
		}
		c = w.d.nodes[c].next
	}
	w.depth--
}
