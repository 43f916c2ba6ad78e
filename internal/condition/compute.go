package condition

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

func overflow(n *node) error {
	return n.fault("the result of %s is too large, or a division by zero", n.name)
}

func negate(n *node, a any) (any, error) {
	switch a := a.(type) {
	case int64:
		if a == math.MinInt64 {
			return nil, overflow(n)
		}
		return -a, nil
	case float64:
		return -a, nil
	}
	return nil, n.misfit(a)
}

// compute works on two values of one type.
func (r *run) compute(n *node, a, b any) (any, error) {
	switch x := a.(type) {
	case int64:
		if y, isInt := b.(int64); isInt {
			return computeInt(n, x, y)
		}
	case uint64:
		if y, isUint := b.(uint64); isUint {
			return computeUint(n, x, y)
		}
	case float64:
		if y, isDouble := b.(float64); isDouble && n.op != opRemainder {
			switch n.op {
			case opAdd:
				return x + y, nil
			case opSubtract:
				return x - y, nil
			case opMultiply:
				return x * y, nil
			}
			return x / y, nil
		}
	case string:
		if y, isText := b.(string); isText && n.op == opAdd {
			if !r.spend((len(x) + len(y)) / 10) {
				return "", nil
			}
			return x + y, nil
		}
	case []any:
		if y, isList := b.([]any); isList && n.op == opAdd {
			if !r.spend(len(x) + len(y)) {
				return nil, nil
			}
			return slices.Concat(x, y), nil
		}
	}
	return nil, n.misfit(a, b)
}

func computeInt(n *node, x, y int64) (any, error) {
	var z int64
	var ok bool
	switch n.op {
	case opAdd:
		z = x + y
		ok = (z > x) == (y > 0)
	case opSubtract:
		z = x - y
		ok = (z < x) == (y > 0)
	case opMultiply:
		z = x * y
		ok = x == 0 || z/x == y && !(x == -1 && y == math.MinInt64)
	default:
		if ok = y != 0 && !(x == math.MinInt64 && y == -1); ok && n.op == opDivide {
			z = x / y
		} else if ok {
			z = x % y
		}
	}
	if !ok {
		return nil, overflow(n)
	}
	return z, nil
}

func computeUint(n *node, x, y uint64) (any, error) {
	var z, beyond uint64
	switch {
	case n.op == opAdd:
		z, beyond = bits.Add64(x, y, 0)
	case n.op == opSubtract:
		z, beyond = bits.Sub64(x, y, 0)
	case n.op == opMultiply:
		beyond, z = bits.Mul64(x, y)
	case y == 0:
		beyond = 1
	case n.op == opDivide:
		z = x / y
	default:
		z = x % y
	}
	if beyond != 0 {
		return nil, overflow(n)
	}
	return z, nil
}

// convert makes a value of another type of it, if nothing is lost but a fraction.
func (r *run) convert(n *node, a any) (any, error) {
	kind := kindOf(a)
	switch {
	case n.name == "dyn":
		return a, nil
	case n.from != "" && strings.IndexByte(n.from, kind) < 0:
		return nil, n.misfit(a)
	case n.name[0] == kind:
		return a, nil
	}
	if s, isText := a.(string); isText {
		if !r.spend(len(s) / 10) {
			return nil, nil
		}
		if v, ok := parse(n.name, s); ok {
			return v, nil
		}
		return nil, n.fault("%s() cannot read the string %s", n.name, n.args[0].shown())
	}
	f, isNumber := double(a)
	switch {
	case n.name == "string" && (isNumber || kind == 'b'):
		return fmt.Sprint(a), nil
	case n.name == "double" && isNumber:
		return f, nil
	case kind == 'd' && !(f < 0 && n.name == "uint"):
		a = math.Trunc(f)
	}
	for _, whole := range wholes(a) {
		if kindOf(whole) == n.name[0] {
			return whole, nil
		}
	}
	return nil, n.misfit(a)
}

func parse(kind, s string) (v any, ok bool) {
	var err error
	switch kind {
	case "bool":
		v, err = strconv.ParseBool(s)
	case "int":
		v, err = strconv.ParseInt(s, 10, 64)
	case "uint":
		v, err = strconv.ParseUint(s, 10, 64)
	case "double":
		v, err = strconv.ParseFloat(s, 64)
	}
	return v, err == nil
}
