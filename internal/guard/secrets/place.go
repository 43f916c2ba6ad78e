package secrets

import (
	"regexp/syntax"
	"strings"
)

// place says how far before a keyword a match of its rule can begin.
type place struct{ min, max int }

// branch is one way through the beginning of a regexp.
type branch struct {
	min, max int    // its length so far
	tail     string // the bytes it ends with, in lower case; 0 is any
}

const (
	maxBranches = 400
	maxBefore   = 200 // a keyword further in does not tell where to begin
)

// places finds where in its matches a regexp has one of the keywords. It gives
// one place per keyword, and false if there are matches without any of them in
// a fixed surrounding: then the keyword only says that the rule is worth trying.
func places(re *syntax.Regexp, keywords []string) ([]place, bool) {
	out := make([]place, len(keywords))
	for i := range out {
		out[i] = place{min: forever, max: -1}
	}
	seek := &seeker{keywords: keywords, out: out}
	left, ok := seek.walk(re, []branch{{}})
	return out, ok && len(left) == 0
}

type seeker struct {
	keywords []string
	out      []place
}

// walk goes on through re from every branch, and gives those that have not met
// a keyword yet.
func (k *seeker) walk(re *syntax.Regexp, from []branch) ([]branch, bool) {
	if len(from) == 0 {
		return nil, true
	}
	if len(from) > maxBranches {
		return nil, false
	}
	switch re.Op {
	case syntax.OpCapture:
		return k.walk(re.Sub[0], from)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			left, ok := k.walk(sub, from)
			if !ok {
				return nil, false
			}
			from = left
		}
		return from, true
	case syntax.OpAlternate:
		var all []branch
		for _, sub := range re.Sub {
			left, ok := k.walk(sub, from)
			if !ok {
				return nil, false
			}
			all = append(all, left...)
		}
		return all, true
	case syntax.OpQuest:
		left, ok := k.walk(re.Sub[0], from)
		return append(left, from...), ok
	}
	for _, s := range steps(re) {
		for range min(s.min, 2*maxBefore) {
			var left []branch
			for _, b := range from {
				left = k.extend(left, b, s.set)
			}
			if from = left; len(from) > maxBranches {
				return nil, false
			}
		}
		if s.max > s.min {
			for i := range from {
				from[i].tail = ""
				from[i].max = min(from[i].max+s.max-s.min, forever)
			}
		}
	}
	return from, true
}

// extend puts a byte of the set behind a branch. A few bytes are a branch each,
// so that [_-] can end two keywords; it leaves out those that end one.
func (k *seeker) extend(left []branch, b branch, set byteSet) []branch {
	b.min, b.max = b.min+1, min(b.max+1, forever)
	var few []byte
	for c := range 0x80 {
		if set.has(byte(c)) && (c < 'A' || c > 'Z' || !set.has(lower(byte(c)))) {
			few = append(few, lower(byte(c)))
		}
	}
	if len(few) > 10 || set[2]|set[3] != 0 {
		few = []byte{0}
	}
	for _, c := range few {
		next := b
		next.tail += string(c)
		if !k.ends(next) {
			left = append(left, next)
		}
	}
	return left
}

// ends reports whether the branch ends in a keyword, and notes where.
func (k *seeker) ends(b branch) bool {
	met := false
	for i, word := range k.keywords {
		if strings.HasSuffix(b.tail, word) && b.max-len(word) <= maxBefore {
			p := &k.out[i]
			p.min, p.max = min(p.min, b.min-len(word)), max(p.max, b.max-len(word))
			met = true
		}
	}
	return met
}
