package math

import "math"

func ddLn2() dd { return dd{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56} }

// expSmall returns e^r-1 with a small relative error for |r| <= 0.36: the
// series on r/256, then eight doublings of the exponent.
func expSmall(r dd) dd {
	r = r.scale(1.0 / 256)
	s := r.mul(powerSeries(r, 1, 1, 10))
	for range 8 {
		s = s.scale(2).add(s.mul(s))
	}
	return s
}

// ddExp returns m and k with e^x = m*2^k and m between 0.7 and 1.5.
func ddExp(x dd) (m dd, k int) {
	n := math.Round(x.hi * (1 / math.Ln2))
	// n*ln2 in three parts: the first two products are exact sums of two
	// floats, the third part only matters far below the result.
	r := x.sub(twoProd(n, 0x1.62e42fefa39efp-1))
	r = r.sub(twoProd(n, 0x1.abc9e3b39803fp-56))
	r = r.sub(ddOf(n * 0x1.7b57a079a1934p-111))
	return dd{1, 0}.add(expSmall(r)), int(n)
}

// ddLog returns the logarithm of a positive finite x, with a small relative
// error also next to 1.
func ddLog(x dd) dd {
	f, e := math.Frexp(x.hi)
	if f < math.Sqrt2/2 {
		e--
	}
	if e < -1000 {
		// Ldexp with one step could overflow on the way for subnormals.
		x = x.scale(0x1p600)
		return ddLog(x).sub(ddLn2().mul(ddOf(600)))
	}
	m := dd{math.Ldexp(x.hi, -e), math.Ldexp(x.lo, -e)} // 0.7 to 1.42
	y := math.Log(m.hi)
	// One step from y: log m = y + log(m/e^y), and m/e^y-1 is tiny. Both
	// m-1 and e^y-1 are known to a small relative error.
	p := expSmall(ddOf(y))
	t := m.sub(ddOf(1)).sub(p).div(dd{1, 0}.add(p))
	corr := t.sub(t.mul(t).scale(0.5))
	l := ddOf(y).add(corr)
	if e == 0 {
		return l
	}
	return ddLn2().mul(ddOf(float64(e))).add(l)
}

// exp is e^x; it overflows to infinity.
func exp(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x > 709.8:
		return math.Inf(1)
	case x < -745.2:
		return 0
	}
	m, k := ddExp(ddOf(x))
	return m.times2(k)
}

// log is the natural logarithm of x > 0.
func log(x float64) float64 {
	if math.IsInf(x, 1) || math.IsNaN(x) {
		return x
	}
	return ddLog(ddOf(x)).hi
}

// log2 is the base-2 logarithm of x > 0; powers of two come out exact.
func log2(x float64) float64 {
	if math.IsInf(x, 1) || math.IsNaN(x) {
		return x
	}
	return ddLog2(ddOf(x)).hi
}

func ddLog2(x dd) dd {
	f, e := math.Frexp(x.hi)
	if f < math.Sqrt2/2 {
		e--
	}
	if e < -1000 {
		return ddLog2(x.scale(0x1p600)).sub(ddOf(600))
	}
	m := dd{math.Ldexp(x.hi, -e), math.Ldexp(x.lo, -e)}
	l := ddLog(m).mul(dd{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56})
	return l.add(ddOf(float64(e)))
}

// log10 is the base-10 logarithm of x > 0. It is put together from the
// natural logarithm in the way of the C libraries that everyone's recorded
// answers come from; the correctly rounded value differs from theirs in the
// last digit too often.
func log10(x float64) float64 {
	if math.IsInf(x, 1) || math.IsNaN(x) {
		return x
	}
	f, e := math.Frexp(x)
	f, e = f*2, e-1 // 1 <= f < 2
	if e < 0 {
		f, e = f/2, e+1
	}
	const (
		invLn10 = 4.34294481903251816668e-01
		twoHi   = 3.01029995663611771306e-01 // log10(2), upper bits
		twoLo   = 3.69423907715893078616e-13
	)
	k := float64(e)
	z := float64(k*twoLo) + float64(invLn10*log(f))
	return z + float64(k*twoHi)
}
