package secrets

import (
	"math/bits"
	"strings"
)

const (
	repeatLeast = 8   // a shorter value stands in other places by chance
	repeatMost  = 512 // a longer one is found by itself wherever it stands
	repeatAlike = 32  // so many values with the same beginning are looked for
	repeatApart = 16  // a shorter value counts only as a word of its own
)

// repeats looks for the further places of what was found in a text.
type repeats struct {
	maybe []uint64 // a bit per hash of a beginning
	shift uint     // of the hash
	heads map[uint64]int32
	list  []repeat
}

type repeat struct {
	text, rule string
	next       int32 // of those with the same beginning, the longest first; 0 is none
}

// repeated adds every further place of a value that was found: a value that is a
// secret beside its name is one where it stands without it, too. What comes in is
// merged, and so is what is given.
func repeated(found []Finding, text string) []Finding {
	var r *repeats
	for _, f := range found {
		value := text[f.Start:f.End]
		if f.Rule == RuleKnown || !repeatable(value) {
			continue
		}
		if r == nil {
			r = newRepeats(len(found))
		}
		r.add(value, f.Rule)
	}
	if r == nil {
		return found
	}
	if more := r.find(text, found); len(more) > 0 {
		return merged(append(found, more...))
	}
	return found
}

// repeatable: wherever the value stands, it is that one.
func repeatable(value string) bool {
	return len(value) >= repeatLeast && len(value) <= repeatMost && !common(value)
}

// newRepeats makes room for so many values, with enough bits that nearly every
// place without one is passed over.
func newRepeats(values int) *repeats {
	r := &repeats{shift: 64 - 12, heads: make(map[uint64]int32, values), list: make([]repeat, 1, values+1)}
	for 1<<(64-r.shift) < 16*values && r.shift > 64-24 {
		r.shift--
	}
	r.maybe = make([]uint64, 1<<(64-r.shift-6))
	return r
}

// common: a value that may well stand in a text as something else, because it is
// a word or two.
func common(value string) bool {
	var seen byteSet
	digits := 0
	for i := range len(value) {
		if value[i] <= ' ' {
			return true
		}
		if digit(value[i]) {
			digits++
		}
		seen.add(value[i])
	}
	if bits.OnesCount64(seen[0])+bits.OnesCount64(seen[1])+bits.OnesCount64(seen[2])+bits.OnesCount64(seen[3]) < 4 {
		return true
	}
	return digits == 0 && (len(value) < 12 || wordy(value) || makeupOf(value).kebab)
}

func (r *repeats) add(value, rule string) {
	head := headBytes(value)
	link, n := int32(0), 0
	for at := r.heads[head]; at != 0; at = r.list[at].next {
		if o := &r.list[at]; o.text == value {
			return
		} else if len(o.text) > len(value) {
			link = at
		}
		n++
	}
	if n >= repeatAlike {
		return
	}
	one := repeat{text: value, rule: rule}
	if link == 0 {
		one.next = r.heads[head]
		r.heads[head] = int32(len(r.list))
	} else {
		one.next = r.list[link].next
		r.list[link].next = int32(len(r.list))
	}
	r.list = append(r.list, one)
	h := head * 0x9E3779B97F4A7C15 >> r.shift
	r.maybe[h>>6] |= 1 << (h & 63)
}

func headBytes(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// find gives the places that were not found yet.
func (r *repeats) find(text string, found []Finding) []Finding {
	var more []Finding
	for i := 0; i+repeatLeast <= len(text); i++ {
		for len(found) > 0 && found[0].End <= i {
			found = found[1:]
		}
		if len(found) > 0 && found[0].Start <= i {
			i = found[0].End - 1
			continue
		}
		head := headBytes(text[i:])
		h := head * 0x9E3779B97F4A7C15 >> r.shift
		if r.maybe[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for at := r.heads[head]; at != 0; at = r.list[at].next {
			v := &r.list[at]
			if !strings.HasPrefix(text[i:], v.text) {
				continue
			}
			to := i + len(v.text)
			if len(v.text) < repeatApart && (i > 0 && wordByte(text[i-1]) && !escapeEnds(text, i) || to < len(text) && wordByte(text[to])) {
				continue
			}
			more = append(more, Finding{Start: i, End: to, Rule: v.rule})
			i = to - 1
			break
		}
	}
	return more
}
