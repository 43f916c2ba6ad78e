package grep

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// nfa is an expression as an automaton over bytes. It accepts at least what
// regexp does: where the two could differ (bytes that are no UTF-8, a
// carriage return at the end) it accepts too much, and the line is asked of
// regexp again.
type nfa struct {
	insts []inst
	start uint32
	word  bool // has \b or \B
	// classes maps bytes that no instruction tells apart to the same number.
	classes [256]uint8
	samples []byte // a byte of each class
}

type inst struct {
	op       opcode
	lo, hi   byte
	empty    syntax.EmptyOp
	out, alt uint32
}

type opcode uint8

const (
	opFail opcode = iota
	opMatch
	opByte  // lo to hi, then out
	opAlt   // out and alt
	opNop   // out
	opEmpty // out, where empty holds
)

// maxInsts bounds the automaton: large classes of Unicode repeated often are
// better left to regexp.
const maxInsts = 20_000

func newNFA(prog *syntax.Prog) *nfa {
	n := &nfa{insts: make([]inst, len(prog.Inst)), start: uint32(prog.Start)}
	for i := range prog.Inst {
		if !n.translate(uint32(i), &prog.Inst[i]) {
			return nil
		}
	}
	n.classify()
	return n
}

func (n *nfa) translate(at uint32, from *syntax.Inst) bool {
	switch from.Op {
	case syntax.InstMatch:
		n.insts[at] = inst{op: opMatch}
	case syntax.InstAlt, syntax.InstAltMatch:
		n.insts[at] = inst{op: opAlt, out: from.Out, alt: from.Arg}
	case syntax.InstCapture, syntax.InstNop:
		n.insts[at] = inst{op: opNop, out: from.Out}
	case syntax.InstEmptyWidth:
		e := syntax.EmptyOp(from.Arg)
		n.word = n.word || e&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		n.insts[at] = inst{op: opEmpty, empty: e, out: from.Out}
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return n.runes(at, from)
	}
	return len(n.insts) <= maxInsts
}

// runes writes a class of characters as sequences of bytes.
func (n *nfa) runes(at uint32, from *syntax.Inst) bool {
	ranges := from.Rune
	switch {
	case from.Op == syntax.InstRuneAny || from.Op == syntax.InstRuneAnyNotNL:
		ranges = []rune{0, unicode.MaxRune}
	case len(ranges) == 1:
		c := ranges[0]
		ranges = []rune{c, c}
		if from.Op == syntax.InstRune && syntax.Flags(from.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				ranges = append(ranges, f, f)
			}
		}
	}
	var ways []uint32
	for i := 0; i+1 < len(ranges); i += 2 {
		utf8Ranges(ranges[i], ranges[i+1], func(seq []byteRange) {
			ways = append(ways, n.sequence(seq, from.Out))
		})
		if ranges[i] <= utf8.RuneError && utf8.RuneError <= ranges[i+1] {
			// regexp takes every byte that is no UTF-8 for U+FFFD.
			ways = append(ways, n.sequence([]byteRange{{0x80, 0xff}}, from.Out))
		}
		if len(n.insts) > maxInsts {
			return false
		}
	}
	n.choose(at, ways)
	return true
}

func (n *nfa) add(i inst) uint32 {
	n.insts = append(n.insts, i)
	return uint32(len(n.insts) - 1)
}

func (n *nfa) sequence(seq []byteRange, out uint32) uint32 {
	for _, r := range slices.Backward(seq) {
		out = n.add(inst{op: opByte, lo: r.lo, hi: r.hi, out: out})
	}
	return out
}

// choose makes the instruction at a place lead to any of several others.
func (n *nfa) choose(at uint32, ways []uint32) {
	switch len(ways) {
	case 0:
		n.insts[at] = inst{op: opFail}
		return
	case 1:
		n.insts[at] = inst{op: opNop, out: ways[0]}
		return
	}
	rest := ways[len(ways)-1]
	for _, w := range ways[1 : len(ways)-1] {
		rest = n.add(inst{op: opAlt, out: w, alt: rest})
	}
	n.insts[at] = inst{op: opAlt, out: ways[0], alt: rest}
}

// classify finds which bytes are told apart.
func (n *nfa) classify() {
	var cut [257]bool
	mark := func(lo, hi byte) { cut[lo], cut[int(hi)+1] = true, true }
	mark('\n', '\n')
	mark('\r', '\r')
	if n.word {
		for _, r := range [][2]byte{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} {
			mark(r[0], r[1])
		}
	}
	for _, i := range n.insts {
		if i.op == opByte {
			mark(i.lo, i.hi)
		}
	}
	class := -1
	for b := range 256 {
		if b == 0 || cut[b] {
			class++
			n.samples = append(n.samples, byte(b))
		}
		n.classes[b] = uint8(class)
	}
}

type byteRange struct{ lo, hi byte }

// utf8Ranges splits a range of characters into sequences of byte ranges.
func utf8Ranges(lo, hi rune, emit func([]byteRange)) {
	if lo > hi {
		return
	}
	const firstSurrogate, lastSurrogate = 0xd800, 0xdfff
	if lo <= lastSurrogate && hi >= firstSurrogate { // never in UTF-8
		utf8Ranges(lo, firstSurrogate-1, emit)
		utf8Ranges(lastSurrogate+1, hi, emit)
		return
	}
	for _, top := range []rune{0x7f, 0x7ff, 0xffff} { // the lengths of an encoding
		if lo <= top && top < hi {
			utf8Ranges(lo, top, emit)
			utf8Ranges(top+1, hi, emit)
			return
		}
	}
	if hi < utf8.RuneSelf {
		emit([]byteRange{{byte(lo), byte(hi)}})
		return
	}
	// Split until all bytes after the first that differs run through their
	// whole range.
	for i := 1; i < utf8.UTFMax; i++ {
		m := rune(1)<<(6*i) - 1
		if lo&^m == hi&^m {
			continue
		}
		if lo&m != 0 {
			utf8Ranges(lo, lo|m, emit)
			utf8Ranges((lo|m)+1, hi, emit)
			return
		}
		if hi&m != m {
			utf8Ranges(lo, hi&^m-1, emit)
			utf8Ranges(hi&^m, hi, emit)
			return
		}
	}
	var a, b [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(b[:], hi)
	seq := make([]byteRange, n)
	for i := range seq {
		seq[i] = byteRange{a[i], b[i]}
	}
	emit(seq)
}
