package math

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
)

// moments holds the exact sums of a list of floats: every float is a whole
// multiple of 2^exp.
type moments struct {
	n       int
	exp     int      // 0 or negative
	sum, sq *big.Int // of the multiples and of their squares
}

// newMoments adds up without rounding. It stops when ctx does: the sums of
// squares of a long list take their time.
func newMoments(ctx context.Context, xs []float64) (moments, error) {
	m := moments{n: len(xs), sum: new(big.Int), sq: new(big.Int)}
	for _, x := range xs {
		if x != 0 {
			frac, e := math.Frexp(x)
			whole := int64(frac * (1 << 53))
			for whole&1 == 0 {
				whole >>= 1
				e++
			}
			m.exp = min(m.exp, e-53)
		}
	}
	v, sq := new(big.Int), new(big.Int)
	for i, x := range xs {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return m, err
			}
		}
		frac, e := math.Frexp(x)
		v.SetInt64(int64(frac * (1 << 53)))
		if shift := e - 53 - m.exp; shift >= 0 {
			v.Lsh(v, uint(shift))
		} else {
			v.Rsh(v, uint(-shift)) // only zeros fall off: exp is a common one
		}
		m.sum.Add(m.sum, v)
		m.sq.Add(m.sq, sq.Mul(v, v))
	}
	return m, nil
}

// mean is the correctly rounded mean.
func (m moments) mean() float64 {
	den := new(big.Int).Lsh(big.NewInt(int64(m.n)), uint(-m.exp))
	f, _ := new(big.Rat).SetFrac(m.sum, den).Float64()
	return f
}

// stdev is the correctly rounded sample standard deviation of at least two
// numbers.
func (m moments) stdev() (float64, error) {
	n := big.NewInt(int64(m.n))
	num := new(big.Int).Mul(n, m.sq)
	num.Sub(num, new(big.Int).Mul(m.sum, m.sum))
	if num.Sign() == 0 {
		return 0, nil
	}
	den := new(big.Int).Mul(n, big.NewInt(int64(m.n-1)))
	// Scale by an even power of two so that the root has some 70 bits, and
	// let its last bit stand for everything that was cut off.
	shift := max(0, 140-num.BitLen()+den.BitLen())
	shift += shift & 1
	q, rest := new(big.Int).QuoRem(num.Lsh(num, uint(shift)), den, new(big.Int))
	root := new(big.Int).Sqrt(q)
	exact := rest.Sign() == 0 && new(big.Int).Mul(root, root).Cmp(q) == 0
	root.Lsh(root, 1)
	if !exact {
		root.SetBit(root, 0, 1)
	}
	f := new(big.Float).SetPrec(uint(root.BitLen())).SetInt(root)
	v, _ := f.SetMantExp(f, m.exp-shift/2-1).Float64()
	if math.IsInf(v, 0) {
		return 0, evalError("integer division result too large for a float")
	}
	return v, nil
}

// median may overflow to infinity, as the mean of two large floats does.
func median(xs []float64) float64 {
	s := slices.Clone(xs)
	slices.SortStableFunc(s, cmp.Compare)
	h := len(s) / 2
	if len(s)%2 == 1 {
		return s[h]
	}
	return (s[h-1] + s[h]) / 2
}
