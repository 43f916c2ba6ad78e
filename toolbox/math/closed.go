package math

import (
	"math/big"
	"slices"
)

// root is a real solution: exactly rational, or known to more digits than a
// float has, with a closed form if there is a simple one.
type root struct {
	num
	iv interval // for a root that is not rational
}

// realRoots finds the distinct real roots of a polynomial of degree one or
// more, in ascending order.
func realRoots(w *work, p poly) ([]root, error) {
	p, err := squareFree(w, p)
	if err != nil {
		return nil, err
	}
	c := p.integer()
	ivs, err := isolate(w, c)
	if err != nil {
		return nil, err
	}
	roots := make([]root, len(ivs))
	rest := p
	maybe := mayHaveRational(c)
	for i := range ivs {
		roots[i].iv = ivs[i]
		r, err := rationalRoot(w, c, &roots[i].iv, maybe)
		if err != nil {
			return nil, err
		}
		if r != nil {
			roots[i].num = ratNum(r)
			rest, _ = rest.divide(polyOf(new(big.Rat).Neg(r), big.NewRat(1, 1)))
		}
	}
	if err := irrational(w, rest, roots); err != nil {
		return nil, err
	}
	return roots, nil
}

// mayHaveRational rules out rational roots: such a root would also be one
// modulo every prime that does not divide the leading coefficient.
func mayHaveRational(c []*big.Int) bool {
	for _, q := range [...]int64{1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049} {
		m := make([]int64, len(c))
		for i, v := range c {
			m[i] = new(big.Int).Mod(v, big.NewInt(q)).Int64()
		}
		if m[len(m)-1] == 0 {
			continue
		}
		found := false
		for x := int64(0); x < q && !found; x++ {
			v := int64(0)
			for _, v0 := range slices.Backward(m) {
				v = (v*x + v0) % q
			}
			found = v == 0
		}
		if !found {
			return false
		}
	}
	return true
}

// rationalRoot returns the root in the interval if it is rational: then its
// denominator divides the leading coefficient, which leaves one candidate in
// an interval that is narrow enough.
func rationalRoot(w *work, c []*big.Int, v *interval, maybe bool) (*big.Rat, error) {
	if !v.exact() {
		if !maybe {
			return nil, nil
		}
		if err := v.refine(w, c, c[len(c)-1].BitLen()+2); err != nil {
			return nil, err
		}
	}
	lo, hi := v.rats()
	if v.exact() {
		return lo, nil
	}
	lead := new(big.Rat).SetInt(c[len(c)-1])
	k := floorRat(hi.Mul(hi, lead))
	r := new(big.Rat).SetFrac(k, c[len(c)-1])
	// The ends do not belong to the interval: they may be other roots.
	_, end := v.rats()
	if r.Cmp(lo) <= 0 || r.Cmp(end) >= 0 || polyOfInts(c).eval(r).Sign() != 0 {
		return nil, nil
	}
	return r, nil
}

// floorRat rounds down: Euclidean division by a positive number does.
func floorRat(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// irrational fills in the roots that are not rational: those of rest.
func irrational(w *work, rest poly, roots []root) error {
	var open []*root
	for i := range roots {
		if roots[i].rat == nil {
			open = append(open, &roots[i])
		}
	}
	if len(open) == 0 {
		return nil
	}
	c := rest.integer()
	for _, r := range open {
		if err := r.compute(w, c); err != nil {
			return err
		}
	}
	rest, open, err := quadraticFactors(w, rest, open)
	if err != nil || len(open) == 0 {
		return err
	}
	return depressed(w, rest, open)
}

// compute computes the root to about 110 bits, and rounds it to a float
// correctly.
func (r *root) compute(w *work, c []*big.Int) error {
	for bits := 64; ; bits *= 2 {
		if err := r.iv.refine(w, c, bits); err != nil {
			return err
		}
		lo, hi := r.iv.rats()
		if lo.Sign() == 0 || hi.Sign() == 0 {
			continue // nothing is known of its size yet
		}
		size := lo.Num().BitLen() - lo.Denom().BitLen()
		if bits < 118-size {
			bits = (118 - size + 1) / 2
			continue
		}
		a, _ := lo.Float64()
		b, _ := hi.Float64()
		if a == b {
			r.v = ddRat(lo.Add(lo, hi).Quo(lo, big.NewRat(2, 1)))
			return nil
		}
	}
}

// depressed looks for roots of the form s + z^(1/k): after a shift by s only
// every k-th power is left.
func depressed(w *work, p poly, open []*root) error {
	n := p.degree()
	s := new(big.Rat).Mul(p[n], big.NewRat(int64(n), 1))
	s.Quo(p[n-1], s).Neg(s)
	h := p.shift(s)
	k := 0
	for i, c := range h {
		if i > 0 && c.Sign() != 0 {
			k = int(new(big.Int).GCD(nil, nil, big.NewInt(int64(k)), big.NewInt(int64(i))).Int64())
		}
	}
	if k < 2 {
		return nil
	}
	var q poly
	for i := 0; i < len(h); i += k {
		q = append(q, h[i])
	}
	inner, err := realRoots(w, q)
	if err != nil {
		return err
	}
	var found []num
	for _, z := range inner {
		y := z.num.pow(ratNum(big.NewRat(1, int64(k))))
		switch {
		case z.v.sign() < 0 && k%2 == 1:
			y = z.num.neg().pow(ratNum(big.NewRat(1, int64(k)))).neg()
		case z.v.sign() < 0:
			continue
		case k%2 == 0:
			found = append(found, ratNum(s).add(y.neg()))
		}
		found = append(found, ratNum(s).add(y))
	}
	if len(found) != len(open) {
		return nil
	}
	slices.SortFunc(found, func(a, b num) int { return a.v.sub(b.v).sign() })
	for i, f := range found {
		open[i].form = f.form
	}
	return nil
}
