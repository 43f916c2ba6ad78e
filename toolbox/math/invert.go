package math

import (
	"errors"
	"math/big"
)

// equals solves n = c by undoing, from the outside in, one operation after
// the other for as long as x is on one side of it only.
func (s *solver) equals(n *node, c num) (answer, error) {
	if err := s.w.spend(10); err != nil {
		return answer{}, err
	}
	if !c.ok() {
		return answer{}, errHuge
	}
	if !hasX(n) {
		k, ok := constOf(n)
		if !ok {
			return answer{}, errNotExact
		}
		return answer{identity: k.sub(c).isZero()}, nil
	}
	if n.class == className {
		return answer{roots: []num{c}}, nil
	}
	rd := reader{w: s.w}
	if f, ok := rd.read(n); ok && c.rat != nil {
		scaled := f.den.scale(c.rat)
		f.num = f.num.sub(scaled)
		return f.zeros(s.w)
	}
	a, err := s.undo(n, c)
	if err == nil || !errors.Is(err, errNotExact) {
		return a, err
	}
	b, further := s.substitute(n, c)
	if errors.Is(further, errNotExact) {
		return a, err // it may say more
	}
	return b, further
}

// undo takes off the outermost operation.
func (s *solver) undo(n *node, c num) (answer, error) {
	switch n.class {
	case classUnaryOp:
		if n.op == "USub" {
			c = c.neg()
		}
		return s.equals(n.kids[0], c)
	case classCall:
		return s.undoCall(n, c)
	case classBinOp:
		left, right := n.kids[0], n.kids[1]
		switch {
		case !hasX(right):
			if k, ok := constOf(right); ok {
				return s.undoLeft(n.op, left, k, c)
			}
		case !hasX(left):
			if k, ok := constOf(left); ok {
				return s.undoRight(n.op, k, right, c)
			}
		}
	}
	return answer{}, errNotExact
}

// undoLeft solves n op k = c.
func (s *solver) undoLeft(op string, n *node, k, c num) (answer, error) {
	switch op {
	case "Add":
		return s.equals(n, c.sub(k))
	case "Sub":
		return s.equals(n, c.add(k))
	case "Mult":
		if k.isZero() {
			return answer{identity: c.isZero()}, nil
		}
		return s.equals(n, c.div(k))
	case "Div":
		if k.isZero() {
			return answer{}, errNotExact
		}
		return s.equals(n, c.mul(k))
	case "Pow":
		return s.undoPower(n, k, c)
	}
	return answer{}, errNotExact
}

// undoRight solves k op n = c.
func (s *solver) undoRight(op string, k num, n *node, c num) (answer, error) {
	switch op {
	case "Add", "Mult":
		return s.undoLeft(op, n, k, c)
	case "Sub":
		return s.equals(n, k.sub(c))
	case "Div":
		switch {
		case k.isZero():
			return answer{identity: c.isZero()}, nil
		case c.isZero():
			return answer{}, nil
		}
		return s.equals(n, k.div(c))
	case "Pow":
		if k.sign() <= 0 || k.logIsZero() {
			return answer{}, errNotExact
		}
		if c.sign() <= 0 {
			return answer{}, nil
		}
		return s.equals(n, c.logBase(k))
	}
	return answer{}, errNotExact
}

// undoPower solves n**k = c. A power that is not whole needs n >= 0.
func (s *solver) undoPower(n *node, k, c num) (answer, error) {
	if k.isZero() {
		return answer{}, errNotExact
	}
	if c.isZero() {
		if k.sign() < 0 {
			return answer{}, nil
		}
		return s.equals(n, intNum(0))
	}
	whole := k.rat != nil && k.rat.IsInt()
	odd := whole && k.rat.Num().Bit(0) == 1
	inverse := intNum(1).div(k)
	switch {
	case c.sign() < 0 && !odd:
		return answer{}, nil
	case c.sign() < 0:
		return s.equals(n, c.neg().pow(inverse).neg())
	case whole && !odd:
		return s.either(n, c.pow(inverse))
	}
	return s.equals(n, c.pow(inverse))
}

// either solves n = c or n = -c.
func (s *solver) either(n *node, c num) (answer, error) {
	a, err := s.equals(n, c)
	if err != nil {
		return a, err
	}
	b, err := s.equals(n, c.neg())
	a.join(b)
	return a, err
}

// undoCall solves f(n) = c.
func (s *solver) undoCall(n *node, c num) (answer, error) {
	arg := n.kids[0]
	halfPi := computed(ddHalfPi(), 0, formula{})
	var inner num
	ok := true
	switch n.name {
	case "exp":
		if c.sign() <= 0 {
			return answer{}, nil
		}
		inner = c.log()
	case "log":
		if len(n.kids) == 2 {
			return s.undoLogBase(n, c)
		}
		if inner, ok = c.exp(); !ok && c.sign() > 0 {
			return answer{}, errHuge
		}
	case "sqrt":
		if c.sign() < 0 {
			return answer{}, nil
		}
		inner = c.mul(c)
	case "asin", "atan":
		if out := halfPi.sub(c).sign() * halfPi.add(c).sign(); out < 0 || out == 0 && n.name == "atan" {
			return answer{}, nil
		}
		inverse := map[string]string{"asin": "sin", "atan": "tan"}[n.name]
		inner, ok = c.trig(inverse)
	case "acos":
		if c.sign() < 0 || c.sub(halfPi.add(halfPi)).sign() > 0 {
			return answer{}, nil
		}
		inner, ok = c.trig("cos")
	case "sin", "cos":
		if c.sub(intNum(1)).sign() > 0 || c.add(intNum(1)).sign() < 0 {
			return answer{}, nil
		}
		return answer{}, errNotExact
	case "log10", "log2":
		base := map[string]int64{"log10": 10, "log2": 2}[n.name]
		inner = intNum(base).pow(c)
	case "degrees":
		inner = c.mul(halfPi).div(intNum(90))
	case "radians":
		inner = c.mul(intNum(90)).div(halfPi)
	case "abs":
		if c.sign() < 0 {
			return answer{numeric: true}, nil
		}
		a, err := s.either(arg, c)
		a.numeric = true
		return a, err
	default:
		return answer{}, errNotExact
	}
	if !ok {
		return answer{}, errNotExact
	}
	a, err := s.equals(arg, inner)
	a.numeric = a.numeric || byFloats(n)
	return a, err
}

// undoLogBase solves log(n, base) = c and log(k, n) = c.
func (s *solver) undoLogBase(n *node, c num) (answer, error) {
	arg, base := n.kids[0], n.kids[1]
	if !hasX(base) {
		if b, ok := constOf(base); ok && b.sign() > 0 && !b.logIsZero() {
			return s.equals(arg, b.pow(c))
		}
	}
	if !hasX(arg) && !c.isZero() {
		if k, ok := constOf(arg); ok && k.sign() > 0 && !k.logIsZero() {
			return s.equals(base, k.pow(intNum(1).div(c)))
		}
	}
	return answer{}, errNotExact
}

// quadratic solves a*x² + b*x + c = 0 for coefficients that need not be
// rational, a not zero.
func quadratic(a, b, c num) answer {
	disc := b.mul(b).sub(intNum(4).mul(a).mul(c))
	twice := intNum(2).mul(a)
	switch disc.sign() {
	case -1:
		return answer{}
	case 0:
		return answer{roots: []num{b.neg().div(twice)}}
	}
	r := disc.pow(ratNum(big.NewRat(1, 2)))
	if c.isZero() {
		return answer{roots: []num{intNum(0), b.neg().div(a)}}
	}
	// The root without cancellation first; the other by their product.
	var q num
	if b.sign() > 0 {
		q = b.neg().sub(r)
	} else {
		q = b.neg().add(r)
	}
	x1, x2 := q.div(twice), intNum(2).mul(c).div(q)
	if r.form.known() && b.form.known() && twice.form.known() {
		f1, f2 := addFormula(b.neg().form, r.form), subFormula(b.neg().form, r.form)
		if b.sign() > 0 {
			f1, f2 = f2, f1
		}
		x1.form, x2.form = divFormula(f1, twice.form), divFormula(f2, twice.form)
	}
	return answer{roots: []num{x1, x2}}
}
