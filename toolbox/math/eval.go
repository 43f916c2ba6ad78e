package math

import (
	"fmt"
	"math"
)

// evaluator computes the value of a syntax tree in floats, in Python's order:
// which of several errors is reported depends on it.
type evaluator struct {
	x    float64 // the value of the name x
	hasX bool
	left int // nodes that may still be visited
}

const errTooMuchWork = evalError("expression needs too much work")

// evaluate computes an expression without unknowns. Each node is visited
// once, and the length of the text bounds their number.
func evaluate(n *node) (float64, error) {
	ev := evaluator{left: 2 * maxSource}
	return ev.eval(n)
}

// at computes the value at x.
func (ev *evaluator) at(n *node, x float64) (float64, error) {
	ev.x, ev.hasX = x, true
	return ev.eval(n)
}

func (ev *evaluator) eval(n *node) (float64, error) {
	if ev.left <= 0 {
		return 0, errTooMuchWork
	}
	ev.left--
	switch n.class {
	case classConstant:
		if n.name == "complex" {
			return 0, evalError("Unsupported constant type: <class 'complex'>")
		}
		return n.num, n.numErr
	case className:
		return ev.variable(n.name)
	case classCall:
		return ev.call(n)
	case classBinOp:
		a, err := ev.eval(n.kids[0])
		if err != nil {
			return 0, err
		}
		b, err := ev.eval(n.kids[1])
		if err != nil {
			return 0, err
		}
		return binaryValue(n.op, a, b)
	case classUnaryOp:
		a, err := ev.eval(n.kids[0])
		if n.op == "USub" {
			a = -a
		}
		return a, err
	}
	return 0, fmt.Errorf("no such node: %s", n.class)
}

func (ev *evaluator) variable(name string) (float64, error) {
	if name == "x" && ev.hasX {
		return ev.x, nil
	}
	if v, ok := constant(name); ok {
		return v, nil
	}
	if isFunction(name) {
		return 0, evalError("'" + name + "' is a function, not a constant")
	}
	return 0, evalError("Unknown name: '" + name + "'")
}

// constant gives the named constants.
func constant(name string) (float64, bool) {
	switch name {
	case "pi":
		return math.Pi, true
	case "e":
		return math.E, true
	case "tau":
		return 2 * math.Pi, true
	case "inf":
		return math.Inf(1), true
	}
	return 0, false
}

func (ev *evaluator) call(n *node) (float64, error) {
	args := make([]float64, len(n.kids))
	for i, k := range n.kids {
		v, err := ev.eval(k)
		if err != nil {
			return 0, err
		}
		args[i] = v
	}
	return apply(n.name, args)
}

// binaryValue computes an operator.
func binaryValue(op string, a, b float64) (float64, error) {
	switch op {
	case "Add":
		return a + b, nil
	case "Sub":
		return a - b, nil
	case "Mult":
		return a * b, nil
	case "Div":
		return pyDiv(a, b)
	case "FloorDiv":
		return pyFloorDiv(a, b)
	case "Mod":
		return pyMod(a, b)
	case "Pow":
		return pyPow(a, b)
	}
	return 0, fmt.Errorf("no such operator: %s", op)
}
