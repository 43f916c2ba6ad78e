package math

import (
	"math"
	"math/big"
)

// num is a known real number: exactly rational if rat is set, else a value
// of about 106 bits and, where it has one, its closed form.
type num struct {
	rat  *big.Rat
	v    dd
	err  float64 // how far v may be off, if it is not rational
	form formula
	sq   *big.Rat // if set, the number is the root of this
}

func ratNum(r *big.Rat) num { return num{rat: r, v: ddRat(r), form: ratFormula(r)} }

// ddEps is a generous relative error of one operation on v.
const ddEps = 0x1p-95

// computed makes a number that is not known to be rational. err is what the
// errors of its operands come to.
func computed(v dd, err float64, form formula) num {
	return num{v: v, err: math.Abs(err) + math.Abs(v.hi)*ddEps, form: form}
}

func intNum(i int64) num { return ratNum(big.NewRat(i, 1)) }

// ddRat rounds a rational to two floats.
func ddRat(r *big.Rat) dd {
	hi, _ := r.Float64()
	if !finite(hi) {
		return dd{hi, 0}
	}
	lo, _ := new(big.Rat).Sub(r, new(big.Rat).SetFloat64(hi)).Float64()
	return dd{hi, lo}
}

// ok says whether the number can be worked with.
func (a num) ok() bool { return finite(a.v.hi) && finite(a.v.lo) }

// sign is the sign; a value that rounding could have produced counts as
// zero.
func (a num) sign() int {
	if a.rat != nil {
		return a.rat.Sign()
	}
	if math.Abs(a.v.hi) <= 4*a.err {
		return 0
	}
	return a.v.sign()
}

func (a num) isZero() bool { return a.sign() == 0 }

func (a num) exactZero() bool { return a.rat != nil && a.rat.Sign() == 0 }

// exact builds the rational result if both sides are rational and it stays
// within bounds.
func exact(a, b num, op func(z, x, y *big.Rat) *big.Rat) (num, bool) {
	if a.rat == nil || b.rat == nil || a.rat.Num().BitLen()+b.rat.Num().BitLen() > 2*maxCoefBits ||
		a.rat.Denom().BitLen()+b.rat.Denom().BitLen() > 2*maxCoefBits {
		return num{}, false
	}
	return ratNum(op(new(big.Rat), a.rat, b.rat)), true
}

func (a num) neg() num {
	if a.rat != nil {
		return ratNum(new(big.Rat).Neg(a.rat))
	}
	return num{v: a.v.neg(), err: a.err, form: negFormula(a.form)}
}

func (a num) add(b num) num {
	if r, ok := exact(a, b, (*big.Rat).Add); ok {
		return r
	}
	switch {
	case a.exactZero():
		return b
	case b.exactZero():
		return a
	}
	return computed(a.v.add(b.v), a.err+b.err, addFormula(a.form, b.form))
}

func (a num) sub(b num) num {
	if r, ok := exact(a, b, (*big.Rat).Sub); ok {
		return r
	}
	switch {
	case a.exactZero():
		return b.neg()
	case b.exactZero():
		return a
	}
	return computed(a.v.sub(b.v), a.err+b.err, subFormula(a.form, b.form))
}

func (a num) mul(b num) num {
	if r, ok := exact(a, b, (*big.Rat).Mul); ok {
		return r
	}
	if a.exactZero() || b.exactZero() {
		return intNum(0)
	}
	if a.sq != nil && b.sq != nil && a.sq.Cmp(b.sq) == 0 {
		return ratNum(a.sq)
	}
	return computed(a.v.mul(b.v), math.Abs(a.v.hi)*b.err+math.Abs(b.v.hi)*a.err, mulFormula(a.form, b.form))
}

// div divides by what is not zero.
func (a num) div(b num) num {
	if r, ok := exact(a, b, (*big.Rat).Quo); ok {
		return r
	}
	q := a.v.div(b.v)
	return computed(q, (a.err+math.Abs(q.hi)*b.err)/b.v.hi, divFormula(a.form, b.form))
}

// pow is a**b for a > 0, for a == 0 with b > 0, and for any a != 0 with a
// whole b.
func (a num) pow(b num) num {
	if a.rat != nil && b.rat != nil {
		if r := ratPow(a.rat, b.rat); r != nil {
			return ratNum(r)
		}
	}
	form := powFormula(a.form, b.form)
	switch {
	case a.v.hi == 0:
		return computed(dd{}, a.err, form)
	case b.rat != nil && b.rat.Cmp(big.NewRat(1, 2)) == 0 && a.v.hi > 0:
		r := a.v.sqrt()
		root := computed(r, a.err/r.hi, form)
		root.sq = a.rat
		return root
	}
	base, odd := a.v, false
	if a.v.hi < 0 {
		base = a.v.neg()
		odd = b.rat != nil && b.rat.IsInt() && b.rat.Num().Bit(0) == 1
	}
	if est := math.Log2(base.hi) * b.v.hi; math.Abs(est) > 1000 {
		return num{v: dd{math.NaN(), 0}} // out of range on the way
	}
	m, k := ddPow(base, b.v)
	m = m.scale(math.Ldexp(1, k))
	if odd {
		m = m.neg()
	}
	rel := math.Abs(b.v.hi)*a.err/base.hi + math.Abs(math.Log(base.hi))*b.err
	return computed(m, m.hi*(rel+8*ddEps*math.Abs(b.v.hi)), form)
}

// ratPow is a**b if that is rational and of reasonable size, else nil. For
// a fractional b, a must not be negative.
func ratPow(a, b *big.Rat) *big.Rat {
	if !b.Num().IsInt64() || !b.Denom().IsInt64() {
		return nil
	}
	n, d := b.Num().Int64(), b.Denom().Int64()
	if a.Sign() == 0 {
		if n > 0 {
			return new(big.Rat)
		}
		return nil
	}
	if d > 1 {
		if a.Sign() < 0 {
			return nil
		}
		x, y := exactRoot(a.Num(), d), exactRoot(a.Denom(), d)
		if x == nil || y == nil {
			return nil
		}
		a = new(big.Rat).SetFrac(x, y)
	}
	size := int64(max(a.Num().BitLen(), a.Denom().BitLen()))
	if a.IsInt() && a.Num().BitLen() == 1 {
		size = 0 // one, or minus one
	}
	k := n
	if k < 0 {
		k = -k
	}
	if k < 0 || size > 0 && k > maxCoefBits/size {
		return nil
	}
	if size == 0 {
		k &= 1
	}
	e := big.NewInt(k)
	r := new(big.Rat).SetFrac(new(big.Int).Exp(a.Num(), e, nil), new(big.Int).Exp(a.Denom(), e, nil))
	if n < 0 {
		r.Inv(r)
	}
	return r
}

// exactRoot is the d-th root of n >= 0 if it is whole, else nil.
func exactRoot(n *big.Int, d int64) *big.Int {
	if n.Sign() == 0 || n.BitLen() == 1 {
		return new(big.Int).Set(n)
	}
	if int64(n.BitLen()) <= d {
		return nil // less than two
	}
	// Newton's method from above.
	x := new(big.Int).Lsh(big.NewInt(1), uint(n.BitLen())/uint(d)+1)
	e := big.NewInt(d - 1)
	for {
		y := new(big.Int).Quo(n, new(big.Int).Exp(x, e, nil))
		y.Add(y, new(big.Int).Mul(e, x))
		y.Quo(y, big.NewInt(d))
		if y.Cmp(x) >= 0 {
			break
		}
		x = y
	}
	if new(big.Int).Exp(x, big.NewInt(d), nil).Cmp(n) != 0 {
		return nil
	}
	return x
}
