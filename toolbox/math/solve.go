package math

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// solver solves one equation.
type solver struct {
	w       *work
	retried bool // the search has been given its share of the work
}

// errNotExact says that exact methods do not apply.
var errNotExact = errors.New("no exact method applies")

// errHuge says that they do not because a value on the way is no float.
var errHuge = fmt.Errorf("%w: a value is too large", errNotExact)

const noteHuge = "a solution may be too large for a float"

// solve finds the real x with n = 0.
func solve(ctx context.Context, n *node) (answer, error) {
	s := &solver{w: newWork(ctx)}
	if err := static(n); err != nil {
		return answer{}, err
	}
	return s.zeros(n)
}

// zeros solves n = 0, by search if nothing else works.
func (s *solver) zeros(n *node) (answer, error) {
	a, err := s.exactZeros(n)
	if err == nil || !errors.Is(err, errNotExact) && !errors.Is(err, errTooHard) {
		return a, err
	}
	given := ""
	if errors.Is(err, errHuge) {
		given = noteHuge
	}
	if errors.Is(err, errTooHard) {
		if s.retried {
			return a, err
		}
		// One more try, by simpler means.
		s.retried = true
		s.w.left = maxWork / 2
		given = "an exact answer would need too much work"
	}
	a, err = s.scan(n)
	if given != "" {
		a.notes = append(a.notes, given)
	}
	return a, err
}

// exactZeros solves n = 0 by algebra and by undoing functions. Products and
// powers are taken apart, which also shows their multiple roots.
func (s *solver) exactZeros(n *node) (answer, error) {
	if !hasX(n) {
		return s.constantZero(n)
	}
	rd := reader{w: s.w}
	if f, ok := rd.read(n); ok {
		return f.zeros(s.w)
	}
	if inner, ok := sameZeros(n); ok {
		a, err := s.zeros(inner)
		if err != nil {
			return a, err
		}
		a.numeric = a.numeric || byFloats(n)
		return s.defined(n, a)
	}
	if n.class == classBinOp && n.op == "Mult" {
		var a answer
		for _, k := range factors(n) {
			b, err := s.zeros(k)
			if err != nil {
				return a, err
			}
			a.join(b)
		}
		return s.defined(n, a)
	}
	return s.equals(n, intNum(0))
}

// constantZero answers an equation without x in it.
func (s *solver) constantZero(n *node) (answer, error) {
	if c, ok := constOf(n); ok {
		return answer{identity: c.isZero()}, nil
	}
	v, err := evaluate(n)
	return answer{identity: v == 0}, err
}

// sameZeros finds a simpler expression that is zero where n is.
func sameZeros(n *node) (*node, bool) {
	switch n.class {
	case classUnaryOp:
		return n.kids[0], true
	case classCall:
		switch n.name {
		case "abs", "sqrt", "degrees", "radians", "asin", "atan":
			return n.kids[0], true
		}
	case classBinOp:
		switch n.op {
		case "Div":
			return n.kids[0], true
		case "Pow":
			if c, ok := constOf(n.kids[1]); ok && c.sign() > 0 {
				return n.kids[0], true
			}
		}
	}
	return nil, false
}

// byFloats says whether n is a function that symbolic algebra does not know:
// what is solved through it is called numeric.
func byFloats(n *node) bool {
	if n.class != classCall {
		return false
	}
	switch n.name {
	case "abs", "degrees", "radians", "log2", "log10":
		return true
	}
	return false
}

// factors lists what is multiplied.
func factors(n *node) []*node {
	var out []*node
	for n.class == classBinOp && n.op == "Mult" {
		out = append(out, n.kids[1])
		n = n.kids[0]
	}
	return append(out, n)
}

// defined leaves out solutions where the whole expression has no value, such
// as x = 0 for x*log(x).
func (s *solver) defined(n *node, a answer) (answer, error) {
	cost := 3 * evalCost(n) * (len(a.roots) + len(a.floats))
	if err := s.w.spend(cost); err != nil {
		return a, err
	}
	hasValue := func(x float64) bool {
		ev := evaluator{left: 2 * maxSource}
		_, err := ev.at(n, x)
		return err == nil || tooLarge(err)
	}
	near := func(x float64) bool { return hasValue(x) || hasValue(nextUp(x)) || hasValue(nextDown(x)) }
	a.roots = slices.DeleteFunc(a.roots, func(r num) bool {
		if r.rat != nil && r.v.lo == 0 {
			return !hasValue(r.v.hi)
		}
		return !near(r.v.hi)
	})
	a.floats = slices.DeleteFunc(a.floats, func(x float64) bool { return !near(x) })
	return a, nil
}

// tooLarge says that an expression has a value, but no float can hold it.
func tooLarge(err error) bool {
	return errors.Is(err, errRange) || errors.Is(err, errIntTooLarge) || errors.Is(err, errOverflow)
}

// static finds what makes an expression meaningless whatever x is, in the
// order in which the evaluator would.
func static(n *node) error {
	switch n.class {
	case classBinOp, classUnaryOp, classCall:
	default:
		ev := evaluator{hasX: true, left: 1}
		_, err := ev.eval(n)
		return err
	}
	for _, k := range n.kids {
		if err := static(k); err != nil {
			return err
		}
	}
	if n.class == classCall {
		return checkArity(n.name, len(n.kids))
	}
	return nil
}
