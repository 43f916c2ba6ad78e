package math

import (
	"math/big"
	"slices"
)

// quadraticFactors finds factors of degree two with real roots by looking at
// pairs of roots whose sum and product are rational.
func quadraticFactors(w *work, p poly, open []*root) (poly, []*root, error) {
	c := p.integer()
	lead := c[len(c)-1]
	size := 0
	for _, r := range open {
		size = max(size, r.iv.hi.BitLen()-int(r.iv.exp), r.iv.lo.BitLen()-int(r.iv.exp))
	}
	for _, r := range open {
		// Narrow enough that a whole number in the range is no accident.
		if err := r.iv.refine(w, c, lead.BitLen()+max(size, 0)+40); err != nil {
			return nil, nil, err
		}
	}
	for i := 0; i < len(open); i++ {
		for j := i + 1; j < len(open); j++ {
			if err := w.spend(64 * words(c)); err != nil {
				return nil, nil, err
			}
			q := pairFactor(lead, &open[i].iv, &open[j].iv)
			if q == nil {
				continue
			}
			rest, ok := p.divide(q)
			if !ok {
				continue
			}
			k := q.integer()
			open[i].form, open[j].form = quadraticForms(k[2], k[1], k[0])
			p = rest
			open = slices.Delete(open, j, j+1)
			open = slices.Delete(open, i, i+1)
			i--
			break
		}
	}
	return p, open, nil
}

// pairFactor is lead*(x-a)(x-b) if its coefficients look whole.
func pairFactor(lead *big.Int, a, b *interval) poly {
	alo, ahi := a.rats()
	blo, bhi := b.rats()
	l := new(big.Rat).SetInt(lead)
	mul := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(l, new(big.Rat).Mul(x, y)) }
	sum := wholeBetween(new(big.Rat).Mul(l, new(big.Rat).Add(alo, blo)), new(big.Rat).Mul(l, new(big.Rat).Add(ahi, bhi)))
	if sum == nil {
		return nil
	}
	lo, hi := mul(alo, blo), mul(alo, blo)
	for _, v := range []*big.Rat{mul(alo, bhi), mul(ahi, blo), mul(ahi, bhi)} {
		if v.Cmp(lo) < 0 {
			lo = v
		}
		if v.Cmp(hi) > 0 {
			hi = v
		}
	}
	prod := wholeBetween(lo, hi)
	if prod == nil {
		return nil
	}
	return polyOf(new(big.Rat).SetInt(prod), new(big.Rat).SetInt(sum.Neg(sum)), l)
}

func wholeBetween(lo, hi *big.Rat) *big.Int {
	k := floorRat(hi)
	if new(big.Rat).SetInt(k).Cmp(lo) < 0 {
		return nil
	}
	return k
}

// quadraticForms writes the roots of ax²+bx+c, a > 0, smaller one first.
func quadraticForms(a, b, c *big.Int) (formula, formula) {
	disc := new(big.Int).Mul(b, b)
	disc.Sub(disc, new(big.Int).Lsh(new(big.Int).Mul(a, c), 2))
	s, d := takeSquares(disc)
	p, q := new(big.Int).Neg(b), new(big.Int).Lsh(a, 1)
	g := new(big.Int).GCD(nil, nil, new(big.Int).Abs(p), s)
	g.GCD(nil, nil, g, q)
	for _, v := range []*big.Int{p, s, q} {
		v.Quo(v, g)
	}
	whole := func(v *big.Int) formula { return ratFormula(new(big.Rat).SetInt(v)) }
	rooted := mulFormula(whole(s), callFormula("sqrt", whole(d)))
	small := divFormula(subFormula(whole(p), rooted), whole(q))
	large := divFormula(addFormula(whole(p), rooted), whole(q))
	return small, large
}

// takeSquares writes d as s²*r, with all small square factors in s.
func takeSquares(d *big.Int) (s, r *big.Int) {
	s, r = big.NewInt(1), new(big.Int).Set(d)
	rest := new(big.Int)
	for f := int64(2); f < 2000; f++ {
		sq := big.NewInt(f * f)
		if sq.Cmp(r) > 0 {
			break
		}
		for {
			q, m := new(big.Int).QuoRem(r, sq, rest)
			if m.Sign() != 0 {
				break
			}
			r.Set(q)
			s.Mul(s, big.NewInt(f))
		}
	}
	return s, r
}
