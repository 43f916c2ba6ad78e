package math

import "math"

// crossing follows a change of sign to where it happens. The halving is that
// of the recorded answers, step by step, so that the last digit agrees too.
func (sc *scanner) crossing(lo, hi float64) {
	from, to := lo, hi
	if !sc.sure(lo) || !sc.sure(hi) {
		return
	}
	l, ok := sc.value(lo)
	h, _ := sc.value(hi)
	least := min(math.Abs(l), math.Abs(h))
	for i := range 60 {
		if i == 20 && min(math.Abs(l), math.Abs(h)) > least/2 {
			return // a jump or a pole: nothing comes closer to zero
		}
		mid := (lo + hi) / 2
		v, okMid := sc.value(mid)
		if !ok || !okMid {
			return
		}
		if math.Abs(v) < 1e-12 || hi-lo < 1e-12 {
			break
		}
		if l*v < 0 {
			hi, h = mid, v
		} else {
			lo, l = mid, v
		}
	}
	if !sc.continuous(from, to, lo, hi) {
		return
	}
	if x, err := pyRound((lo+hi)/2, 10); err == nil {
		sc.add(x)
	}
}

// sure says whether the sign at x is more than an accident of rounding.
func (sc *scanner) sure(x float64) bool {
	j, ok := sc.jet(x)
	return ok && math.Abs(j.v) > j.e
}

// continuous tells a zero between lo and hi from a pole or a jump: going on
// to neighbouring floats, the values must become small, and by no more than
// the slope and rounding explain.
func (sc *scanner) continuous(from, to, lo, hi float64) bool {
	a, ok1 := sc.value(from)
	b, ok2 := sc.value(to)
	l, ok3 := sc.value(lo)
	h, ok4 := sc.value(hi)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return false
	}
	for range 80 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		v, ok := sc.value(mid)
		if !ok {
			return false
		}
		if v == 0 {
			return sc.zeroAt(mid, max(math.Abs(a), math.Abs(b)))
		}
		if l*v < 0 {
			hi, h = mid, v
		} else {
			lo, l = mid, v
		}
	}
	x, least := lo, math.Abs(l)
	if math.Abs(h) < least {
		x, least = hi, math.Abs(h)
	}
	j, ok := sc.jet(x)
	if !ok {
		return false
	}
	// The error bound alone is no argument: next to a pole it is as large as
	// the value.
	small := 1e-3 * max(math.Abs(a), math.Abs(b))
	return least < small && math.Abs(h-l) <= 16*(math.Abs(j.d)*(hi-lo)+j.e)
}

// touching looks for a point between two values of the same sign where the
// curve turns: at zero, it touches; beyond, it crosses twice.
func (sc *scanner) touching(from, to float64) {
	l, ok1 := sc.jet(from)
	h, ok2 := sc.jet(to)
	// Written so that a derivative that is not a number fails, too.
	if !ok1 || !ok2 || !(l.d*l.v < 0) || !(h.d*h.v > 0) || math.Abs(l.v) <= l.e || math.Abs(h.v) <= h.e {
		return
	}
	side := math.Copysign(1, l.v)
	lo, hi := from, to
	for range 100 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		j, ok := sc.jet(mid)
		if !ok {
			return
		}
		if j.v*side < 0 && math.Abs(j.v) > 8*j.e {
			sc.crossing(from, mid)
			sc.crossing(mid, to)
			return
		}
		switch slope := j.d * side; {
		case slope == 0:
			lo, hi = mid, mid
		case slope < 0:
			lo = mid
		default:
			hi = mid
		}
	}
	x := lo + (hi-lo)/2
	if !sc.zeroAt(x, max(math.Abs(l.v), math.Abs(h.v))) {
		return
	}
	if r, err := pyRound(x, 10); err == nil {
		sc.add(r)
	}
}
