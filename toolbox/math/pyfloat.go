package math

import (
	"math"
	"math/big"
	"strconv"
)

// The operators and conversions below follow the float type of CPython 3.11,
// case by case: the same signs of zero, the same error texts.

// evalError is why an expression has no value, in Python's words where
// Python has some.
type evalError string

func (e evalError) Error() string { return string(e) }

// Results out of range: of float() on a whole number, and of **.
const (
	errIntTooLarge = evalError("int too large to convert to float")
	errOverflow    = evalError("(34, 'Numerical result out of range')")
)

func pyDiv(a, b float64) (float64, error) {
	if b == 0 {
		return 0, evalError("float division by zero")
	}
	return a / b, nil
}

// pyMod has the sign of the divisor.
func pyMod(a, b float64) (float64, error) {
	if b == 0 {
		return 0, evalError("float modulo")
	}
	m := math.Mod(a, b)
	if m == 0 {
		return math.Copysign(0, b), nil
	}
	if (b < 0) != (m < 0) {
		m += b
	}
	return m, nil
}

// pyFloorDiv is not floor(a/b): it is derived from the remainder, so that
// a == (a//b)*b + a%b holds as well as floats allow.
func pyFloorDiv(a, b float64) (float64, error) {
	if b == 0 {
		return 0, evalError("float floor division by zero")
	}
	m := math.Mod(a, b)
	q := (a - m) / b
	if m != 0 && (b < 0) != (m < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b), nil
	}
	f := math.Floor(q)
	if q-f > 0.5 {
		f++
	}
	return f, nil
}

// pyPow is the operator **.
func pyPow(x, y float64) (float64, error) {
	odd := math.Mod(math.Abs(y), 2) == 1
	switch {
	case y == 0:
		return 1, nil
	case math.IsNaN(x):
		return x, nil
	case math.IsNaN(y):
		if x == 1 {
			return 1, nil
		}
		return y, nil
	case math.IsInf(y, 0):
		a := math.Abs(x)
		switch {
		case a == 1:
			return 1, nil
		case (y > 0) == (a > 1):
			return math.Inf(1), nil
		}
		return 0, nil
	case math.IsInf(x, 0):
		switch {
		case y > 0 && odd:
			return x, nil
		case y > 0:
			return math.Abs(x), nil
		case odd:
			return math.Copysign(0, x), nil
		}
		return 0, nil
	case x == 0:
		if y < 0 {
			return 0, evalError("0.0 cannot be raised to a negative power")
		}
		if odd {
			return x, nil
		}
		return 0, nil
	case x < 0 && y != math.Floor(y):
		// Python goes on with complex numbers, whose result no float takes.
		if math.IsInf(pow(-x, y), 0) {
			return 0, evalError("complex exponentiation")
		}
		return 0, evalError("float() argument must be a string or a real number, not 'complex'")
	}
	r := pow(math.Abs(x), y)
	if math.IsInf(r, 0) {
		return 0, errOverflow
	}
	if x < 0 && odd {
		r = -r
	}
	return r, nil
}

// pow is x**y for finite x > 0 and finite y != 0.
func pow(x, y float64) float64 {
	switch {
	case x == 1:
		return 1
	case y == 1:
		return x
	case y == 2:
		return x * x
	}
	// Far outside the range the product below would lose meaning.
	if est := math.Log2(x) * y; est > 1100 {
		return math.Inf(1)
	} else if est < -1200 {
		return 0
	}
	if frac, e := math.Frexp(x); frac == 0.5 && y == math.Trunc(y) {
		return math.Ldexp(1, (e-1)*int(y)) // exact, also where that is a tie
	}
	m, k := ddPow(ddOf(x), ddOf(y))
	return m.times2(k)
}

// ddPow returns m and k with x**y = m*2^k for x > 0.
func ddPow(x, y dd) (m dd, k int) { return ddExp(ddLog(x).mul(y)) }

// pyInt is int(x): towards zero, and no infinities.
func pyInt(x float64) (*big.Int, error) {
	switch {
	case math.IsInf(x, 0):
		return nil, evalError("cannot convert float infinity to integer")
	case math.IsNaN(x):
		return nil, evalError("cannot convert float NaN to integer")
	}
	i, _ := new(big.Float).SetFloat64(math.Trunc(x)).Int(nil)
	return i, nil
}

// pyIntFloat is float(i) for a whole number of any size.
func pyIntFloat(i *big.Int) (float64, error) {
	if i.BitLen() > 1025 {
		return 0, errIntTooLarge
	}
	f, _ := new(big.Float).SetInt(i).Float64()
	if math.IsInf(f, 0) {
		return 0, errIntTooLarge
	}
	return f, nil
}

// pyRoundInt is round(x): half to even, and through a whole number, so that
// no negative zero comes out.
func pyRoundInt(x float64) (float64, error) {
	if _, err := pyInt(x); err != nil {
		return 0, err
	}
	return math.RoundToEven(x) + 0, nil
}

// pyRound is round(x, n): the decimal value of x rounded half to even, then
// the float next to that.
func pyRound(x float64, n int) (float64, error) {
	const most, least = 323, -308
	switch {
	case !finite(x) || n > most:
		return x, nil
	case n < least:
		return 0 * x, nil
	case n >= 0:
		return strconv.ParseFloat(strconv.FormatFloat(x, 'f', n, 64), 64)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	r := new(big.Rat).SetFloat64(math.Abs(x))
	r.Quo(r, new(big.Rat).SetInt(unit))
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(r.Denom()); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	f, err := pyIntFloat(q.Mul(q, unit))
	if err != nil {
		return 0, evalError("rounded value too large to represent")
	}
	return math.Copysign(f, x), nil
}
