package math

import "math"

// jet is a value with its derivative and a bound on how far rounding may
// have moved it. The bound tells a zero from a small number, the derivative
// finds where a curve touches zero.
type jet struct {
	v, d, e float64
	under   bool // something on the way was too small for a float
}

const halfUlp = 0x1p-53

// rounded adds the rounding of the last operation.
func (j jet) rounded() jet {
	j.e = math.Abs(j.e) + math.Abs(j.v)*halfUlp
	return j
}

// jetAt computes n at x, which itself may be off by xErr.
func jetAt(n *node, x, xErr float64) (jet, error) {
	switch n.class {
	case classConstant:
		j := jet{v: n.num}
		if n.num != math.Trunc(n.num) {
			j = j.rounded()
		}
		return j, n.numErr
	case className:
		if n.name == "x" {
			return jet{v: x, d: 1, e: xErr}, nil
		}
		v, _ := constant(n.name)
		return jet{v: v}.rounded(), nil
	case classUnaryOp:
		j, err := jetAt(n.kids[0], x, xErr)
		if n.op == "USub" {
			j.v, j.d = -j.v, -j.d
		}
		return j, err
	}
	args := make([]jet, len(n.kids))
	vals := make([]float64, len(n.kids))
	under := false
	for i, k := range n.kids {
		j, err := jetAt(k, x, xErr)
		if err != nil {
			return jet{}, err
		}
		args[i], vals[i] = j, j.v
		under = under || j.under
	}
	var j jet
	var err error
	if n.class == classBinOp {
		j.v, err = binaryValue(n.op, vals[0], vals[1])
		j = jetBinary(n.op, args[0], args[1], j)
	} else {
		j.v, err = apply(n.name, vals)
		j = jetCall(n.name, args, j)
	}
	j = j.rounded()
	j.under = j.under || under
	return j, err
}

// jetBinary fills in derivative and error of a op b, whose value is in j.
func jetBinary(op string, a, b, j jet) jet {
	switch op {
	case "Add":
		j.d, j.e = a.d+b.d, a.e+b.e
	case "Sub":
		j.d, j.e = a.d-b.d, a.e+b.e
	case "Mult":
		j.d = a.d*b.v + a.v*b.d
		j.e = math.Abs(a.v)*b.e + math.Abs(b.v)*a.e
		j.under = lost(j.v, a.v != 0 && b.v != 0)
	case "Div":
		j.d = (a.d - j.v*b.d) / b.v
		j.e = (a.e + math.Abs(j.v)*b.e) / math.Abs(b.v)
		j.under = lost(j.v, a.v != 0)
	case "Mod":
		q := math.Floor(a.v / b.v)
		j.d, j.e = a.d-q*b.d, a.e+math.Abs(q)*b.e
	case "Pow":
		j.under = lost(j.v, a.v != 0)
		if a.v == 0 {
			switch {
			case b.v == 1:
				j.d = a.d
			case b.v < 1:
				j.d = math.Inf(1)
			}
			j.e = math.Pow(a.e, b.v)
			break
		}
		l := 0.0
		if a.v > 0 {
			l = math.Log(a.v)
		}
		j.d = j.v * (b.v/a.v*a.d + l*b.d)
		j.e = math.Abs(j.v) * (math.Abs(b.v/a.v)*a.e + math.Abs(l)*b.e + 4*halfUlp)
	}
	return j
}

// lost says that a value that cannot be zero, or not that small, is.
func lost(v float64, nonzero bool) bool { return nonzero && math.Abs(v) < 0x1p-1022 }

// jetCall fills in derivative and error of a function value in j. What goes
// in steps has the derivative zero.
func jetCall(name string, args []jet, j jet) jet {
	if len(args) == 0 {
		return j
	}
	a := args[0]
	slope := 0.0
	switch name {
	case "abs":
		slope = math.Copysign(1, a.v)
	case "sqrt":
		if j.v == 0 {
			return jet{v: 0, d: math.Inf(1), e: math.Sqrt(a.e)}
		}
		slope = 1 / (2 * j.v)
	case "exp":
		slope = j.v
		j.under = lost(j.v, true)
	case "log":
		slope = 1 / a.v
		if len(args) == 2 {
			return jetLogBase(a, args[1], j)
		}
	case "log2":
		slope = 1 / (a.v * math.Ln2)
	case "log10":
		slope = 1 / (a.v * math.Ln10)
	case "sin":
		slope = math.Cos(a.v)
	case "cos":
		slope = -math.Sin(a.v)
	case "tan":
		slope = 1 + j.v*j.v
	case "asin":
		slope = 1 / math.Sqrt((1-a.v)*(1+a.v))
	case "acos":
		slope = -1 / math.Sqrt((1-a.v)*(1+a.v))
	case "atan":
		slope = 1 / (1 + a.v*a.v)
	case "atan2":
		b := args[1]
		r := a.v*a.v + b.v*b.v
		j.d = (b.v*a.d - a.v*b.d) / r
		j.e = (math.Abs(b.v)*a.e + math.Abs(a.v)*b.e) / r
		return j
	case "degrees":
		slope = 180 / math.Pi
	case "radians":
		slope = math.Pi / 180
	default:
		return j
	}
	j.d = slope * a.d
	j.e = math.Abs(slope) * a.e
	if name == "sin" || name == "cos" {
		j.e += a.e * a.e // where the slope is zero
	}
	return j
}

func jetLogBase(a, b, j jet) jet {
	l := math.Log(b.v)
	j.d = (a.d/a.v - j.v*b.d/b.v) / l
	j.e = (math.Abs(a.e/a.v) + math.Abs(j.v*b.e/b.v)) / math.Abs(l)
	return j
}
