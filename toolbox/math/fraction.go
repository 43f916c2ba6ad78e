package math

import "math"

// fraction writes n as a quotient whose parts have no poles where n has
// simple ones: 1/x, or tan as sine over cosine. den is nil if there is
// nothing to divide by.
func fraction(n *node) (num, den *node) {
	switch n.class {
	case classUnaryOp:
		num, den = fraction(n.kids[0])
		if den == nil {
			return n, nil
		}
		return &node{class: classUnaryOp, op: n.op, kids: []*node{num}}, den
	case classCall:
		if n.name == "tan" && hasX(n) {
			return callNode("sin", n.kids[0]), callNode("cos", n.kids[0])
		}
	case classBinOp:
		a, b := n.kids[0], n.kids[1]
		an, ad := fraction(a)
		if n.op == "Pow" {
			c, ok := constOf(b)
			if ad == nil || !ok || c.rat == nil || !c.rat.IsInt() || c.sign() <= 0 {
				return n, nil
			}
			return binNode("Pow", an, b), binNode("Pow", ad, b)
		}
		bn, bd := fraction(b)
		switch n.op {
		case "Add", "Sub":
			if ad == nil && bd == nil {
				return n, nil
			}
			return binNode(n.op, timesNode(an, bd), timesNode(bn, ad)), timesNode(ad, bd)
		case "Mult":
			if ad == nil && bd == nil {
				return n, nil
			}
			return binNode("Mult", an, bn), timesNode(ad, bd)
		case "Div":
			if ad == nil && !hasX(bn) && bd == nil {
				return n, nil
			}
			return timesNode(an, bd), timesNode(bn, ad)
		}
	}
	return n, nil
}

func binNode(op string, a, b *node) *node {
	return &node{class: classBinOp, op: op, kids: []*node{a, b}}
}

func callNode(name string, arg *node) *node {
	return &node{class: classCall, name: name, kids: []*node{arg}}
}

// timesNode multiplies; nil stands for one.
func timesNode(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return binNode("Mult", a, b)
}

// maxFraction bounds how much longer an expression may get as a quotient.
const maxFraction = 4

// scan searches for the zeros of n. If n has poles its numerator is searched
// too: next to a pole the zeros of n itself are easily overlooked.
func (s *solver) scan(n *node) (answer, error) {
	a, err := s.scanValues(n)
	if err != nil || a.identity {
		return a, err
	}
	num, den := fraction(n)
	if den == nil || evalCost(num) > maxFraction*evalCost(n) {
		return a, nil
	}
	b, err := s.scanValues(num)
	if err != nil {
		return a, err
	}
	var more []float64
	for _, x := range b.floats {
		known := false
		for _, r := range a.floats {
			known = known || math.Abs(r-x) < sameRoot
		}
		if known {
			continue
		}
		if err := s.w.spend(evalCost(den)); err != nil {
			return a, err
		}
		// x is a rounded root: the divisor must be clear of zero around it.
		if j, err := jetAt(den, x, 1e-9); err == nil && math.Abs(j.v) > 8*j.e {
			more = append(more, x)
		}
	}
	a.floats = append(a.floats, more...)
	return s.defined(n, a)
}
