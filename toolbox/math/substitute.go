package math

import (
	"errors"
	"math"
	"math/big"
)

// substitute solves n = c where x occurs in several places, in three ways:
// as a quadratic with coefficients such as pi; as a polynomial in something
// that occurs again and again, such as exp(x); as an equation with one
// square root.
func (s *solver) substitute(n *node, c num) (answer, error) {
	if k, ok := coefficients(n); ok {
		k[0] = k[0].sub(c)
		switch {
		case !k[2].isZero():
			return quadratic(k[2], k[1], k[0]), nil
		case k[2].rat != nil && !k[1].isZero():
			return answer{roots: []num{k[0].neg().div(k[1])}}, nil
		}
		return answer{}, errNotExact
	}
	var at atoms
	at.collect(n)
	if at.unclear || at.node == nil || c.rat == nil || at.node == n {
		return answer{}, errNotExact
	}
	if at.bareX {
		return s.oneRoot(n, at.node, c)
	}
	rd := reader{w: s.w, atom: at.text}
	f, ok := rd.read(n)
	if !ok {
		return answer{}, errNotExact
	}
	f.num = f.num.sub(f.den.scale(c.rat))
	inner, err := f.zeros(s.w)
	if err != nil || inner.identity {
		return inner, err
	}
	simple, err := squareFree(s.w, f.num)
	if err != nil {
		return answer{}, err
	}
	multiple := simple.degree() < f.num.degree()
	var a answer
	for _, u := range inner.roots {
		b, err := s.equals(at.node, u)
		if errors.Is(err, errNotExact) && multiple {
			// Taken apart, a search finds the multiple roots more easily.
			b, err = s.scan(minus(at.node, u))
		}
		if err != nil {
			return a, err
		}
		a.join(b)
	}
	return s.defined(n, a)
}

// minus is the tree of n-u.
func minus(n *node, u num) *node {
	if u.exactZero() {
		return n
	}
	return binNode("Sub", n, &node{class: classConstant, name: "float", num: u.v.hi})
}

// atoms collects what a tree is a polynomial in.
type atoms struct {
	bareX   bool
	node    *node  // the one thing other than x
	text    string // how it is written
	unclear bool   // there are several such things, or too long ones
}

func (at *atoms) collect(n *node) {
	switch {
	case !hasX(n):
		return
	case n.class == className:
		at.bareX = true
		return
	case n.class == classUnaryOp:
		at.collect(n.kids[0])
		return
	case n.class == classBinOp:
		switch n.op {
		case "Add", "Sub", "Mult", "Div":
			at.collect(n.kids[0])
			at.collect(n.kids[1])
			return
		case "Pow":
			if c, ok := constOf(n.kids[1]); ok && c.rat != nil && c.rat.IsInt() {
				at.collect(n.kids[0])
				return
			}
		}
	}
	f := formulaOf(n)
	if !f.known() || at.node != nil && at.text != f.text {
		at.unclear = true
		return
	}
	at.node, at.text = n, f.text
}

// coefficients reads a tree as a polynomial of degree two at most, with any
// constants as coefficients.
func coefficients(n *node) (k [3]num, ok bool) {
	k = [3]num{intNum(0), intNum(0), intNum(0)}
	if !hasX(n) {
		k[0], ok = constOf(n)
		return k, ok
	}
	switch n.class {
	case className:
		k[1] = intNum(1)
		return k, true
	case classUnaryOp:
		k, ok = coefficients(n.kids[0])
		for i := range k {
			if n.op == "USub" {
				k[i] = k[i].neg()
			}
		}
		return k, ok
	case classBinOp:
		a, ok := coefficients(n.kids[0])
		if !ok {
			return k, false
		}
		if n.op == "Pow" {
			if c, ok := constOf(n.kids[1]); !ok || c.rat == nil || c.rat.Cmp(big.NewRat(2, 1)) != 0 {
				return k, false
			}
			return multiply(a, a)
		}
		b, ok := coefficients(n.kids[1])
		if !ok {
			return k, false
		}
		switch n.op {
		case "Add":
			return [3]num{a[0].add(b[0]), a[1].add(b[1]), a[2].add(b[2])}, true
		case "Sub":
			return [3]num{a[0].sub(b[0]), a[1].sub(b[1]), a[2].sub(b[2])}, true
		case "Mult":
			return multiply(a, b)
		case "Div":
			if hasX(n.kids[1]) || b[0].isZero() {
				return k, false
			}
			return [3]num{a[0].div(b[0]), a[1].div(b[0]), a[2].div(b[0])}, true
		}
	}
	return k, false
}

func multiply(a, b [3]num) (k [3]num, ok bool) {
	k = [3]num{intNum(0), intNum(0), intNum(0)}
	for i := range a {
		for j := range b {
			if a[i].exactZero() || b[j].exactZero() {
				continue
			}
			if i+j > 2 {
				return k, false
			}
			k[i+j] = k[i+j].add(a[i].mul(b[j]))
		}
	}
	return k, true
}

// oneRoot solves an equation with one square root u = sqrt(g) and x outside
// of it too: with n written as a + b*u, the solutions are among those of
// a² - b²*g = 0.
func (s *solver) oneRoot(n, atom *node, c num) (answer, error) {
	var under *node
	switch {
	case atom.class == classCall && atom.name == "sqrt":
		under = atom.kids[0]
	case atom.class == classBinOp && atom.op == "Pow":
		if k, ok := constOf(atom.kids[1]); !ok || k.rat == nil || k.rat.Cmp(big.NewRat(1, 2)) != 0 {
			return answer{}, errNotExact
		}
		under = atom.kids[0]
	default:
		return answer{}, errNotExact
	}
	rd := reader{w: s.w}
	g, ok := rd.read(under)
	if !ok {
		return answer{}, errNotExact
	}
	f, ok := rd.surd(n, formulaOf(atom).text, g)
	if !ok {
		return answer{}, errNotExact
	}
	shifted, ok := rd.combine("Sub", f.a, ratfnOf(polyOf(c.rat)))
	if !ok {
		return answer{}, errNotExact
	}
	norm, ok := rd.norm(surd{shifted, f.b}, g)
	if !ok {
		return answer{}, errNotExact
	}
	a, err := norm.zeros(s.w)
	if err != nil || a.identity {
		return answer{}, errNotExact
	}
	// Squaring has added the solutions for the other sign of the root.
	full := minus(n, c)
	var kept answer
	for _, r := range a.roots {
		x := r.v.hi
		j, err := jetAt(full, x, math.Abs(x)*0x1p-52)
		if err == nil && math.Abs(j.v) <= 1024*j.e {
			kept.roots = append(kept.roots, r)
		}
	}
	return kept, nil
}
