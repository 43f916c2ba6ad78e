package secrets

import "strings"

// gapReach is how many signs may stand between two letters of a value in pieces.
const gapReach = 16

// headReach is how many signs may stand between two of the first letters: those
// of the value, and the gaps around each.
const headReach = 6 * gapReach

// gaps is what stands between the letters of a value that is written in pieces.
type gaps struct {
	count  int
	first  string // without its space
	alike  bool   // all of them are, but for space
	lines  bool   // every one of them has a line end
	quotes bool   // nothing but what a shell quotes with
}

// at gives the end of the form that begins here, whole or in pieces.
func (n *needle) at(text string, at int) (int, bool) {
	if n.whole {
		return at + len(n.text), strings.HasPrefix(text[at:], n.text)
	}
	if to, ok := n.spread(text, at); ok {
		return to, true
	}
	g := gaps{alike: true, lines: true, quotes: true}
	j := at
	for i := 0; i < len(n.text); j++ {
		if j >= len(text) {
			return 0, false
		}
		if lower(text[j]) == lower(n.text[i]) {
			i++
			continue
		}
		from := j
		for j < len(text) && j-from <= gapReach && !bareByte(text[j]) && text[j] != n.text[i] {
			j++
		}
		if j == from || j-from > gapReach {
			return 0, false
		}
		g.add(text[from:j])
		j--
	}
	return j, g.regular(len(n.text)) || n.words && g.alike && g.first == ""
}

// spreadReach is how much of the same may stand between every two letters.
const spreadReach = 6

// spread gives the end of a form between whose letters the same stands each time,
// also signs that the form has itself: Z-x-9-v---V.
func (n *needle) spread(text string, at int) (int, bool) {
	if at+1 >= len(text) || bareByte(text[at+1]) || len(n.text) < encodedValue {
		return 0, false
	}
next:
	for size := 1; size <= spreadReach; size++ {
		step := size + 1
		last := at + (len(n.text)-1)*step
		if last >= len(text) {
			return 0, false
		}
		for i := range len(n.text) {
			place := at + i*step
			if lower(text[place]) != lower(n.text[i]) || i > 0 && text[place-size:place] != text[at+1:at+1+size] {
				continue next
			}
		}
		return last + 1, true
	}
	return 0, false
}

func (g *gaps) add(gap string) {
	bare := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\r' || r == '\t' || r == '*' {
			return -1 // a star stands for equal lines of a dump
		}
		return r
	}, gap)
	if g.count == 0 {
		g.first = bare
	}
	g.count++
	g.alike = g.alike && bare == g.first
	g.lines = g.lines && strings.ContainsAny(gap, "\n\r")
	g.quotes = g.quotes && strings.Trim(gap, `\'"`) == ""
}

// regular: the gaps are such as a program makes, and not those of a text in
// which the letters stand by chance.
func (g *gaps) regular(size int) bool {
	return g.count == 0 || g.quotes || g.lines && g.alike || g.alike && g.count >= max(2, size/20)
}

// around takes in the signs that the form begins and ends with.
func (n *needle) around(text string, from, to int) (int, int) {
	for i := len(n.lead) - 1; i >= 0; i-- {
		at := from - 1
		for at >= 0 && from-at <= 4 && text[at] != n.lead[i] && !bareByte(text[at]) {
			at--
		}
		if at < 0 || text[at] != n.lead[i] {
			break
		}
		from = at
	}
	for i := range len(n.trail) {
		at := to
		for at < len(text) && at-to < 4 && text[at] != n.trail[i] && !bareByte(text[at]) {
			at++
		}
		if at >= len(text) || text[at] != n.trail[i] {
			break
		}
		to = at + 1
	}
	return from, to
}
