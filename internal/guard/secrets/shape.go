package secrets

import (
	"math/bits"
	"regexp/syntax"
	"unicode"
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func (b *byteSet) add(c byte)      { b[c>>6] |= 1 << (c & 63) }
func (b *byteSet) has(c byte) bool { return b[c>>6]&(1<<(c&63)) != 0 }

func (b *byteSet) join(o byteSet) {
	for i := range b {
		b[i] |= o[i]
	}
}

// forever is the length of what has no bound.
const forever = 1 << 20

// step is min to max bytes of one set.
type step struct {
	set      byteSet
	min, max int
}

// steps gives a chain of steps that every match of the regexp fits. It may fit
// more: what is not a plain chain is widened to the bytes it may have.
func steps(re *syntax.Regexp) []step {
	switch re.Op {
	case syntax.OpLiteral:
		var out []step
		for _, r := range re.Rune {
			out = append(out, runeStep(re.Flags, r, r))
		}
		return out
	case syntax.OpCharClass:
		return []step{runeStep(0, re.Rune...)}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []step{runeStep(0, 0, unicode.MaxRune)}
	case syntax.OpCapture:
		return steps(re.Sub[0])
	case syntax.OpConcat:
		var out []step
		for _, sub := range re.Sub {
			out = append(out, steps(sub)...)
		}
		return out
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return repeated(steps(re.Sub[0]), re)
	case syntax.OpAlternate:
		return alternated(re.Sub)
	case syntax.OpNoMatch:
		return []step{{min: 1, max: 1}}
	default: // empty widths
		return nil
	}
}

func runeStep(flags syntax.Flags, ranges ...rune) step {
	s := step{min: 1, max: 1}
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		for r := lo; r <= hi && r < 0x80; r++ {
			s.set.add(byte(r))
			if flags&syntax.FoldCase != 0 && unicode.IsLetter(r) {
				s.set.add(byte(unicode.ToLower(r)))
				s.set.add(byte(unicode.ToUpper(r)))
			}
		}
		if hi >= 0x80 {
			s.max = 4
			s.set[2], s.set[3] = ^uint64(0), ^uint64(0)
		}
	}
	return s
}

func repeated(of []step, re *syntax.Regexp) []step {
	least, most := re.Min, re.Max
	switch re.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpQuest:
		least, most = 0, 1
	}
	s := widened(of)
	if len(of) > 1 && least > 0 {
		// The first round is a chain; the others are only as long as it.
		first := append([]step(nil), of...)
		rest := step{set: s.set, min: s.min * (least - 1), max: bound(s.max, most, 1)}
		return append(first, rest)
	}
	s.min *= least
	s.max = bound(s.max, most, 0)
	return []step{s}
}

func bound(size, times, less int) int {
	if times < 0 {
		return forever
	}
	return min(size*(times-less), forever)
}

// widened makes one step of many.
func widened(of []step) step {
	var all step
	for _, s := range of {
		all.set.join(s.set)
		all.min = min(all.min+s.min, forever)
		all.max = min(all.max+s.max, forever)
	}
	return all
}

// alternated keeps the first byte apart: it is the one that tells most.
func alternated(subs []*syntax.Regexp) []step {
	first := step{min: 1, max: 1}
	rest := step{min: forever}
	for _, sub := range subs {
		of := steps(sub)
		all := widened(of)
		rest.set.join(all.set)
		rest.min, rest.max = min(rest.min, all.min), max(rest.max, all.max)
		for _, s := range of {
			first.set.join(s.set)
			if s.min > 0 {
				break
			}
		}
	}
	if rest.min == 0 {
		return []step{rest}
	}
	return []step{first, {set: rest.set, min: rest.min - 1, max: rest.max - 1}}
}

// fits is a quick look whether a match can begin with text: false is sure. The
// places that the steps so far can have reached are a bit mask, so it gives up
// with a yes once they are more than 63 bytes apart.
func fits(chain []step, text string) bool {
	reach := uint64(1)
	for i := range chain {
		s := &chain[i]
		low := bits.TrailingZeros64(reach)
		text = text[low:]
		reach >>= low
		least := s.min
		if reach == 1 && least > 0 {
			if len(text) < least {
				return false
			}
			for j := range least {
				if !s.set.has(text[j]) {
					return false
				}
			}
			text = text[least:]
			least = 0
		}
		if least > 0 {
			if reach = s.survive(text, reach); reach == 0 {
				return false
			}
			text = text[least:]
		}
		high := 63 - bits.LeadingZeros64(reach)
		may := s.run(text, reach, min(high+s.max-s.min, 63))
		for more, n := reach, s.max-s.min; n > 0; n-- {
			if more = (more & may) << 1; more&^reach == 0 {
				break
			}
			reach |= more
		}
		if reach>>63 != 0 {
			return true
		}
	}
	return true
}

// survive keeps the places that min bytes of the set follow.
func (s *step) survive(text string, reach uint64) uint64 {
	var out uint64
	good := 0 // bytes of the set in a row
	for end := 0; end < len(text); end++ {
		if !s.set.has(text[end]) {
			good = 0
			if end > 63 || reach>>end <= 1 {
				break // no place beyond can be reached
			}
			continue
		}
		if good++; good >= s.min {
			from := end - s.min + 1
			if from > 63 || reach>>from == 0 {
				break
			}
			out |= reach & (1 << from)
		}
	}
	return out
}

// find gives where the first run of min bytes of the set begins, or -1.
func (s *step) find(text string) int {
	for end := s.min - 1; end < len(text); {
		at := end
		for at > end-s.min && s.set.has(text[at]) {
			at--
		}
		if at == end-s.min {
			return at + 1
		}
		end = at + s.min
	}
	return -1
}

// run gives the places up to end whose byte is of the set.
func (s *step) run(text string, reach uint64, end int) uint64 {
	var may uint64
	for j := 0; j < end && j < len(text); j++ {
		if s.set.has(text[j]) {
			may |= 1 << j
		} else if reach>>j <= 1 {
			break // no place beyond can be reached
		}
	}
	return may
}
