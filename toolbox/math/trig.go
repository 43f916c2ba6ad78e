package math

import (
	"math"
	"math/big"
)

func ddPi() dd     { return dd{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53} }
func ddHalfPi() dd { return dd{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54} }

// reduce returns r and q with x = r + q*pi/2 (q modulo 4) and |r| <= pi/4.
func reduce(x float64) (r dd, q int) {
	if math.Abs(x) <= math.Pi/4 {
		return ddOf(x), 0
	}
	if math.Abs(x) > 1<<27 {
		return reduceBig(x)
	}
	n := math.Round(x * (2 / math.Pi))
	// pi/2 in four parts; the products with n are exact pairs.
	r = ddOf(x).sub(twoProd(n, 0x1.921fb54442d18p+0))
	r = r.sub(twoProd(n, 0x1.1a62633145c07p-54))
	r = r.sub(twoProd(n, -0x1.f1976b7ed8fbcp-110))
	r = r.sub(ddOf(n * 0x1.4cf98e804177dp-164))
	return r, int(n) & 3
}

// twoOverPi is 2/pi to 1280 bits after the point, in hexadecimal: enough for
// the largest float. A test computes it again.
const twoOverPi = "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0" +
	"06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4" +
	"9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d" +
	"7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d"

// reduceBig is reduce for large x = m*2^e: m times the bits of 2/pi that
// matter, of which the whole part gives q and the rest r.
func reduceBig(x float64) (dd, int) {
	frac, e := math.Frexp(math.Abs(x))
	m := new(big.Int).SetUint64(uint64(frac * (1 << 53)))
	e -= 53
	bits, _ := new(big.Int).SetString(twoOverPi, 16)
	m.Mul(m, bits) // x*2/pi * 2^(1280-e)
	point := uint(1280 - e)
	half := new(big.Int).Lsh(big.NewInt(1), point-1)
	n := new(big.Int).Add(m, half)
	n.Rsh(n, point)
	m.Sub(m, new(big.Int).Lsh(n, point))
	rest := new(big.Float).SetInt(m)
	rest.SetMantExp(rest, -int(point))
	hi, _ := rest.Float64()
	lo, _ := rest.Sub(rest, new(big.Float).SetFloat64(hi)).Float64()
	r := dd{hi, lo}.mul(ddHalfPi())
	q := int(new(big.Int).And(n, big.NewInt(3)).Int64())
	if x < 0 {
		return r.neg(), -q & 3
	}
	return r, q
}

// sinCosSmall returns sine and cosine of |r| <= 0.8 by their series.
func sinCosSmall(r dd) (s, c dd) {
	z := r.mul(r).neg() // the terms change their signs
	return r.mul(powerSeries(z, 1, 2, 27)), powerSeries(z, 0, 2, 28)
}

// ddSinCos returns sine and cosine of a finite x.
func ddSinCos(x dd) (s, c dd) {
	r, q := reduce(x.hi)
	s, c = sinCosSmall(r.add(ddOf(x.lo)))
	switch q {
	case 1:
		return c, s.neg()
	case 2:
		return s.neg(), c.neg()
	case 3:
		return c.neg(), s
	}
	return s, c
}

// tiny says that x is so small that the odd functions are x itself; the
// squares below it would leave the range of floats.
func tiny(x float64) bool { return math.Abs(x) < 1e-120 }

func sin(x float64) float64 {
	if tiny(x) || math.IsNaN(x) {
		return x
	}
	s, _ := ddSinCos(ddOf(x))
	return s.hi
}

func cos(x float64) float64 {
	if tiny(x) {
		return 1
	}
	_, c := ddSinCos(ddOf(x))
	return c.hi
}

func tan(x float64) float64 {
	if tiny(x) || math.IsNaN(x) {
		return x
	}
	s, c := ddSinCos(ddOf(x))
	return s.div(c).hi
}

// ddAtan refines Go's arctangent by one step.
func ddAtan(x dd) dd {
	if math.Abs(x.hi) > 1 {
		r := ddAtan(dd{1, 0}.div(x))
		if x.hi < 0 {
			return ddHalfPi().neg().sub(r)
		}
		return ddHalfPi().sub(r)
	}
	if tiny(x.hi) {
		return x
	}
	y := math.Atan(x.hi)
	s, c := ddSinCos(ddOf(y))
	d := x.mul(c).sub(s).div(c.add(x.mul(s)))
	return ddOf(y).add(d)
}

// ddAsin refines Go's arcsine by one step; |x| <= 1.
func ddAsin(x dd) dd {
	if tiny(x.hi) {
		return x
	}
	if a := math.Abs(x.hi); a > 0.75 {
		// asin x = pi/2 - 2*asin(sqrt((1-x)/2)) keeps the slope tame.
		sign := math.Copysign(1, x.hi)
		z := dd{1, 0}.sub(x.scale(sign)).scale(0.5).sqrt()
		return ddHalfPi().sub(ddAsin(z).scale(2)).scale(sign)
	}
	y := math.Asin(x.hi)
	s, c := ddSinCos(ddOf(y))
	d := x.sub(s).div(c)
	d = d.add(d.mul(d).mul(s.div(c)).scale(0.5))
	return ddOf(y).add(d)
}

func ddAcos(x dd) dd {
	if x.hi > 0.5 {
		return ddAsin(dd{1, 0}.sub(x).scale(0.5).sqrt()).scale(2)
	}
	return ddHalfPi().sub(ddAsin(x))
}

// atan2 follows the C standard for signs, zeros and infinities.
func atan2(y, x float64) float64 {
	if math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0) || x == 0 || y == 0 {
		return math.Atan2(y, x) // exact multiples of pi/4 only
	}
	// Bring both into the middle of the range first: the quotient of the
	// scaled pair is the same.
	fy, ey := math.Frexp(math.Abs(y))
	fx, ex := math.Frexp(math.Abs(x))
	var a dd
	switch d := ey - ex; {
	case d > 120:
		a = ddHalfPi()
	case d < -120:
		if x > 0 {
			return math.Copysign(ddOf(fy).div(ddOf(fx)).times2(d), y)
		}
		a = dd{}
	default:
		a = ddAtan(ddOf(math.Ldexp(fy, d)).div(ddOf(fx)))
	}
	if x < 0 {
		a = ddPi().sub(a)
	}
	return math.Copysign(a.hi, y)
}
