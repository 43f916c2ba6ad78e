package math

import (
	"math/big"
	"slices"
)

// ratfn is a quotient of polynomials. poles are polynomials at whose roots
// the expression it was made of has no value, although the quotient might.
type ratfn struct {
	num, den poly
	poles    []poly
}

func one() poly { return polyOf(big.NewRat(1, 1)) }

func ratfnOf(p poly) ratfn { return ratfn{num: p, den: one()} }

// reader turns trees into quotients of polynomials in one unknown: x, or the
// subexpressions written like atom, if it is set.
type reader struct {
	w    *work
	atom string
}

// isUnknown says whether n is what the polynomials are in.
func (r *reader) isUnknown(n *node) bool {
	if r.atom == "" {
		return n.class == className && n.name == "x"
	}
	return hasX(n) && formulaOf(n).text == r.atom
}

// read gives the quotient; ok is false if n is something else, or too large.
func (r *reader) read(n *node) (f ratfn, ok bool) {
	if r.w.spend(1) != nil {
		return f, false
	}
	if r.isUnknown(n) {
		return ratfnOf(polyOf(new(big.Rat), big.NewRat(1, 1))), true
	}
	if !hasX(n) {
		c, ok := constOf(n)
		if !ok || c.rat == nil {
			return f, false
		}
		return ratfnOf(polyOf(c.rat)), true
	}
	switch n.class {
	case classUnaryOp:
		f, ok = r.read(n.kids[0])
		if n.op == "USub" {
			f.num = f.num.neg()
		}
		return f, ok && (n.op == "USub" || n.op == "UAdd")
	case classBinOp:
		a, ok := r.read(n.kids[0])
		if !ok {
			return f, false
		}
		if n.op == "Pow" {
			return r.power(a, n.kids[1])
		}
		b, ok := r.read(n.kids[1])
		if !ok {
			return f, false
		}
		return r.combine(n.op, a, b)
	}
	return f, false
}

// power raises to a whole constant power.
func (r *reader) power(a ratfn, exponent *node) (f ratfn, ok bool) {
	c, ok := constOf(exponent)
	if !ok || hasX(exponent) || c.rat == nil || !c.rat.IsInt() || !c.rat.Num().IsInt64() {
		return f, false
	}
	k := c.rat.Num().Int64()
	if k < 0 {
		if a.num.isZero() {
			return f, false
		}
		a.poles = append(slices.Clip(a.poles), a.num)
		a.num, a.den, k = a.den, a.num, -k
	}
	if k < 0 || k > maxDegree && (a.num.degree() > 0 || a.den.degree() > 0) || k > maxCoefBits {
		return f, false
	}
	num, ok1 := a.num.pow(int(k))
	den, ok2 := a.den.pow(int(k))
	return ratfn{num, den, a.poles}, ok1 && ok2 && r.w.spend(100*len(num)*len(num)) == nil
}

func (r *reader) combine(op string, a, b ratfn) (f ratfn, ok bool) {
	if r.w.spend(20*len(a.num)*len(b.num)) != nil {
		return f, false
	}
	f.poles = slices.Concat(a.poles, b.poles)
	ok = true
	mul := func(p, q poly) poly {
		if !ok {
			return nil
		}
		var res poly
		res, ok = p.mul(q)
		return res
	}
	switch op {
	case "Add", "Sub":
		if op == "Sub" {
			b.num = b.num.neg()
		}
		f.num, f.den = mul(a.num, b.den).add(mul(b.num, a.den)), mul(a.den, b.den)
	case "Mult":
		f.num, f.den = mul(a.num, b.num), mul(a.den, b.den)
	case "Div":
		if b.num.isZero() {
			return f, false
		}
		f.num, f.den = mul(a.num, b.den), mul(a.den, b.num)
		f.poles = append(f.poles, b.num)
	default:
		return f, false
	}
	return f, ok
}

// zeros solves f = 0.
func (f ratfn) zeros(w *work) (answer, error) {
	switch f.num.degree() {
	case -1:
		return answer{identity: true}, nil
	case 0:
		return answer{}, nil
	}
	p, err := squareFree(w, f.num)
	if err != nil {
		return answer{}, err
	}
	for _, pole := range f.poles {
		if pole.degree() < 1 {
			continue
		}
		g, err := gcdPoly(w, p, pole)
		if err != nil {
			return answer{}, err
		}
		if g.degree() > 0 {
			p, _ = p.divide(g)
		}
	}
	if p.degree() < 1 {
		return answer{}, nil
	}
	roots, err := realRoots(w, p)
	if err != nil {
		return answer{}, err
	}
	var a answer
	for _, r := range roots {
		a.roots = append(a.roots, r.num)
	}
	return a, nil
}
