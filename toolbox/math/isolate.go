package math

import (
	"math"
	"math/big"
	"slices"
)

// interval holds one real root of a polynomial with whole coefficients: the
// root lies in lo < x < hi, or lo == hi is the root. Both are dyadic:
// num/2^exp.
type interval struct {
	lo, hi *big.Int
	exp    uint
}

// isolate finds intervals with exactly one root each for all real roots of a
// square-free polynomial, in ascending order (Descartes' rule of signs on
// halved intervals).
func isolate(w *work, c []*big.Int) ([]interval, error) {
	var neg, out []interval
	if c[0].Sign() == 0 {
		out = append(out, interval{new(big.Int), new(big.Int), 0})
		c = c[1:]
	}
	mirrored := cloneInts(c)
	for i := 1; i < len(mirrored); i += 2 {
		mirrored[i].Neg(mirrored[i])
	}
	pos, err := positive(w, mirrored)
	if err != nil {
		return nil, err
	}
	for _, v := range slices.Backward(pos) {
		neg = append(neg, interval{new(big.Int).Neg(v.hi), new(big.Int).Neg(v.lo), v.exp})
	}
	out = append(neg, out...)
	pos, err = positive(w, c)
	if err != nil {
		return nil, err
	}
	return append(out, pos...), nil
}

// positive isolates the positive roots of c, whose constant is not zero.
func positive(w *work, c []*big.Int) ([]interval, error) {
	if signChanges(c) == 0 {
		return nil, nil
	}
	bound := rootBound(c)
	s := splitter{work: w, bound: bound}
	// Roots below 2^bound of c(x) are roots below 1 of c(2^bound x).
	scaled := make([]*big.Int, len(c))
	for i, v := range c {
		scaled[i] = new(big.Int).Lsh(v, uint(i)*bound)
	}
	err := s.split(scaled, new(big.Int), 0)
	return s.out, err
}

// rootBound gives k such that no root is larger than 2^k: twice the largest
// of the ratios |c_i/c_n|^(1/(n-i)).
func rootBound(c []*big.Int) uint {
	n := len(c) - 1
	best := 0
	for i, v := range c[:n] {
		if v.Sign() != 0 {
			e := v.BitLen() - c[n].BitLen() + 1
			best = max(best, int(math.Ceil(float64(e)/float64(n-i))))
		}
	}
	return uint(best + 1)
}

func signChanges(c []*big.Int) int {
	n, last := 0, 0
	for _, v := range c {
		if s := v.Sign(); s != 0 {
			if last != 0 && s != last {
				n++
			}
			last = s
		}
	}
	return n
}

type splitter struct {
	work  *work
	bound uint
	out   []interval
}

// split finds the roots of p in (0, 1), which stand for the roots in
// (at, at+1) * 2^(bound-depth).
func (s *splitter) split(p []*big.Int, at *big.Int, depth uint) error {
	for {
		if err := s.work.spend(len(p) * len(p) * words(p)); err != nil {
			return err
		}
		switch n := signChanges(reversedShift(p)); n {
		case 0:
			return nil
		case 1:
			s.add(at, new(big.Int).Add(at, big.NewInt(1)), depth)
			return nil
		}
		half := make([]*big.Int, len(p)) // 2^n * p(x/2)
		for i, v := range p {
			half[i] = new(big.Int).Lsh(v, uint(len(p)-1-i))
		}
		at = new(big.Int).Lsh(at, 1)
		depth++
		if err := s.split(half, at, depth); err != nil {
			return err
		}
		// Go on with the right half, without recursion.
		p = shiftOne(half)
		at.Add(at, big.NewInt(1))
		if p[0].Sign() == 0 {
			s.add(at, at, depth)
			p = p[1:]
		}
	}
}

func (s *splitter) add(lo, hi *big.Int, depth uint) {
	v := interval{new(big.Int).Set(lo), new(big.Int).Set(hi), depth}
	if s.bound >= depth {
		v.lo.Lsh(v.lo, s.bound-depth)
		v.hi.Lsh(v.hi, s.bound-depth)
		v.exp = 0
	} else {
		v.exp = depth - s.bound
	}
	s.out = append(s.out, v)
}

// reversedShift is (1+x)^n p(1/(1+x)): its positive roots are those of p
// between 0 and 1.
func reversedShift(p []*big.Int) []*big.Int {
	r := slices.Clone(p)
	slices.Reverse(r)
	return shiftOne(r)
}

// shiftOne is p(x+1).
func shiftOne(p []*big.Int) []*big.Int {
	r := cloneInts(p)
	for i := 0; i < len(r)-1; i++ {
		for j := len(r) - 2; j >= i; j-- {
			r[j].Add(r[j], r[j+1])
		}
	}
	return r
}

// signAt is the sign of c at num/2^exp.
func signAt(c []*big.Int, num *big.Int, exp uint) int {
	r := new(big.Int)
	t := new(big.Int)
	for i, v := range slices.Backward(c) {
		r.Mul(r, num)
		r.Add(r, t.Lsh(v, exp*uint(len(c)-1-i)))
	}
	return r.Sign()
}

// refine halves the interval until it is at most 2^(1-bits) wide, or its root
// is found.
func (v *interval) refine(w *work, c []*big.Int, bits int) error {
	if v.lo.Cmp(v.hi) == 0 {
		return nil
	}
	below := 0
	width := new(big.Int)
	for width.Sub(v.hi, v.lo).BitLen()+bits-1 > int(v.exp) {
		if err := w.spend(len(c) * (words(c) + len(c)*(int(v.exp)+v.hi.BitLen())/128)); err != nil {
			return err
		}
		if below == 0 {
			// An end may be a neighbouring root: look just inside.
			below = v.signBelow(c)
		}
		v.lo.Lsh(v.lo, 1)
		v.hi.Lsh(v.hi, 1)
		v.exp++
		mid := new(big.Int).Add(v.lo, v.hi)
		mid.Rsh(mid, 1)
		switch s := signAt(c, mid, v.exp); {
		case s == 0:
			v.lo, v.hi = mid, new(big.Int).Set(mid)
			return nil
		case s == below:
			v.lo = mid
		default:
			v.hi = mid
		}
	}
	return nil
}

// signBelow is the sign of c between lo and the root. At lo itself c may be
// zero; then it has the sign that the derivative has there.
func (v *interval) signBelow(c []*big.Int) int {
	for len(c) > 1 {
		if s := signAt(c, v.lo, v.exp); s != 0 {
			return s
		}
		c = derivative(c)
	}
	return 1
}

func (v *interval) exact() bool { return v.lo.Cmp(v.hi) == 0 }

// rats gives the ends as rationals.
func (v *interval) rats() (lo, hi *big.Rat) {
	den := new(big.Int).Lsh(big.NewInt(1), v.exp)
	return new(big.Rat).SetFrac(v.lo, den), new(big.Rat).SetFrac(v.hi, den)
}
