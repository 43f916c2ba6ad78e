package secrets

import (
	"slices"
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
	maybe [1 << 8]uint64 // a bit per hash of a beginning
	heads map[uint64][]repeat
}

type repeat struct{ text, rule string }

// repeated adds every further place of a value that was found: a value that is a
// secret beside its name is one where it stands without it, too. What comes in is
// merged, and so is what is given.
func repeated(found []Finding, text string) []Finding {
	if len(found) == 0 {
		return found
	}
	var r *repeats
	for _, f := range found {
		value := text[f.Start:f.End]
		if f.Rule == RuleKnown || len(value) < repeatLeast || len(value) > repeatMost || f.Rule != ruleKey && common(value) {
			continue
		}
		if r == nil {
			r = &repeats{heads: map[uint64][]repeat{}}
		}
		r.add(value, f.Rule)
	}
	if r == nil {
		return found
	}
	for _, list := range r.heads {
		slices.SortStableFunc(list, func(a, b repeat) int { return len(b.text) - len(a.text) })
	}
	if more := r.find(text, found); len(more) > 0 {
		return merged(append(found, more...))
	}
	return found
}

// common: a value that may well stand in a text as something else, because it is
// a word or two.
func common(value string) bool {
	m := makeupOf(value)
	return m.space || m.distinct < 4 && m.run < 8 || m.digit == 0 && (m.kebab || wordy(value) || len(value) < 12)
}

func (r *repeats) add(value, rule string) {
	head := headBytes(value)
	list := r.heads[head]
	if len(list) >= repeatAlike || slices.ContainsFunc(list, func(o repeat) bool { return o.text == value }) {
		return
	}
	r.heads[head] = append(list, repeat{strings.Clone(value), rule})
	h := head * 0x9E3779B97F4A7C15 >> 50
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
		h := head * 0x9E3779B97F4A7C15 >> 50
		if r.maybe[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, v := range r.heads[head] {
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
