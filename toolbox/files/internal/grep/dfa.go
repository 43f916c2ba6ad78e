package grep

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// dfa runs an nfa by remembering the sets of instructions it has been in. It
// reads whole buffers: a newline ends one line and begins the next. It belongs
// to one searcher.
type dfa struct {
	n      *nfa
	stride int32
	trans  []int32 // by state and class: the next state, or one of the marks below
	states []dfaState
	index  map[string]int32
	first  int32 // the state at the start of a line

	now, next set
	stack     []uint32
	key       []byte
	flushes   int
}

// dfaState is a set of instructions, before the conditions in it were looked
// at: they depend on the byte to come.
type dfaState struct {
	insts []uint32
	flags stateFlags
}

type stateFlags uint8

const (
	atStart   stateFlags = 1 << iota
	afterWord            // the byte before is a letter, digit or _
)

const (
	unknown = -1 // not computed yet
	matched = -2

	maxTrans   = 1 << 17 // then everything is forgotten and built anew
	maxFlushes = 64      // then regexp has to do it
)

func newDFA(n *nfa) *dfa {
	d := &dfa{n: n, stride: int32(len(n.samples)), now: newSet(len(n.insts)), next: newSet(len(n.insts))}
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.trans, d.states, d.index = d.trans[:0], d.states[:0], map[string]int32{}
	d.next.clear()
	d.expand(&d.next, d.n.start, 0, false)
	d.first = d.intern(atStart)
}

// gaveUp reports whether the automaton grew too often; regexp takes over then.
func (d *dfa) gaveUp() bool { return d.flushes > maxFlushes }

// scan reads b from the start of a line on, until a line is known to match.
// It gives a place in that line (its newline at the latest), or -1. The end of
// b is the end of a line.
func (d *dfa) scan(b []byte) int {
	classes, trans, s := &d.n.classes, d.trans, d.first
	for i := 0; i < len(b); i++ {
		t := trans[s+int32(classes[b[i]])]
		if t == s {
			// Most bytes leave the state as it is. As long as they do, one
			// look-up need not wait for the one before.
			for i+1 < len(b) && trans[s+int32(classes[b[i+1]])] == s {
				i++
			}
			continue
		}
		if t < 0 {
			if t == unknown {
				t = d.compute(s, classes[b[i]])
				trans = d.trans
			}
			if t < 0 {
				return i // matched, or given up: then regexp looks at the line
			}
		}
		s = t
	}
	if len(b) == 0 || b[len(b)-1] == '\n' {
		return -1
	}
	if d.compute(s, classes['\n']) < 0 {
		return len(b)
	}
	return -1
}

// compute finds the next state and remembers it.
func (d *dfa) compute(s int32, class uint8) int32 {
	state := d.states[s/d.stride]
	b := d.n.samples[class]
	// Conditions are between the byte before and this one. A carriage return
	// may be the end of a line already.
	holds := syntax.EmptyNoWordBoundary
	if state.flags&atStart != 0 {
		holds |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if b == '\n' || b == '\r' {
		holds |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if isWord(b) != (state.flags&afterWord != 0) {
		holds ^= syntax.EmptyNoWordBoundary | syntax.EmptyWordBoundary
	}
	d.now.clear()
	found := false
	for _, i := range state.insts {
		found = d.expand(&d.now, i, holds, true) || found
	}
	if found {
		return d.remember(s, class, matched)
	}
	if b == '\n' {
		return d.remember(s, class, d.first)
	}
	d.next.clear()
	for _, i := range d.now.list {
		if in := &d.n.insts[i]; in.op == opByte && in.lo <= b && b <= in.hi {
			found = d.expand(&d.next, in.out, 0, false) || found
		}
	}
	if found {
		return d.remember(s, class, matched)
	}
	d.expand(&d.next, d.n.start, 0, false) // a match may begin anywhere
	var flags stateFlags
	if d.n.word && isWord(b) {
		flags = afterWord
	}
	if len(d.trans) <= maxTrans {
		return d.remember(s, class, d.intern(flags))
	}
	if d.flushes++; d.gaveUp() {
		return unknown
	}
	keep := slices.Clone(d.next.list)
	d.reset()
	d.next.clear()
	for _, i := range keep {
		d.next.add(i)
	}
	return d.intern(flags)
}

func (d *dfa) remember(s int32, class uint8, t int32) int32 {
	d.trans[s+int32(class)] = t
	return t
}

// expand adds an instruction and all that follow it without a byte. Conditions
// are passed if they hold, or kept for later. It reports whether a match is
// reached.
func (d *dfa) expand(to *set, i uint32, holds syntax.EmptyOp, decide bool) (found bool) {
	d.stack = append(d.stack[:0], i)
	for len(d.stack) > 0 {
		i := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if !to.add(i) {
			continue
		}
		in := &d.n.insts[i]
		switch in.op {
		case opMatch:
			found = true
		case opNop:
			d.stack = append(d.stack, in.out)
		case opAlt:
			d.stack = append(d.stack, in.out, in.alt)
		case opEmpty:
			if decide && in.empty&^holds == 0 {
				d.stack = append(d.stack, in.out)
			}
		}
	}
	return found
}

// intern gives the state for the set in d.next.
func (d *dfa) intern(flags stateFlags) int32 {
	var insts []uint32
	for _, i := range d.next.list {
		if op := d.n.insts[i].op; op == opByte || op == opEmpty || op == opMatch {
			insts = append(insts, i)
		}
	}
	slices.Sort(insts)
	d.key = append(d.key[:0], byte(flags))
	for _, i := range insts {
		d.key = binary.LittleEndian.AppendUint32(d.key, i)
	}
	if s, ok := d.index[string(d.key)]; ok {
		return s
	}
	s := int32(len(d.states)) * d.stride
	d.states = append(d.states, dfaState{insts, flags})
	d.index[string(d.key)] = s
	for range d.stride {
		d.trans = append(d.trans, unknown)
	}
	return s
}

func isWord(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || b == '_' || 'a' <= b && b <= 'z'
}

// set is a set of small numbers that is cleared at once.
type set struct {
	list  []uint32
	place []uint32
}

func newSet(n int) set { return set{place: make([]uint32, n)} }

func (s *set) clear() { s.list = s.list[:0] }

func (s *set) add(i uint32) bool {
	if p := s.place[i]; int(p) < len(s.list) && s.list[p] == i {
		return false
	}
	s.place[i] = uint32(len(s.list))
	s.list = append(s.list, i)
	return true
}
