package math

import (
	"math/big"
	"slices"
)

// Bounds on exact algebra. What grows beyond them is left to the numeric
// search, so that no text of a few bytes keeps the machine busy.
const (
	maxDegree   = 100
	maxCoefBits = 4096
)

// poly is a polynomial in x with rational coefficients, that of x^i at i.
// The last one is never zero; the zero polynomial is empty. Polynomials are
// never changed after they were made.
type poly []*big.Rat

func polyOf(c ...*big.Rat) poly { return poly(c).trim() }

func (p poly) trim() poly {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	return p
}

func (p poly) degree() int  { return len(p) - 1 }
func (p poly) isZero() bool { return len(p) == 0 }

// coef is the coefficient of x^i, also beyond the degree.
func (p poly) coef(i int) *big.Rat {
	if i < len(p) {
		return p[i]
	}
	return new(big.Rat)
}

func (p poly) add(q poly) poly {
	r := make(poly, max(len(p), len(q)))
	for i := range r {
		r[i] = new(big.Rat).Add(p.coef(i), q.coef(i))
	}
	return r.trim()
}

func (p poly) scale(c *big.Rat) poly {
	r := make(poly, len(p))
	for i := range r {
		r[i] = new(big.Rat).Mul(p[i], c)
	}
	return r.trim()
}

func (p poly) neg() poly       { return p.scale(big.NewRat(-1, 1)) }
func (p poly) sub(q poly) poly { return p.add(q.neg()) }

// mul multiplies; ok is false if the result is out of bounds.
func (p poly) mul(q poly) (r poly, ok bool) {
	if p.isZero() || q.isZero() {
		return nil, true
	}
	if p.degree()+q.degree() > maxDegree {
		return nil, false
	}
	r = make(poly, len(p)+len(q)-1)
	for i := range r {
		r[i] = new(big.Rat)
	}
	t := new(big.Rat)
	for i, a := range p {
		if a.Sign() == 0 {
			continue
		}
		for j, b := range q {
			r[i+j].Add(r[i+j], t.Mul(a, b))
		}
	}
	r = r.trim()
	return r, r.small()
}

// small says whether the coefficients are within bounds.
func (p poly) small() bool {
	return !slices.ContainsFunc(p, func(c *big.Rat) bool {
		return c.Num().BitLen() > maxCoefBits || c.Denom().BitLen() > maxCoefBits
	})
}

// pow raises to a power n >= 0.
func (p poly) pow(n int) (poly, bool) {
	r := polyOf(big.NewRat(1, 1))
	if p.degree() > 0 && n > maxDegree {
		return nil, false
	}
	var ok bool
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			if r, ok = r.mul(p); !ok {
				return nil, false
			}
		}
		if n > 1 {
			if p, ok = p.mul(p); !ok {
				return nil, false
			}
		}
	}
	return r, true
}

func (p poly) eval(x *big.Rat) *big.Rat {
	r := new(big.Rat)
	for _, v := range slices.Backward(p) {
		r.Mul(r, x)
		r.Add(r, v)
	}
	return r
}

func (p poly) clone() poly {
	r := make(poly, len(p))
	for i, c := range p {
		r[i] = new(big.Rat).Set(c)
	}
	return r
}

// divide returns the quotient and whether q divides p without rest.
func (p poly) divide(q poly) (poly, bool) {
	if len(p) < len(q) {
		return nil, p.isZero()
	}
	rest := p.clone()
	quot := make(poly, len(p)-len(q)+1)
	t := new(big.Rat)
	for i := len(quot) - 1; i >= 0; i-- {
		c := new(big.Rat).Quo(rest[i+len(q)-1], q[len(q)-1])
		quot[i] = c
		for j, b := range q {
			rest[i+j].Sub(rest[i+j], t.Mul(c, b))
		}
	}
	return quot.trim(), rest.trim().isZero()
}

// shift is p(x+s).
func (p poly) shift(s *big.Rat) poly {
	r := p.clone()
	t := new(big.Rat)
	for i := 0; i < len(r)-1; i++ {
		for j := len(r) - 2; j >= i; j-- {
			r[j].Add(r[j], t.Mul(s, r[j+1]))
		}
	}
	return r
}

// integer is the multiple of p with whole coefficients, no common divisor
// and a positive leading one.
func (p poly) integer() []*big.Int {
	den := big.NewInt(1)
	for _, c := range p {
		g := new(big.Int).GCD(nil, nil, den, c.Denom())
		den.Mul(den, new(big.Int).Quo(c.Denom(), g))
	}
	out := make([]*big.Int, len(p))
	for i, c := range p {
		out[i] = new(big.Int).Mul(c.Num(), new(big.Int).Quo(den, c.Denom()))
	}
	return primitive(out)
}

// primitive divides out the common divisor, in place, and makes the leading
// coefficient positive.
func primitive(c []*big.Int) []*big.Int {
	g := new(big.Int)
	for _, v := range c {
		if g.GCD(nil, nil, g, new(big.Int).Abs(v)); g.IsInt64() && g.Int64() == 1 {
			break
		}
	}
	if n := len(c); n > 0 && c[n-1].Sign() < 0 {
		g.Neg(g)
	}
	if g.Sign() != 0 {
		for _, v := range c {
			v.Quo(v, g)
		}
	}
	return c
}

// cloneInts copies coefficients that are going to be changed.
func cloneInts(c []*big.Int) []*big.Int {
	r := make([]*big.Int, len(c))
	for i, v := range c {
		r[i] = new(big.Int).Set(v)
	}
	return r
}

// derivative is that of a polynomial with whole coefficients.
func derivative(c []*big.Int) []*big.Int {
	d := make([]*big.Int, len(c)-1)
	for i := range d {
		d[i] = new(big.Int).Mul(c[i+1], big.NewInt(int64(i+1)))
	}
	return d
}

// polyOfInts is the polynomial with whole coefficients.
func polyOfInts(c []*big.Int) poly {
	p := make(poly, len(c))
	for i, v := range c {
		p[i] = new(big.Rat).SetInt(v)
	}
	return p.trim()
}
