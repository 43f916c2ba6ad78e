package math

import "math"

// The interval that is searched, and how small a value at a whole number is
// taken for a candidate zero.
const (
	scanFrom, scanTo = -1000, 1000
	nearZero         = 1e-10
)

const (
	noteInterval = "found by a search between -1000 and 1000; solutions outside are not listed"
	noteWhole    = "the expression is zero on whole intervals; only whole numbers in them are listed"
)

// scanner searches for zeros of an expression by its values.
type scanner struct {
	n    *node
	w    *work
	cost int
	err  error // the search must end
	why  error // why the expression had no value, at the last such point
	flat int   // whole numbers that start an interval of zeros
	wide bool  // there are intervals of zeros
	out  []float64
}

// scanValues looks for zeros between -1000 and 1000: first where the sign changes
// between neighbouring whole numbers and at the whole numbers themselves,
// which is the search of the recorded answers, then closer in between.
func (s *solver) scanValues(n *node) (answer, error) {
	sc := &scanner{n: n, w: s.w, cost: evalCost(n)}
	parts := 8
	for parts > 1 && 4*parts*(scanTo-scanFrom)*sc.cost > s.w.left/2 {
		parts /= 2
	}
	prev, prevOK, defined := 0.0, false, 0
	for i := scanFrom; i <= scanTo && sc.err == nil; i++ {
		x := float64(i)
		v, ok := sc.value(x)
		if ok && prevOK && prev*v < 0 {
			sc.crossing(x-1, x)
		}
		if i > scanFrom {
			sc.between(x-1, parts)
		}
		if ok {
			defined++
			if math.Abs(v) < nearZero && sc.zeroAt(x, sc.usual(x)) {
				sc.add(x)
				if sc.flatAt(x) {
					sc.flat++
					sc.wide = true
				}
			}
		}
		prev, prevOK = v, ok
	}
	if sc.err != nil {
		return answer{}, sc.err
	}
	a := answer{floats: sc.out, numeric: true, scanned: true}
	switch {
	case sc.flat == scanTo-scanFrom+1:
		a.identity, a.floats = true, nil
	case sc.wide:
		a.notes = append(a.notes, noteWhole)
	case defined == 0 && len(sc.out) == 0 && sc.why != nil:
		a.notes = append(a.notes, "the expression has no value at the points tried ("+sc.why.Error()+")")
	}
	return a, nil
}

// evalCost is about what one evaluation takes, in units of work.
func evalCost(n *node) int {
	c := 20
	switch {
	case n.class == classCall && (n.name == "gcd" || n.name == "lcm" || n.name == "factorial"):
		c = 1000 * (len(n.kids) + 1) // long numbers
		if len(n.kids) > 8 {
			c *= 5
		}
	case n.class == classCall || n.op == "Pow":
		c = 400
	}
	for _, k := range n.kids {
		c += evalCost(k)
	}
	return c
}

// spend pays for one evaluation, if the search may go on.
func (sc *scanner) spend() bool {
	if sc.err == nil {
		sc.err = sc.w.spend(sc.cost)
	}
	return sc.err == nil
}

// value computes the expression; ok is false where it has none.
func (sc *scanner) value(x float64) (v float64, ok bool) {
	if !sc.spend() {
		return 0, false
	}
	ev := evaluator{left: 2 * maxSource}
	v, err := ev.at(sc.n, x)
	if err != nil {
		sc.why = err
	}
	return v, err == nil
}

// jet computes value, derivative and error.
func (sc *scanner) jet(x float64) (jet, bool) {
	if !sc.spend() {
		return jet{}, false
	}
	j, err := jetAt(sc.n, x, 0)
	return j, err == nil && !math.IsNaN(j.v)
}

// sameRoot is how close two solutions of a search must be to be one.
const sameRoot = 1e-6

// add notes a solution, unless it is there already. The last few are enough
// to look at: the search goes from left to right.
func (sc *scanner) add(x float64) {
	for _, r := range sc.out[max(0, len(sc.out)-20):] {
		if math.Abs(r-x) < sameRoot {
			return
		}
	}
	sc.out = append(sc.out, x+0)
}

// between looks at the parts of the interval from lo to lo+1.
func (sc *scanner) between(lo float64, parts int) {
	p := lo
	fp, okp := sc.value(p)
	for k := 1; k <= parts && sc.err == nil; k++ {
		q := lo + float64(k)/float64(parts)
		fq, okq := sc.value(q)
		if okp && okq {
			sc.segment(p, fp, q, fq)
		}
		if okq && k < parts && math.Abs(fq) < nearZero && sc.zeroAt(q, sc.usual(q)) {
			if sc.flatAt(q) || sc.flatAt(q-0.1) {
				sc.wide = true
			} else {
				sc.add(q)
			}
		}
		p, fp, okp = q, fq, okq
	}
}

// segment looks for zeros strictly between two points.
func (sc *scanner) segment(p, fp, q, fq float64) {
	// Next to a zero, look from just beside it.
	ok1, ok2 := true, true
	nudge := (q - p) * 1e-3
	if fp == 0 {
		p += nudge
		fp, ok1 = sc.value(p)
	}
	if fq == 0 {
		q -= nudge
		fq, ok2 = sc.value(q)
	}
	switch {
	case !ok1 || !ok2 || fp == 0 || fq == 0:
	case fp*fq > 0:
		sc.touching(p, q)
	case fp*fq < 0:
		for _, r := range sc.out[max(0, len(sc.out)-20):] {
			if p-sameRoot <= r && r <= q+sameRoot {
				return
			}
		}
		sc.crossing(p, q)
	}
}

// zeroAt says whether a small value is zero but for rounding, where values
// of the size of scale are usual. Zeros that are only numbers too small for a
// float do not count, unless the sign changes around them.
func (sc *scanner) zeroAt(x, scale float64) bool {
	j, ok := sc.jet(x)
	if !ok || math.Abs(j.v) > 8*j.e || j.e > 1e-6*scale {
		return false // not zero, or anything for all that is known
	}
	if !j.under {
		return true
	}
	a, ok1 := sc.value(x - 0.01)
	b, ok2 := sc.value(x + 0.01)
	return ok1 && ok2 && a*b < 0
}

// usual is the size of the values around x, at least one.
func (sc *scanner) usual(x float64) float64 {
	scale := 1.0
	for _, d := range [...]float64{-0.1, 0.1} {
		if v, ok := sc.value(x + d); ok && finite(v) {
			scale = max(scale, math.Abs(v))
		}
	}
	return scale
}

// flatAt says whether the expression stays zero to the right of x.
func (sc *scanner) flatAt(x float64) bool {
	v, ok := sc.value(x + 0.05)
	return ok && math.Abs(v) < nearZero && sc.zeroAt(x+0.05, sc.usual(x+0.05))
}
