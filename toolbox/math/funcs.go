package math

import (
	"fmt"
	"math"
	"math/big"
)

const (
	errDomain = evalError("math domain error")
	errRange  = evalError("math range error")
)

// arity gives how many arguments a function takes, at least and at most; the
// most is -1 for any number. ok is false for a name that cannot be called.
func arity(name string) (least, most int, ok bool) {
	switch name {
	case "abs", "sqrt", "ceil", "floor", "log10", "log2", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians", "factorial":
		return 1, 1, true
	case "round", "log":
		return 1, 2, true
	case "atan2":
		return 2, 2, true
	case "gcd", "lcm":
		return 0, -1, true
	}
	return 0, 0, false
}

func isFunction(name string) bool {
	_, _, ok := arity(name)
	return ok
}

// apply calls a function. The three that work on whole numbers cut off the
// fractions of their arguments first, before they count them.
func apply(name string, args []float64) (float64, error) {
	switch name {
	case "factorial", "gcd", "lcm":
		ints := make([]*big.Int, len(args))
		for i, a := range args {
			v, err := pyInt(a)
			if err != nil {
				return 0, err
			}
			ints[i] = v
		}
		return applyInt(name, ints)
	}
	if err := checkArity(name, len(args)); err != nil {
		return 0, err
	}
	switch name {
	case "round":
		if len(args) == 1 {
			return pyRoundInt(args[0])
		}
		if _, err := pyInt(args[1]); err != nil {
			return 0, err
		}
		// Beyond these every number of digits means the same.
		return pyRound(args[0], int(max(-400, min(400, args[1]))))
	case "log":
		num, err := applyReal("log", args[0])
		if err != nil || len(args) == 1 {
			return num, err
		}
		den, err := applyReal("log", args[1])
		if err != nil {
			return 0, err
		}
		return pyDiv(num, den)
	case "atan2":
		return atan2(args[0], args[1]), nil
	}
	return applyReal(name, args[0])
}

// checkArity gives CPython's complaint about a wrong number of arguments.
func checkArity(name string, n int) error {
	least, most, _ := arity(name)
	if n >= least && (n <= most || most < 0) {
		return nil
	}
	switch {
	case name == "round" && n == 0:
		return evalError("round() missing required argument 'number' (pos 1)")
	case name == "round":
		return evalError(fmt.Sprintf("round() takes at most 2 arguments (%d given)", n))
	case name == "log":
		return evalError("math.log requires 1 to 2 arguments")
	case name == "atan2":
		return evalError(fmt.Sprintf("atan2 expected 2 arguments, got %d", n))
	case name == "abs":
		return evalError(fmt.Sprintf("abs() takes exactly one argument (%d given)", n))
	}
	return evalError(fmt.Sprintf("math.%s() takes exactly one argument (%d given)", name, n))
}

// applyReal calls a function of one float.
func applyReal(name string, x float64) (float64, error) {
	switch name {
	case "abs":
		return math.Abs(x), nil
	case "sqrt":
		if x < 0 {
			return 0, errDomain
		}
		return math.Sqrt(x), nil
	case "ceil", "floor":
		if _, err := pyInt(x); err != nil {
			return 0, err
		}
		if name == "ceil" {
			return math.Ceil(x) + 0, nil
		}
		return math.Floor(x) + 0, nil
	case "log", "log2", "log10":
		if x <= 0 {
			return 0, errDomain
		}
		switch name {
		case "log2":
			return log2(x), nil
		case "log10":
			return log10(x), nil
		}
		return log(x), nil
	case "exp":
		r := exp(x)
		if math.IsInf(r, 1) && !math.IsInf(x, 1) {
			return 0, errRange
		}
		return r, nil
	case "sin", "cos", "tan":
		if math.IsInf(x, 0) {
			return 0, errDomain
		}
		switch name {
		case "sin":
			return sin(x), nil
		case "cos":
			return cos(x), nil
		}
		return tan(x), nil
	case "asin", "acos":
		if math.IsNaN(x) {
			return x, nil
		}
		if math.Abs(x) > 1 {
			return 0, errDomain
		}
		if name == "asin" {
			return ddAsin(ddOf(x)).hi, nil
		}
		return ddAcos(ddOf(x)).hi, nil
	case "atan":
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return math.Atan(x), nil
		}
		return ddAtan(ddOf(x)).hi, nil
	case "degrees":
		return x * (180 / math.Pi), nil
	case "radians":
		return x * (math.Pi / 180), nil
	}
	return 0, fmt.Errorf("no such function: %s", name)
}

// The largest factorial that a float can hold is that of 170.
const maxFactorial = 170

// applyInt calls a function of whole numbers. Nothing here grows without
// bound: what no float can hold is an error before it is computed.
func applyInt(name string, args []*big.Int) (float64, error) {
	if err := checkArity(name, len(args)); err != nil {
		return 0, err
	}
	switch name {
	case "factorial":
		n := args[0]
		switch {
		case n.Sign() < 0:
			return 0, evalError("factorial() not defined for negative values")
		case !n.IsInt64():
			return 0, evalError("factorial() argument should not exceed 9223372036854775807")
		case n.Int64() > maxFactorial:
			return 0, errIntTooLarge
		}
		return pyIntFloat(new(big.Int).MulRange(1, n.Int64()))
	case "gcd":
		g := new(big.Int)
		for _, a := range args {
			g.GCD(nil, nil, g, new(big.Int).Abs(a))
		}
		return pyIntFloat(g)
	}
	for _, a := range args {
		if a.Sign() == 0 {
			return 0, nil
		}
	}
	m := big.NewInt(1)
	for _, a := range args {
		g := new(big.Int).GCD(nil, nil, m, new(big.Int).Abs(a))
		m.Mul(m, g.Quo(new(big.Int).Abs(a), g))
		if m.BitLen() > 1100 {
			return 0, errIntTooLarge // a multiple only grows
		}
	}
	return pyIntFloat(m)
}
