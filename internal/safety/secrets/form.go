package secrets

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// form is what a key looks like: a row of literals and of runs of bytes. It is
// matched from its anchor, its most telling literal, to both sides, and never
// goes back.
type form struct {
	rule   string
	pieces []piece
	anchor int  // index of a literal; -1: none
	fold   bool // the case of letters does not matter
	// telling: nothing but keys begins like this.
	telling bool
	// marked: a sign is in what it begins with, such as ghp_.
	marked bool
	most   int // its longest match
	// parted: there is a sign between two runs of it.
	parted bool
	// plain: there is no sign in its anchor, so that any base64 may have it.
	plain bool
}

// piece is a literal, or min to max bytes of a set.
type piece struct {
	text     string
	set      *byteSet
	min, max int
}

// swallowed is how much of a run is given back to the literal behind it.
const swallowed = 128

// openEnd is the upper bound of a run that has none.
const openEnd = 4096

// classes are the sets that forms are written with.
func classes() map[byte]*byteSet {
	c := map[byte]*byteSet{
		'd': setOf("0-9"), 'h': setOf("0-9a-f"), 'H': setOf("0-9A-F"), 'x': setOf("0-9a-fA-F"),
		'l': setOf("a-z"), 'L': setOf("A-Z"), 'a': setOf("a-zA-Z"), 'n': setOf("a-z0-9"), 'N': setOf("A-Z0-9"),
		'w': setOf("a-zA-Z0-9"), '_': setOf("a-zA-Z0-9_"), 'u': setOf("a-zA-Z0-9_"), 'b': setOf("a-zA-Z0-9+/"),
		't': setOf("a-zA-Z0-9_~."), 'B': setOf("a-zA-Z0-9+/=_"), '.': setOf("a-zA-Z0-9_."), 'c': setOf("a-zA-Z0-9./"), 'v': setOf("!-~"),
	}
	for _, with := range []byte{'u', 'B', '.', 't'} {
		c[with].add('-')
	}
	for _, not := range "\"'`<>,\\" {
		c['v'][not>>6] &^= 1 << (not & 63)
	}
	return c
}

// choices writes out the choices in a form: a(b|c)d is abd and acd.
func choices(text string) []string {
	open := strings.IndexByte(text, '(')
	if open < 0 {
		return []string{text}
	}
	end := open + strings.IndexByte(text[open:], ')')
	if end < open {
		return []string{text}
	}
	var out []string
	for choice := range strings.SplitSeq(text[open+1:end], "|") {
		for _, rest := range choices(text[end+1:]) {
			out = append(out, text[:open]+choice+rest)
		}
	}
	return out
}

// parseForm reads one form without choices.
func parseForm(rule, text string, sets map[byte]*byteSet) (*form, error) {
	text, telling := strings.CutPrefix(text, "*")
	f := &form{rule: rule, anchor: -1, telling: telling}
	text = strings.ReplaceAll(text, "{U}", "{x8}-{x4}-{x4}-{x4}-{x12}")
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			open = len(text)
		}
		if open > 0 {
			f.pieces = append(f.pieces, piece{text: text[:open]})
			text = text[open:]
			continue
		}
		run, rest, ok := strings.Cut(text[1:], "}")
		if !ok || len(run) < 2 || sets[run[0]] == nil {
			return nil, fmt.Errorf("form %s: %q is no run", rule, text)
		}
		p, err := parseCount(run[1:])
		if err != nil {
			return nil, fmt.Errorf("form %s: %q: %w", rule, run, err)
		}
		p.set = sets[run[0]]
		f.pieces = append(f.pieces, p)
		text = rest
	}
	for i, p := range f.pieces {
		if p.set == nil && (f.anchor < 0 || i > 0 && len(p.text) > len(f.pieces[f.anchor].text) && f.pieces[0].set != nil) {
			f.anchor = i
		}
	}
	if f.anchor >= 0 {
		f.plain = strings.IndexFunc(f.pieces[f.anchor].text, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) || r == '_' }) < 0
	}
	if f.anchor == 0 {
		begin := f.pieces[0].text
		f.marked = strings.ContainsAny(begin, "_-.")
		f.telling = f.telling || (len(begin) >= 4 || begin == "hf_" || begin == "r8_") && (strings.IndexAny(begin, "_-./=") > 0 || strings.ToUpper(begin) == begin || strings.HasPrefix(begin, "AIza")) && begin != "API-" && begin != "pat_" && begin != "app-" && begin != "tss_" && begin != "prf_" && begin != "apk_" && begin != "act_" && begin != "cog_" && begin != "api_" && begin != "ptr_" && begin != "live_" && begin != "test_" && begin != "key-" && begin != "web_"
	}
	for i, p := range f.pieces {
		f.parted = f.parted || i > 1 && p.set == nil
		f.most = min(f.most+max(p.max, len(p.text)), genuineReach)
	}
	return f, nil
}

func parseCount(text string) (piece, error) {
	low, high, ranged := strings.Cut(text, "-")
	p := piece{max: openEnd}
	var err error
	if p.min, err = strconv.Atoi(low); err != nil {
		return p, errors.New("the count is no number")
	}
	switch {
	case !ranged:
		p.max = p.min
	case high != "":
		if p.max, err = strconv.Atoi(high); err != nil || p.max < p.min {
			return p, errors.New("the range is none")
		}
	}
	return p, nil
}

// at gives the bounds of a match whose anchor stands at this place.
func (f *form) at(text string, place int, ends *runEnds) (from, to int, ok bool) {
	if from, ok = f.before(text, place); !ok {
		return 0, 0, false
	}
	glued := !edgeBefore(text, from) && (f.pieces[0].set != nil || wordByte(f.pieces[0].text[0]))
	if glued && !f.certain(text, from) {
		return 0, 0, false
	}
	if to, ok = f.behind(text, place, ends); !ok || f.plain && (brokenBlob(text, from) || sumBefore(text, from)) {
		return 0, 0, false
	}
	if glued && !f.looksRandom(text[from:min(to, from+genuineReach)]) {
		return 0, 0, false
	}
	if f.edgeBehind(text, to) {
		return from, to, true
	}
	if !f.telling {
		return 0, 0, false
	}
	// What begins like nothing else is a key, also if more follows than its
	// provider says.
	to = endOf(text, to, certainMore, kebabByte)
	return from, to, f.marked || f.pieces[0].text == "AIza" || to >= len(text) || !wordByte(text[to])
}

// runEnds remembers where the last long run of each set ends, so that none is
// gone through twice.
type runEnds []runEnd

type runEnd struct {
	set      *byteSet
	from, to int
}

func (r *runEnds) of(text string, set *byteSet, at int) int {
	var e *runEnd
	for i := range *r {
		if (*r)[i].set == set {
			e = &(*r)[i]
		}
	}
	if e == nil {
		*r = append(*r, runEnd{set: set, from: -1, to: -1})
		e = &(*r)[len(*r)-1]
	}
	if at >= e.from && at < e.to {
		return e.to
	}
	e.from, e.to = at, endOf(text, at, len(text), set.has)
	return e.to
}

func (f *form) literal(text string, at int, word string) bool {
	if f.fold {
		return hasFold(text[at:], strings.ToLower(word))
	}
	return strings.HasPrefix(text[at:], word)
}

// before goes from the anchor to the beginning.
func (f *form) before(text string, at int) (int, bool) {
	for i := f.anchor - 1; i >= 0; i-- {
		p := &f.pieces[i]
		if p.set == nil {
			if at -= len(p.text); at < 0 || !f.literal(text, at, p.text) {
				return 0, false
			}
			continue
		}
		n := at - beginOf(text, at, p.max, p.set.has)
		if n < p.min || i == 0 && n < at && p.set.has(text[at-n-1]) {
			return 0, false
		}
		at -= n
	}
	return at, true
}

// behind goes from the anchor, or from the beginning, to the end.
func (f *form) behind(text string, at int, ends *runEnds) (int, bool) {
	for i := max(f.anchor, 0); i < len(f.pieces); i++ {
		p := &f.pieces[i]
		if p.set == nil {
			if at > len(text) || !f.literal(text, at, p.text) {
				return 0, false
			}
			at += len(p.text)
			continue
		}
		n := 0
		if p.max == openEnd {
			n = ends.of(text, p.set, at) - at
		} else {
			for n < p.max && at+n < len(text) && p.set.has(text[at+n]) {
				n++
			}
		}
		if next := i + 1; next < len(f.pieces) && f.pieces[next].set == nil && p.set.has(f.pieces[next].text[0]) {
			for back := 0; n > p.min && back < swallowed && !f.literal(text, at+n, f.pieces[next].text); back++ {
				n-- // the run has swallowed what comes after it
			}
		}
		if n < p.min {
			return 0, false
		}
		at += n
	}
	return at, true
}

// variable gives what of a match is not the same in every key of the form.
func (f *form) variable(match string) string {
	if f.anchor == 0 && f.pieces[0].set == nil {
		return match[len(f.pieces[0].text):]
	}
	return strings.Replace(match, f.pieces[f.anchor].text, "", 1)
}
