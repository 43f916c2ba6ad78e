package math

// surd is a + b*u, where u is the square root of a known g.
type surd struct{ a, b ratfn }

// surd reads a tree in which u is written like root; everything else in it
// must be a quotient of polynomials.
func (r *reader) surd(n *node, root string, g ratfn) (f surd, ok bool) {
	if hasX(n) && formulaOf(n).text == root {
		return surd{ratfnOf(nil), ratfnOf(one())}, true
	}
	if a, ok := r.read(n); ok {
		return surd{a, ratfnOf(nil)}, true
	}
	switch n.class {
	case classUnaryOp:
		f, ok = r.surd(n.kids[0], root, g)
		if n.op == "USub" {
			f.a.num, f.b.num = f.a.num.neg(), f.b.num.neg()
		}
		return f, ok
	case classBinOp:
		a, ok := r.surd(n.kids[0], root, g)
		if !ok {
			return f, false
		}
		if n.op == "Pow" {
			return r.surdPower(a, n.kids[1], g)
		}
		b, ok := r.surd(n.kids[1], root, g)
		if !ok {
			return f, false
		}
		return r.combineSurds(n.op, a, b, g)
	}
	return f, false
}

// surdPower multiplies out small whole powers.
func (r *reader) surdPower(a surd, exponent *node, g ratfn) (surd, bool) {
	c, ok := constOf(exponent)
	if !ok || hasX(exponent) || c.rat == nil || !c.rat.IsInt() || c.sign() <= 0 || c.v.hi > 8 {
		return surd{}, false
	}
	f := a
	for range int(c.v.hi) - 1 {
		if f, ok = r.combineSurds("Mult", f, a, g); !ok {
			return surd{}, false
		}
	}
	return f, true
}

func (r *reader) combineSurds(op string, p, q surd, g ratfn) (f surd, ok bool) {
	ok = true
	do := func(op string, a, b ratfn) ratfn {
		if !ok {
			return ratfn{}
		}
		var res ratfn
		res, ok = r.combine(op, a, b)
		return res
	}
	switch op {
	case "Add", "Sub":
		f = surd{do(op, p.a, q.a), do(op, p.b, q.b)}
	case "Mult":
		f.a = do("Add", do("Mult", p.a, q.a), do("Mult", do("Mult", p.b, q.b), g))
		f.b = do("Add", do("Mult", p.a, q.b), do("Mult", p.b, q.a))
	case "Div":
		// Multiply by the conjugate of the divisor.
		n, good := r.norm(q, g)
		if !good {
			return f, false
		}
		q.b.num = q.b.num.neg()
		m, good := r.combineSurds("Mult", p, q, g)
		if !good {
			return f, false
		}
		f = surd{do("Div", m.a, n), do("Div", m.b, n)}
	default:
		return f, false
	}
	return f, ok
}

// norm is a² - b²*g.
func (r *reader) norm(f surd, g ratfn) (ratfn, bool) {
	a, ok := r.combine("Mult", f.a, f.a)
	if !ok {
		return a, false
	}
	b, ok := r.combine("Mult", f.b, f.b)
	if !ok {
		return b, false
	}
	if b, ok = r.combine("Mult", b, g); !ok {
		return b, false
	}
	return r.combine("Sub", a, b)
}
