package math

import (
	"math/big"
	"math/bits"
)

// squareFree returns the polynomial with the same roots, each once.
func squareFree(w *work, p poly) (poly, error) {
	if p.degree() < 2 {
		return p, nil
	}
	c := p.integer()
	d := derivative(c)
	if coprimeMod(c, d) {
		return polyOfInts(c), nil
	}
	g, err := gcdPoly(w, polyOfInts(c), polyOfInts(d))
	if err != nil || g.degree() < 1 {
		return polyOfInts(c), err
	}
	q, _ := polyOfInts(c).divide(g)
	return polyOfInts(q.integer()), nil
}

// gcdPoly is the greatest common divisor, by pseudo-division with the common
// divisors of the coefficients taken out at every step.
func gcdPoly(w *work, p, q poly) (poly, error) {
	if p.isZero() {
		return q, nil
	}
	if q.isZero() {
		return p, nil
	}
	a, b := p.integer(), q.integer()
	if len(a) < len(b) {
		a, b = b, a
	}
	for len(b) > 1 {
		if err := w.spend(len(a) * len(b) * (words(a) + words(b))); err != nil {
			return nil, err
		}
		r := pseudoRest(a, b)
		if len(r) == 0 {
			return polyOfInts(b), nil
		}
		a, b = b, primitive(r)
	}
	return polyOf(big.NewRat(1, 1)), nil
}

// pseudoRest is the rest of a multiple of a divided by b.
func pseudoRest(a, b []*big.Int) []*big.Int {
	r := cloneInts(a)
	lead := b[len(b)-1]
	t := new(big.Int)
	for len(r) >= len(b) {
		top := new(big.Int).Set(r[len(r)-1])
		at := len(r) - len(b)
		for i := range r {
			r[i].Mul(r[i], lead)
		}
		for j, v := range b {
			r[at+j].Sub(r[at+j], t.Mul(top, v))
		}
		for len(r) > 0 && r[len(r)-1].Sign() == 0 {
			r = r[:len(r)-1]
		}
	}
	return r
}

// testPrime is a prime just below 2^61.
const testPrime = 1<<61 - 1

// coprimeMod says that two polynomials have no common factor modulo a prime
// that does not divide a leading coefficient: then they have none at all.
// This settles the common case without any long numbers.
func coprimeMod(a, b []*big.Int) bool {
	u, v := reduceMod(a), reduceMod(b)
	if len(u) != len(a) || len(v) != len(b) {
		return false
	}
	for len(v) > 1 {
		inv := powMod(v[len(v)-1], testPrime-2)
		for len(u) >= len(v) {
			f := mulMod(u[len(u)-1], inv)
			at := len(u) - len(v)
			for j, c := range v {
				u[at+j] = subMod(u[at+j], mulMod(f, c))
			}
			for len(u) > 0 && u[len(u)-1] == 0 {
				u = u[:len(u)-1]
			}
		}
		u, v = v, u
	}
	return len(v) == 1
}

func reduceMod(c []*big.Int) []uint64 {
	m := big.NewInt(testPrime)
	out := make([]uint64, len(c))
	for i, v := range c {
		out[i] = new(big.Int).Mod(v, m).Uint64()
	}
	for len(out) > 0 && out[len(out)-1] == 0 {
		out = out[:len(out)-1]
	}
	return out
}

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	_, r := bits.Div64(hi, lo, testPrime)
	return r
}

func subMod(a, b uint64) uint64 {
	if a >= b {
		return a - b
	}
	return a + testPrime - b
}

func powMod(a, n uint64) uint64 {
	r := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = mulMod(r, a)
		}
		a = mulMod(a, a)
	}
	return r
}
