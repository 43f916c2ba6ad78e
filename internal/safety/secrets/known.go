package secrets

import (
	"slices"
	"strings"
)

// Known is a set of values that are secrets whatever they look like, such as
// those of a vault. It finds them as they are and as one command of a shell can
// write them: encoded, in capitals, backwards, in pieces, as a dump. It is not
// changed once it is made; nil knows nothing.
type Known struct {
	heads map[uint32][]needle // by the first letters and digits, the longest first
	maybe []uint64            // a bit per hash of them
	shift uint                // of the hash
	odd   []string            // forms with hardly a letter or digit
	fold  [256]byte           // letters in lower case and digits; 0 is a sign
	parts pieces
	reach int // how far from an escape the rest of a value may stand
}

// needle is a form of a value.
type needle struct {
	text  string // from its first letter or digit to its last
	lead  string // the signs before those,
	trail string // and behind
	whole bool   // letters count as they are, and nothing may stand between them
	words bool   // it is made of words of a dump: a match takes in all of each
	// stream says that it is no form of a value, but how a compressed stream begins.
	stream packing
}

const (
	// RuleKnown is the rule of what is found because it is known.
	RuleKnown = "known-secret"

	head         = 4
	encodedValue = 6 // what is shorter is in too many texts once it is encoded
)

// NewKnown makes a set. Values of fewer than four bytes are left out: they
// stand in every text by chance, and taking them out would say what they are.
func NewKnown(values []string) *Known {
	k := &Known{heads: map[uint32][]needle{}}
	for c := range k.fold {
		if bareByte(byte(c)) {
			k.fold[c] = lower(byte(c))
		}
	}
	for _, v := range values {
		if len(v) < head {
			continue
		}
		k.reach = max(k.reach, 2*len(v)+2*gapReach)
		k.parts.add(v)
		for _, f := range plainForms(v) {
			k.add(f, len(v) < encodedValue, false)
		}
		if len(v) < encodedValue {
			continue
		}
		for _, forms := range [][]string{encodedForms(v), beyondForms(v), wideForms(v)} {
			for _, f := range forms {
				k.add(f, false, false)
			}
		}
		for _, f := range wordForms(v) {
			k.add(f, false, true)
		}
	}
	// With enough bits nearly every place without a value is passed over; with few
	// of them they stay in the nearest cache.
	if len(k.heads)+len(k.odd) > 0 {
		for key, how := range packedKeys() {
			k.heads[key] = append(k.heads[key], needle{stream: how})
		}
	}
	k.shift = 32 - 15
	for 1<<(32-k.shift) < 32*len(k.heads) && k.shift > 32-20 {
		k.shift--
	}
	k.maybe = make([]uint64, 1<<(32-k.shift-6))
	for key := range k.heads {
		h := hashHead(key, k.shift)
		k.maybe[h>>6] |= 1 << (h & 63)
	}
	for _, list := range k.heads {
		slices.SortStableFunc(list, func(a, b needle) int { return len(b.text) - len(a.text) })
	}
	return k
}

// bareByte: a letter, a digit or a part of a letter beyond ASCII.
func bareByte(c byte) bool { return letter(c) || digit(c) || c >= 0x80 }

func (k *Known) add(form string, whole, words bool) {
	if len(form) < head {
		return
	}
	sign := func(c byte) bool { return !bareByte(c) }
	from := endOf(form, 0, len(form), sign)
	to := beginOf(form, len(form), len(form)-from, sign)
	n := needle{text: form[from:to], lead: form[:from], trail: form[to:], whole: whole, words: words}
	key, ok := headOf(n.text)
	if !ok {
		if !slices.Contains(k.odd, form) {
			k.odd = append(k.odd, form)
		}
		return
	}
	if slices.Contains(k.heads[key], n) {
		return
	}
	k.heads[key] = append(k.heads[key], n)
}

// headOf gives the first four letters or digits, in lower case.
func headOf(text string) (uint32, bool) {
	var key uint32
	n := 0
	for i := 0; i < len(text) && n < head; i++ {
		if bareByte(text[i]) {
			key = key<<8 | uint32(lower(text[i]))
			n++
		}
	}
	return key, n == head
}

func hashHead(key uint32, shift uint) uint32 { return key * 2654435761 >> shift }

// Find gives the known values in a text of any kind; those that are written in
// fewer than least bytes are left out.
func (k *Known) Find(text string, least int) []Finding {
	found := k.find(nil, text)
	return Merge(slices.DeleteFunc(found, func(f Finding) bool { return f.End-f.Start < least }))
}

// find adds the known values in a text: as it stands, with its escapes resolved,
// and in dumps with addresses.
func (k *Known) find(found []Finding, text string) []Finding {
	if k == nil || len(k.heads)+len(k.odd) == 0 {
		return found
	}
	left := unpackingOf(text)
	return k.findWithin(found, text, &left)
}

// findWithin is find with so much work on streams.
func (k *Known) findWithin(found []Finding, text string, left *unpacking) []Finding {
	found = k.parts.find(k.pass(found, text, left), text)
	if at := firstEscape(text); at >= 0 {
		found = k.resolved(found, text, at, left)
	}
	return k.dumped(found, text, left)
}

// resolved adds the known values in a text whose first escape stands at a place,
// with its escapes resolved.
func (k *Known) resolved(found []Finding, text string, at int, left *unpacking) []Finding {
	var again []Finding
	unescaped(text, at, k.reach, func(v *view) {
		again = k.pass(again[:0], string(v.text), left)
		for _, f := range again {
			found = append(found, Finding{Start: v.back(f.Start), End: v.back(f.End), Rule: RuleKnown})
		}
	})
	return found
}

// pass goes over a text once, and into what is compressed in it.
func (k *Known) pass(found []Finding, text string, left *unpacking) []Finding {
	var places []packedPlace
	found = k.match(found, text, &places)
	if places = rawStreams(places, text); len(places) > 0 {
		found = k.unpacked(found, text, places, left)
	}
	return found
}

// match goes over a text once. Places, unless it is nil, gets where compressed streams may begin.
func (k *Known) match(found []Finding, text string, places *[]packedPlace) []Finding {
	for _, form := range k.odd {
		for at := 0; ; {
			n := strings.Index(text[at:], form)
			if n < 0 {
				break
			}
			found = append(found, Finding{Start: at + n, End: at + n + len(form), Rule: RuleKnown})
			at += n + 1
		}
	}
	var key uint32
	var place [head]int // of the last letters and digits
	n, gap, shift, maybe := 0, 0, k.shift&31, k.maybe
	for i := range len(text) {
		c := k.fold[text[i]]
		if c == 0 {
			if gap++; gap > headReach {
				n = 0
			}
			continue
		}
		gap = 0
		key = key<<8 | uint32(c)
		place[n%head] = i
		if n++; n < head {
			continue
		}
		h := hashHead(key, shift)
		if maybe[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		at := place[n%head]
		for _, form := range k.heads[key] {
			if form.stream != notPacked {
				if places != nil && len(*places) < packedTries && form.stream.begins(text, at) {
					*places = append(*places, packedPlace{at, form.stream})
				}
				continue
			}
			if to, ok := form.at(text, at); ok {
				from := at
				if from, to = form.around(text, from, to); form.words {
					from, to = whole(text, from, to)
				}
				found = append(found, Finding{Start: from, End: to, Rule: RuleKnown})
				break
			}
		}
	}
	return found
}

// whole takes in the words that a match begins and ends in, and the one before
// and the one behind: they may have the first and the last bytes of the value.
func whole(text string, from, to int) (int, int) {
	for range 2 {
		from, to = beginOf(text, from, 24, hexDigit), endOf(text, to, 24, hexDigit)
		if at := beginOf(text, from, 4, space); at > 0 && hexDigit(text[at-1]) && at < from {
			from = at - 1
		}
		if at := endOf(text, to, 4, space); at < len(text) && hexDigit(text[at]) && at > to {
			to = at + 1
		}
	}
	return from, to
}
