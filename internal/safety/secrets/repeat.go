package secrets

import (
	"math/bits"
	"strings"
)

const (
	repeatLeast = 8   // a shorter value stands in other places by chance
	repeatMost  = 512 // a longer one is found by itself wherever it stands
	repeatAlike = 32  // so many lengths of values with the same beginning are told apart
	repeatApart = 16  // a shorter value counts only as a word of its own
)

// repeats looks for the further places of what was found in a text.
type repeats struct {
	maybe []uint64          // a bit per hash of a beginning
	shift uint              // of the hash
	rules map[string]string // of each value
	heads map[uint64]int32  // by the beginning of values
	list  []repeat
}

// repeat is how long some values with the same beginning are. However many those are,
// a place is held against as many texts as there are lengths.
type repeat struct {
	size int
	next int32  // the next shorter one with the same beginning; 0 is none
	rule string // if there are more lengths than are told apart, of one of those
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
		return Merge(append(found, more...))
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
	r := &repeats{shift: 64 - 12, rules: make(map[string]string, values), heads: make(map[uint64]int32, values), list: make([]repeat, 1, values+1)}
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
	return digits == 0 && (len(value) < 12 || wordy(value) || compositionOf(value).kebab)
}

func (r *repeats) add(value, rule string) {
	if _, known := r.rules[value]; known {
		return
	}
	r.rules[value] = rule
	head := headBytes(value)
	link, n := int32(0), 0
	for at := r.heads[head]; at != 0; at = r.list[at].next {
		if size := r.list[at].size; size == len(value) {
			return
		} else if size > len(value) {
			link = at
		}
		n++
	}
	if n >= repeatAlike {
		r.list[r.heads[head]].rule = rule
		return
	}
	one := repeat{size: len(value)}
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
		if size, rule := r.at(text, i, head); size > 0 {
			more = append(more, Finding{Start: i, End: i + size, Rule: rule})
			i += size - 1
		}
	}
	return more
}

// at gives how much of a value with this beginning stands at a place, or zero.
func (r *repeats) at(text string, i int, head uint64) (size int, rule string) {
	first := r.heads[head]
	for at := first; at != 0; at = r.list[at].next {
		size := r.list[at].size
		if size > len(text)-i {
			continue
		}
		rule, ok := r.rules[text[i:i+size]]
		if !ok || size < repeatApart && !apart(text, i, i+size) {
			continue
		}
		return size, rule
	}
	if first == 0 || r.list[first].rule == "" || !apart(text, i, len(text)) {
		return 0, ""
	}
	// What begins like so many values is taken for one, up to where words end.
	size = strings.IndexFunc(text[i:min(len(text), i+repeatMost)], func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'`,;<>()[]{}", c) })
	if size < 0 {
		size = min(len(text)-i, repeatMost)
	}
	if size < repeatLeast {
		return 0, ""
	}
	return size, r.list[first].rule
}

// apart: no word goes on before or behind a part of a text.
func apart(text string, from, to int) bool {
	return (from == 0 || !wordByte(text[from-1]) || escapeEnds(text, from)) && (to >= len(text) || !wordByte(text[to]))
}
