package math

import (
	"math"
	"math/big"
)

func (a num) logIsZero() bool { return a.rat != nil && a.rat.Cmp(big.NewRat(1, 1)) == 0 }

// log is the natural logarithm of a > 0.
func (a num) log() num {
	if a.logIsZero() {
		return intNum(0)
	}
	if a.form.text == "e" {
		return intNum(1)
	}
	return computed(ddLog(a.v), a.err/a.v.hi, callFormula("log", a.form))
}

// logBase is the logarithm to a base that is positive and not one. It is
// rational if a small power of the one is a small power of the other.
func (a num) logBase(base num) num {
	q := a.log().div(base.log())
	if a.rat == nil || base.rat == nil {
		return q
	}
	for d := int64(1); d <= 6; d++ {
		k := math.Round(q.v.hi * float64(d))
		if math.Abs(k) > 2000 || math.Abs(q.v.hi*float64(d)-k) > 1e-9 {
			continue
		}
		x := ratPow(base.rat, big.NewRat(int64(k), 1))
		y := ratPow(a.rat, big.NewRat(d, 1))
		if x != nil && y != nil && x.Cmp(y) == 0 {
			return ratNum(big.NewRat(int64(k), d))
		}
	}
	q.form = callFormula("log", a.form, base.form)
	return q
}

// exp is e**a, if that is in the range of floats.
func (a num) exp() (num, bool) {
	switch {
	case a.exactZero():
		return intNum(1), true
	case math.Abs(a.v.hi) > 700:
		return num{}, false
	}
	form := callFormula("exp", a.form)
	if a.rat != nil && a.rat.Cmp(big.NewRat(1, 1)) == 0 {
		form = formula{"e", precAtom}
	}
	m, k := ddExp(a.v)
	m = m.scale(math.Ldexp(1, k))
	return computed(m, m.hi*(a.err+16*ddEps*math.Abs(a.v.hi)), form), true
}

// trig applies a trigonometric function or its inverse.
func (a num) trig(name string) (num, bool) {
	if a.exactZero() {
		switch name {
		case "cos":
			return intNum(1), true
		case "acos":
		default:
			return intNum(0), true
		}
	}
	form := callFormula(name, a.form)
	x := math.Abs(a.v.hi)
	slope := 1.0
	var v dd
	switch name {
	case "sin", "cos", "tan":
		s, c := ddSinCos(a.v)
		switch name {
		case "sin":
			v = s
		case "cos":
			v = c
		default:
			v = s.div(c)
			slope = 1 / (c.hi * c.hi)
		}
		return computed(v, slope*(a.err+x*ddEps), form), true
	case "asin", "acos":
		if a.v.sub(ddOf(1)).sign() > 0 || a.v.add(ddOf(1)).sign() < 0 {
			return num{}, false
		}
		slope = 1 / math.Sqrt(max(0x1p-50, (1-x)*(1+x)))
		v = ddAsin(a.v)
		if name == "acos" {
			v = ddAcos(a.v)
		}
		return computed(v, slope*a.err, form), true
	case "atan":
		return computed(ddAtan(a.v), a.err, form), true
	}
	return num{}, false
}
