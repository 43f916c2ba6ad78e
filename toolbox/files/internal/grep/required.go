package grep

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// want is a text that a match must contain. In a folded one letters stand for
// both their cases.
type want struct {
	text string
	fold bool
}

const (
	maxWants = 8  // alternatives looked for side by side
	maxWant  = 64 // bytes of one
)

// required finds literals of which every match of an expression contains at
// least one. exact tells that to contain one is to match.
func required(re *syntax.Regexp) (lits []*literal, exact bool) {
	wants, exact := wantsOf(re)
	if !worth(wants, exact) {
		return nil, false
	}
	for _, w := range wants {
		lits = append(lits, newLiteral(w.text, w.fold))
	}
	return lits, exact
}

// worth reports whether looking for these first is faster than reading all
// with the automaton.
func worth(wants []want, exact bool) bool {
	if len(wants) == 0 || len(wants) > 4 {
		return false
	}
	for _, w := range wants {
		if len(w.text) < 2 && !exact {
			return false
		}
	}
	return true
}

// wantsOf gives the best set for an expression.
func wantsOf(re *syntax.Regexp) (best []want, exact bool) {
	switch re.Op {
	case syntax.OpCapture:
		return wantsOf(re.Sub[0])
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			wants, all := wantsOf(sub)
			best = append(best, wants...)
			exact = exact && all
			if len(wants) == 0 || len(best) > maxWants {
				return nil, false
			}
		}
		return best, exact
	case syntax.OpLiteral, syntax.OpConcat, syntax.OpPlus, syntax.OpCharClass:
		r := &runs{exact: true}
		r.walk(re)
		r.cut()
		return r.best, r.exact && len(r.best) > 0
	}
	return nil, false
}

// runs collects the longest run of fixed characters in a sequence.
type runs struct {
	best  []want
	exact bool // the one run so far is all there is
	now   []byte
	fold  bool
}

// cut ends the run.
func (r *runs) cut() {
	if len(r.now) > 0 {
		r.offer([]want{{string(r.now), r.fold}})
	}
	r.now, r.fold = r.now[:0], false
}

// brk ends the run at something that is no fixed text.
func (r *runs) brk() {
	r.exact = false
	r.cut()
}

func (r *runs) offer(wants []want) {
	if r.best == nil || score(wants) > score(r.best) {
		r.best = wants
	}
}

// score prefers what is long at its shortest, then few alternatives.
func score(wants []want) int {
	shortest := maxWant
	for _, w := range wants {
		shortest = min(shortest, len(w.text))
	}
	return shortest*maxWants*2 - len(wants)
}

func (r *runs) walk(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			r.add(c, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			r.walk(sub)
		}
	case syntax.OpCapture:
		r.walk(re.Sub[0])
	case syntax.OpPlus:
		// One or more: the first adjoins what is before, the last what follows.
		r.walk(re.Sub[0])
		r.brk()
		r.walk(re.Sub[0])
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		r.exact = false // takes no room, so the run goes on
	case syntax.OpEmptyMatch:
	case syntax.OpCharClass:
		if c, ok := casePair(re.Rune); ok {
			r.add(c, true)
			return
		}
		r.brk()
	case syntax.OpAlternate:
		r.brk()
		if wants, _ := wantsOf(re); len(wants) > 0 {
			r.offer(wants)
		}
	default:
		r.brk()
	}
}

// add appends one character to the run.
func (r *runs) add(c rune, fold bool) {
	fold = fold && unicode.SimpleFold(c) != c
	switch {
	case fold && (c >= utf8.RuneSelf || c|0x20 == 'k' || c|0x20 == 's'):
		// Its other case may have another length in UTF-8: k has the Kelvin
		// sign, s the long s.
		r.brk()
		return
	case c == '\n', c == '\r', c == utf8.RuneError:
		r.brk() // the ends of a line, and what stands for bytes that are no UTF-8
		return
	case len(r.now) >= maxWant-utf8.UTFMax:
		r.brk()
	}
	if fold && !r.fold && hasLetter(r.now) || !fold && r.fold && (unicode.IsLetter(c) || c >= utf8.RuneSelf) {
		r.exact = false // folding the whole run says more than the expression does
	}
	r.fold = r.fold || fold
	r.now = utf8.AppendRune(r.now, c)
}

func hasLetter(b []byte) bool {
	for _, c := range b {
		if 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// casePair knows a class of just the two cases of an ASCII letter.
func casePair(ranges []rune) (rune, bool) {
	if len(ranges) == 4 && ranges[0] == ranges[1] && ranges[2] == ranges[3] && 'A' <= ranges[0] && ranges[0] <= 'Z' && ranges[2] == ranges[0]|0x20 {
		return ranges[2], true
	}
	return 0, false
}
