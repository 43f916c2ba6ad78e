package grep

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// literal is a text to look for.
type literal struct {
	text []byte // in lower case if folded
	fold bool
	rare bool   // its rarest byte is rare enough to be looked for alone
	one  int    // offset of its rarest byte
	two  int    // and of the next rarest, at another place
	c1   uint64 // these two, eight times each
	c2   uint64
	mask uint64 // what is set in every byte before it is compared
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func newLiteral(text string, fold bool) *literal {
	l := &literal{text: []byte(text), fold: fold}
	if fold {
		for i, c := range l.text {
			l.text[i] = lower(c)
		}
		l.mask = 0x20 * ones
	}
	rank := ranks()
	l.one, l.two = pair(l.text, rank)
	l.rare = rank[l.text[l.one]] < 200
	mask := byte(l.mask)
	l.c1 = ones * uint64(l.text[l.one]|mask)
	l.c2 = ones * uint64(l.text[l.two]|mask)
	return l
}

// pair chooses the two bytes to look for: rare ones, the first the rarest, and
// rather far apart, because neighbours are often there together without the
// rest.
func pair(text []byte, rank *[256]uint8) (one, two int) {
	for i, c := range text {
		if rank[c] < rank[text[one]] {
			one = i
		}
	}
	if len(text) == 1 {
		return 0, 0
	}
	best := -1
	for i, c := range text {
		if i == one {
			continue
		}
		if score := 255 - int(rank[c]) + 3*min(max(i-one, one-i), 8); score > best {
			best, two = score, i
		}
	}
	return one, two
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// ranks says how common bytes are in source code and prose: 0 for those that
// hardly occur, up to 255.
func ranks() *[256]uint8 {
	const common = " etaonirsldcupmfhg\nb.y,_(v)w\"=k/;*-:01xTSCE2I{}AP&RDN[]L!FM3O>B|'V+U<H4#85\\WG6@97zqj$X%KYJQZ^?~`"
	var r [256]uint8
	for i := range common {
		r[common[i]] = uint8(255 - 2*i)
	}
	r['\t'] = 250
	for i := 0x80; i < 0x100; i++ {
		r[i] = 60
	}
	return &r
}

// index finds the text in b, or gives -1.
func (l *literal) index(b []byte) int {
	switch {
	case len(l.text) == 1 && !l.fold:
		return bytes.IndexByte(b, l.text[0])
	case l.rare && !l.fold:
		return l.byRareByte(b)
	}
	return l.byPair(b, 0)
}

// byRareByte lets the vector instructions behind IndexByte skip to the rarest
// byte; if that is not so rare here, byPair goes on.
func (l *literal) byRareByte(b []byte) int {
	c := l.text[l.one]
	misses := 0
	for i := 0; i+len(l.text) <= len(b); {
		n := bytes.IndexByte(b[i+l.one:], c)
		if n < 0 {
			return -1
		}
		i += n
		if l.at(b[i:]) {
			return i
		}
		i++
		if misses++; misses > 8+i>>6 {
			return l.byPair(b, i)
		}
	}
	return -1
}

// byPair compares two bytes of the text at 32 places at a time. That both
// stand right is rare even for common letters.
func (l *literal) byPair(b []byte, i int) int {
	c1, c2, mask := l.c1, l.c2, l.mask
	last := len(b) - len(l.text)
	if i > last {
		return -1
	}
	p, q := b[l.one:], b[l.two:]
	for end := last + 1 - 32; i <= end; i += 32 {
		v, w := (*[32]byte)(p[i:]), (*[32]byte)(q[i:])
		z0 := ((le(v[:8]) | mask) ^ c1) | ((le(w[:8]) | mask) ^ c2)
		z1 := ((le(v[8:16]) | mask) ^ c1) | ((le(w[8:16]) | mask) ^ c2)
		z2 := ((le(v[16:24]) | mask) ^ c1) | ((le(w[16:24]) | mask) ^ c2)
		z3 := ((le(v[24:]) | mask) ^ c1) | ((le(w[24:]) | mask) ^ c2)
		if ((z0-ones)&^z0|(z1-ones)&^z1|(z2-ones)&^z2|(z3-ones)&^z3)&highs == 0 {
			continue
		}
		for k, z := range [4]uint64{z0, z1, z2, z3} {
			for hit := zeros(z); hit != 0; hit &= hit - 1 {
				if at := i + 8*k + bits.TrailingZeros64(hit)/8; l.at(b[at:]) {
					return at
				}
			}
		}
	}
	for ; i <= last; i++ { // less than 32 places
		if p[i]|byte(mask) == byte(c1) && q[i]|byte(mask) == byte(c2) && l.at(b[i:]) {
			return i
		}
	}
	return -1
}

// zeros marks the bytes that are zero, and no others, by their highest bit.
func zeros(z uint64) uint64 { return ^((z&^highs + ^uint64(highs)) | z | ^uint64(highs)) }

func le(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// at reports whether the text stands at the beginning of b.
func (l *literal) at(b []byte) bool {
	if !l.fold {
		return bytes.HasPrefix(b, l.text)
	}
	if len(b) < len(l.text) {
		return false
	}
	for i, c := range l.text {
		if c != lower(b[i]) {
			return false
		}
	}
	return true
}
