package math

import (
	"math/big"
	"slices"
	"strings"
)

// hasX says whether the unknown occurs in a tree.
func hasX(n *node) bool {
	switch n.class {
	case className:
		return n.name == "x"
	case classCall, classBinOp, classUnaryOp:
		if slices.ContainsFunc(n.kids, hasX) {
			return true
		}
	}
	return false
}

// literalRat is the exact value of a literal: 0.1 means one tenth here, not
// the float next to it. Exponents that would make long numbers are refused.
func literalRat(n *node) (*big.Rat, bool) {
	lower := strings.ToLower(n.lit)
	switch {
	case n.name == "int" || n.name == "bool":
		if len(n.lit) > maxCoefBits/4 {
			return nil, false
		}
		return new(big.Rat).SetInt(literalInt(n.lit)), true
	case n.name != "float":
		return nil, false
	}
	if _, e, ok := strings.Cut(lower, "e"); ok && len(strings.TrimLeft(e, "+-0")) > 3 {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(lower)
	return r, ok && r.Num().BitLen() <= maxCoefBits && r.Denom().BitLen() <= maxCoefBits
}

// constOf computes a tree without x: exactly where it can, else to some 100
// bits. ok is false if it has no finite value or is not understood here; the
// float evaluator then has the last word.
func constOf(n *node) (c num, ok bool) {
	switch n.class {
	case classConstant:
		r, ok := literalRat(n)
		if !ok {
			return num{}, false
		}
		return ratNum(r), true
	case className:
		switch n.name {
		case "pi":
			return computed(ddPi(), 0, formula{"pi", precAtom}), true
		case "tau":
			return computed(ddPi().scale(2), 0, formula{"tau", precAtom}), true
		case "e":
			m, k := ddExp(ddOf(1))
			return computed(m.scale(float64(int(1)<<k)), 0, formula{"e", precAtom}), true
		}
		return num{}, false
	case classUnaryOp:
		a, ok := constOf(n.kids[0])
		if n.op == "USub" {
			a = a.neg()
		}
		return a, ok && (n.op == "USub" || n.op == "UAdd")
	case classBinOp:
		a, ok := constOf(n.kids[0])
		if !ok {
			return num{}, false
		}
		b, ok := constOf(n.kids[1])
		if !ok {
			return num{}, false
		}
		c, ok = constBinary(n.op, a, b)
		return c, ok && c.ok()
	case classCall:
		if len(n.kids) == 0 {
			return num{}, false
		}
		args := make([]num, len(n.kids))
		for i, k := range n.kids {
			if args[i], ok = constOf(k); !ok {
				return num{}, false
			}
		}
		if checkArity(n.name, len(args)) != nil {
			return num{}, false
		}
		c, ok = constCall(n.name, args)
		return c, ok && c.ok()
	}
	return num{}, false
}

func constBinary(op string, a, b num) (num, bool) {
	switch op {
	case "Add":
		return a.add(b), true
	case "Sub":
		return a.sub(b), true
	case "Mult":
		return a.mul(b), true
	case "Div":
		if b.isZero() {
			return num{}, false
		}
		return a.div(b), true
	case "FloorDiv", "Mod":
		if a.rat == nil || b.rat == nil || b.isZero() {
			return num{}, false
		}
		q := ratNum(new(big.Rat).SetInt(floorRat(a.div(b).rat)))
		if op == "Mod" {
			return a.sub(q.mul(b)), true
		}
		return q, true
	case "Pow":
		switch whole := b.rat != nil && b.rat.IsInt(); {
		case b.isZero():
			return intNum(1), b.rat != nil
		case a.isZero():
			return intNum(0), a.rat != nil && b.sign() > 0
		case a.sign() < 0 && !whole:
			return num{}, false
		}
		return a.pow(b), true
	}
	return num{}, false
}

// constCall applies a function to known numbers.
func constCall(name string, args []num) (num, bool) {
	a := args[0]
	switch name {
	case "sqrt":
		if a.sign() < 0 {
			return num{}, false
		}
		if a.isZero() {
			return intNum(0), true
		}
		return a.pow(ratNum(big.NewRat(1, 2))), true
	case "abs":
		if a.sign() < 0 {
			return a.neg(), true
		}
		return a, true
	case "log":
		if len(args) == 2 {
			if a.sign() <= 0 || args[1].sign() <= 0 || args[1].logIsZero() {
				return num{}, false
			}
			return a.logBase(args[1]), true
		}
		if a.sign() <= 0 {
			return num{}, false
		}
		return a.log(), true
	case "floor", "ceil":
		if a.rat == nil {
			return num{}, false
		}
		if name == "ceil" {
			return ratNum(new(big.Rat).SetInt(floorRat(a.neg().rat))).neg(), true
		}
		return ratNum(new(big.Rat).SetInt(floorRat(a.rat))), true
	case "exp":
		return a.exp()
	case "sin", "cos", "tan", "asin", "acos", "atan":
		return a.trig(name)
	}
	// The others are taken as the floats they are.
	xs := make([]float64, len(args))
	for i, v := range args {
		xs[i] = v.v.hi
	}
	f, err := apply(name, xs)
	if err != nil || !finite(f) {
		return num{}, false
	}
	switch name {
	case "factorial", "gcd", "lcm", "round":
		return ratNum(new(big.Rat).SetFloat64(f)), true
	}
	forms := make([]formula, len(args))
	for i, v := range args {
		forms[i] = v.form
	}
	return num{v: ddOf(f), err: 0x1p-50 * f, form: callFormula(name, forms...)}, true
}
