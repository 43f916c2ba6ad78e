package math

import (
	"math"
	"math/big"
)

// dd is an unevaluated sum hi+lo of two floats with |lo| at most half a unit
// in the last place of hi: about 106 bits. The elementary functions are
// computed in it and rounded once at the end, because the answers are meant
// to be those of a good C library, which Go's own functions (errors of up to
// one unit in the last place, differing between architectures) are not.
type dd struct{ hi, lo float64 }

func ddOf(x float64) dd { return dd{x, 0} }

// twoSum returns a+b and the rounding error of that sum.
func twoSum(a, b float64) dd {
	s := a + b
	t := s - a
	return dd{s, (a - (s - t)) + (b - t)}
}

// quickSum is twoSum for |a| >= |b|.
func quickSum(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

// twoProd returns a*b and the rounding error of that product.
func twoProd(a, b float64) dd {
	p := float64(a * b)
	return dd{p, math.FMA(a, b, -p)}
}

func (a dd) neg() dd { return dd{-a.hi, -a.lo} }

func (a dd) add(b dd) dd {
	s := twoSum(a.hi, b.hi)
	t := twoSum(a.lo, b.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (a dd) sub(b dd) dd { return a.add(b.neg()) }

func (a dd) mul(b dd) dd {
	p := twoProd(a.hi, b.hi)
	return quickSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

// scale multiplies by a power of two, which is exact.
func (a dd) scale(f float64) dd { return dd{a.hi * f, a.lo * f} }

func (a dd) div(b dd) dd {
	q1 := a.hi / b.hi
	r := a.sub(b.mul(ddOf(q1)))
	q2 := r.hi / b.hi
	r = r.sub(b.mul(ddOf(q2)))
	q3 := r.hi / b.hi
	return quickSum(q1, q2).add(ddOf(q3))
}

// sqrt returns the square root of a non-negative a.
func (a dd) sqrt() dd {
	if a.hi <= 0 {
		return dd{}
	}
	s := math.Sqrt(a.hi)
	r := a.sub(twoProd(s, s))
	return quickSum(s, r.hi/(2*s))
}

// sign is -1, 0 or 1.
func (a dd) sign() int {
	switch {
	case a.hi > 0:
		return 1
	case a.hi < 0:
		return -1
	}
	return 0
}

// times2 rounds a*2^k to a float, once, also where the result is subnormal.
func (a dd) times2(k int) float64 {
	_, e := math.Frexp(a.hi)
	if e+k > -1000 {
		return math.Ldexp(a.hi, k)
	}
	s := new(big.Float).SetPrec(240).SetFloat64(a.hi)
	s.Add(s, new(big.Float).SetFloat64(a.lo))
	s.SetMantExp(s, k)
	f, _ := s.Float64()
	return f
}

// finite says whether x is neither infinite nor NaN.
func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }
