package schema

import (
	"cmp"
	"math/big"
	"math/bits"
	"strconv"
)

// decimal is a number literal taken apart without any arithmetic: sign, significant digits, and the power of ten of the
// first digit. Comparing two of them is comparing powers and then digits, which is exact at any length, and an exponent
// of a billion costs no more than an exponent of one.
type decimal struct {
	neg    bool
	ip, fp []byte // the significant digits before and after the point
	top    int64  // the power of ten of the first significant digit
	n      int64  // how many significant digits; 0 means the number is zero
}

// maxExponent is where exponents stop being told apart. No such number can be written out or computed with.
const maxExponent = int64(1e17)

// parseDecimal takes a valid JSON number literal apart.
func parseDecimal(lit []byte) decimal {
	var d decimal
	if lit[0] == '-' {
		d.neg = true
		lit = lit[1:]
	}
	j := 0
	for j < len(lit) && lit[j]-'0' <= 9 {
		j++
	}
	d.ip = lit[:j]
	if j < len(lit) && lit[j] == '.' {
		from := j + 1
		for j = from; j < len(lit) && lit[j]-'0' <= 9; j++ {
		}
		d.fp = lit[from:j]
	}
	exp := int64(0)
	if j < len(lit) {
		exp = parseExponent(lit[j+1:])
	}
	for len(d.ip) > 0 && d.ip[0] == '0' {
		d.ip = d.ip[1:]
	}
	for len(d.fp) > 0 && d.fp[len(d.fp)-1] == '0' {
		d.fp = d.fp[:len(d.fp)-1]
	}
	d.top = int64(len(d.ip)) - 1 + exp
	if len(d.ip) == 0 {
		for len(d.fp) > 0 && d.fp[0] == '0' {
			d.fp = d.fp[1:]
			d.top--
		}
	}
	if len(d.fp) == 0 {
		for len(d.ip) > 0 && d.ip[len(d.ip)-1] == '0' {
			d.ip = d.ip[:len(d.ip)-1]
		}
	}
	d.n = int64(len(d.ip) + len(d.fp))
	if d.n == 0 {
		d.neg, d.top = false, 0
	}
	return d
}

func parseExponent(s []byte) int64 {
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	e := int64(0)
	for _, c := range s {
		if e = e*10 + int64(c-'0'); e > maxExponent {
			e = maxExponent
		}
	}
	if neg {
		return -e
	}
	return e
}

func (d *decimal) digit(k int64) byte {
	if k < int64(len(d.ip)) {
		return d.ip[k]
	}
	return d.fp[k-int64(len(d.ip))]
}

// low is the power of ten of the last significant digit.
func (d *decimal) low() int64 { return d.top - d.n + 1 }

func (d *decimal) isInteger() bool { return d.n == 0 || d.low() >= 0 }

func (d *decimal) sign() int {
	switch {
	case d.n == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d *decimal) compare(e *decimal) int {
	s := d.sign()
	if c := cmp.Compare(s, e.sign()); c != 0 || s == 0 {
		return c
	}
	if c := cmp.Compare(d.top, e.top); c != 0 {
		return s * c
	}
	for k := range min(d.n, e.n) {
		if c := cmp.Compare(d.digit(k), e.digit(k)); c != 0 {
			return s * c
		}
	}
	return s * cmp.Compare(d.n, e.n)
}

// appendInt appends an integral decimal as a plain integer literal if it fits 64 bits.
func (d *decimal) appendInt(dst []byte) ([]byte, bool) {
	if d.n == 0 {
		return append(dst, '0'), true
	}
	if d.low() < 0 || d.top > 18 {
		return dst, false
	}
	from := len(dst)
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.ip...), d.fp...)
	for range d.low() {
		dst = append(dst, '0')
	}
	if _, err := strconv.ParseInt(string(dst[from:]), 10, 64); err != nil {
		return dst[:from], false
	}
	return dst, true
}

// shortInt reads an integer literal of at most 18 digits, the common case.
func shortInt(lit []byte) (int64, bool) {
	neg := lit[0] == '-'
	if neg {
		lit = lit[1:]
	}
	if len(lit) > 18 {
		return 0, false
	}
	v := int64(0)
	for _, c := range lit {
		v = v*10 + int64(c-'0')
	}
	if neg {
		v = -v
	}
	return v, true
}

// instanceNumber is the number of an instance, as an integer if it is short and as a decimal if that is needed.
type instanceNumber struct {
	short bool
	i     int64
	lit   []byte
	dec   decimal
	known bool // dec is filled in
}

func (d *Doc) number(i uint32) instanceNumber {
	f := instanceNumber{lit: d.raw(i)}
	if d.nodes[i].flags&flagInt != 0 {
		f.i, f.short = shortInt(f.lit)
	}
	return f
}

func (f *instanceNumber) decimal() *decimal {
	if !f.known {
		f.dec, f.known = parseDecimal(f.lit), true
	}
	return &f.dec
}

// bound is a number of a schema.
type bound struct {
	short bool
	i     int64
	dec   decimal
}

func newBound(lit []byte, flags uint8) bound {
	b := bound{dec: parseDecimal(lit)}
	if flags&flagInt != 0 {
		b.i, b.short = shortInt(lit)
	}
	return b
}

func (f *instanceNumber) compare(b *bound) int {
	if f.short && b.short {
		return cmp.Compare(f.i, b.i)
	}
	return f.decimal().compare(&b.dec)
}

// divisor is a compiled multipleOf: mant × 10^low, where mant does not end in zero.
type divisor struct {
	bound
	mant uint64
	wide *big.Int // mant, when it does not fit 64 bits
	low  int64
}

func newDivisor(b bound) *divisor {
	m := &divisor{bound: b, low: b.dec.low()}
	digits := string(append(append([]byte(nil), b.dec.ip...), b.dec.fp...))
	var err error
	if m.mant, err = strconv.ParseUint(digits, 10, 64); err != nil {
		m.wide, _ = new(big.Int).SetString(digits, 10)
	}
	return m
}

// divides says whether f is a whole multiple. With f = V × 10^v and m = M × 10^l, the quotient is V × 10^(v-l) / M. V does
// not end in zero, so it can only be whole if v >= l, and then it is enough to reckon modulo M: no power is written out.
func (m *divisor) divides(f *instanceNumber) bool {
	if f.short && m.bound.short {
		return f.i%m.bound.i == 0
	}
	d := f.decimal()
	if d.n == 0 {
		return true
	}
	k := d.low() - m.low
	if k < 0 {
		return false
	}
	if m.wide != nil {
		return m.dividesWide(d, k)
	}
	rem := uint64(0)
	for j := range d.n {
		hi, lo := bits.Mul64(rem, 10)
		lo, carry := bits.Add64(lo, uint64(d.digit(j)-'0'), 0)
		rem = bits.Rem64(hi+carry, lo, m.mant)
	}
	base := 10 % m.mant
	for ; k > 0 && rem != 0; k >>= 1 {
		if k&1 != 0 {
			rem = mulMod(rem, base, m.mant)
		}
		base = mulMod(base, base, m.mant)
	}
	return rem == 0
}

func mulMod(x, y, m uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return bits.Rem64(hi, lo, m)
}

func (m *divisor) dividesWide(d *decimal, k int64) bool {
	rem, ten, x := new(big.Int), big.NewInt(10), new(big.Int)
	for j := range d.n {
		rem.Add(rem.Mul(rem, ten), x.SetInt64(int64(d.digit(j)-'0')))
		rem.Mod(rem, m.wide)
	}
	rem.Mul(rem, x.Exp(ten, big.NewInt(k), m.wide))
	return rem.Mod(rem, m.wide).Sign() == 0
}
