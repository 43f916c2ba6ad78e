package files

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Span is a part of a text, by its bytes.
type Span struct{ From, To int }

// maskedText is a text as its caller is shown it: parts of it are hidden behind a
// mark.
type maskedText struct {
	mark    string
	lines   []maskedLine
	literal bool // the mark is somewhere in the text itself
}

// maskedLine is one line that the caller sees. What is hidden in it may be several
// lines, such as a key.
type maskedLine struct {
	shown, real string // without the line end, which is never hidden
	end         string
	from        int    // where it begins in the shown text
	realFrom    int    // and in the real one
	hidden      int    // how many parts of it are hidden
	spans       []Span // these, in real
}

func (l maskedLine) marked(mark string) bool { return l.hidden > 0 || strings.Contains(l.shown, mark) }

// newMaskedText puts marks in the place of the spans, which are in order.
func newMaskedText(text string, hidden []Span, mark string) *maskedText {
	v := &maskedText{mark: mark, literal: strings.Contains(text, mark)}
	shownAt := 0
	for at := 0; at < len(text); {
		l := maskedLine{from: shownAt, realFrom: at}
		var shown strings.Builder
		for {
			next := len(text)
			if len(hidden) > 0 {
				next = min(max(hidden[0].From, at), len(text))
			}
			if n := strings.IndexByte(text[at:next], '\n'); n >= 0 {
				shown.WriteString(text[at : at+n])
				at += n
				break
			}
			shown.WriteString(text[at:next])
			at = next
			if len(hidden) == 0 {
				break
			}
			if to := min(hidden[0].To, len(text)); to > at {
				shown.WriteString(mark)
				l.spans = append(l.spans, Span{at - l.realFrom, to - l.realFrom})
				at = to
				l.hidden++
			}
			hidden = hidden[1:]
		}
		l.shown, l.real = shown.String(), text[l.realFrom:at]
		if at < len(text) {
			l.end = "\n"
			at++
		}
		shownAt += len(l.shown) + len(l.end)
		v.lines = append(v.lines, l)
	}
	return v
}

// text is what the caller sees.
func (v *maskedText) text() string {
	var b strings.Builder
	for _, l := range v.lines {
		b.WriteString(l.shown)
		b.WriteString(l.end)
	}
	return b.String()
}

// part is the masked text of some of the lines alone.
func (v *maskedText) part(first, last int) *maskedText {
	return &maskedText{mark: v.mark, lines: v.lines[first:last], literal: v.literal}
}

// lineKernel is a marked line without what an edit of the lines around it may
// change: JSON wants a comma behind a line that is no longer the last.
func lineKernel(line string) string { return strings.TrimRight(line, " \t\r,;") }

// errMark is a mark that stands for nothing that is known.
var errMark = errors.New("the mark stands for a value that you were not shown, and that value is put back only into the line that hides it now. " +
	"Nothing was written. Leave such lines exactly as read_file shows them and in their place, or change the other lines with edit_file; " +
	"if the word itself is meant, write it in another way, such as (redacted)")

// restored is a new text with the hidden values of the old one put back, and
// where these are. A line gets its value back if it is the line
// that hides it now: the same text, once, and with no other line that stays in
// the text having changed sides.
func (v *maskedText) restored(next string) (string, []Span, error) {
	lines := strings.SplitAfter(next, "\n")
	places := newPlaces(v, lines)
	groups := map[string]*group{}
	for i, l := range v.lines {
		if l.marked(v.mark) {
			g := groups[lineKernel(l.shown)]
			if g == nil {
				g = &group{}
				groups[lineKernel(l.shown)] = g
			}
			g.old = append(g.old, i)
			g.hidden += min(l.hidden, 1)
		}
	}
	var strange []int // marked lines that the old text has not
	for j, line := range lines {
		if !strings.Contains(line, v.mark) {
			continue
		}
		if g := groups[lineKernel(strings.TrimSuffix(line, "\n"))]; g != nil {
			g.now = append(g.now, j)
		} else {
			strange = append(strange, j)
		}
	}
	back, all := map[int]maskedLine{}, true
	for _, g := range groups {
		if g.hidden == 0 {
			continue // the mark is the file's own text
		}
		pairs, bad := g.pairs(v, places)
		if bad >= 0 {
			return "", nil, v.refuse(bad)
		}
		for _, p := range pairs {
			if l := v.lines[p.From]; l.hidden > 0 {
				lines[p.To], l.spans = l.into(lines[p.To])
				back[p.To] = l
			}
		}
		all = all && len(pairs) == len(g.old)
	}
	// Who writes about marks may go on doing so, in a file that has them as text
	// and as long as nothing hidden is lost.
	if len(strange) > 0 && (!all || !v.literal) {
		return "", nil, v.refuse(strange[0])
	}
	var kept []Span
	at := 0
	for j, line := range lines {
		kept = append(kept, shiftSpans(back[j].spans, at)...)
		at += len(line)
	}
	return strings.Join(lines, ""), kept, nil
}

// shiftSpans is spans further on in a text.
func shiftSpans(spans []Span, by int) []Span {
	out := make([]Span, len(spans))
	for i, s := range spans {
		out[i] = Span{s.From + by, s.To + by}
	}
	return out
}

func (v *maskedText) refuse(at int) error {
	return fmt.Errorf("line %d of the new text has %s in it: %w", at+1, v.mark, errMark)
}

// into gives a line of the new text what it hides, and leaves it its own end. It
// tells where the hidden parts are then.
func (l maskedLine) into(line string) (string, []Span) {
	text := strings.TrimSuffix(line, "\n")
	tail := text[len(lineKernel(text)):] + line[len(text):]
	value := l.real[:len(l.real)-(len(l.shown)-len(lineKernel(l.shown)))]
	spans := l.spans
	if strings.Contains(line, "\n") && !strings.Contains(line, "\r") && strings.Contains(value, "\r\n") {
		spans = slices.Clone(spans)
		for i, s := range spans {
			before := strings.Count(l.real[:s.From], "\r\n")
			spans[i] = Span{s.From - before, s.To - before - strings.Count(l.real[s.From:s.To], "\r\n")}
		}
		value = strings.ReplaceAll(value, "\r\n", "\n")
	}
	return value + tail, spans
}

// group is the marked lines that look the same, in the old text and the new.
type group struct {
	old, now []int
	hidden   int // how many of the old hide something
}

// pairs tells which line of the new text is which of the old one, or the first
// of which that cannot be told.
func (g *group) pairs(v *maskedText, p *places) (pairs []Span, bad int) {
	if len(g.now) > len(g.old) {
		return nil, g.now[len(g.old)] // a value is not written twice
	}
	last := -1
	for n, j := range g.now {
		i := -1
		if len(g.now) == len(g.old) {
			if i = g.old[n]; p.crossed(i, j) {
				return nil, j
			}
		} else {
			for _, o := range g.old {
				if o <= last || p.crossed(o, j) {
					continue
				}
				if i >= 0 && v.lines[o].real != v.lines[i].real {
					return nil, j // it may be either
				}
				if i < 0 {
					i = o
				}
			}
			if i < 0 {
				return nil, j
			}
		}
		last = i
		pairs = append(pairs, Span{i, j})
	}
	return pairs, -1
}

// places tells whether a line has been moved past others.
type places struct {
	before []int // by line of the old text: the last line of the new one that stood before it
	after  []int // the first that stood behind it
}

// newPlaces finds the lines that both texts have once, and where these are.
func newPlaces(v *maskedText, lines []string) *places {
	count := map[string][2]int{} // how often in the old and in the new text
	where := map[string]int{}    // in the new text
	for _, l := range v.lines {
		if text := strings.TrimSpace(l.shown); text != "" && l.hidden == 0 {
			c := count[text]
			c[0]++
			count[text] = c
		}
	}
	for j, line := range lines {
		text := strings.TrimSpace(line)
		if c, ok := count[text]; ok {
			c[1]++
			count[text] = c
			where[text] = j
		}
	}
	at := func(i int) int {
		text := strings.TrimSpace(v.lines[i].shown)
		if v.lines[i].hidden > 0 || count[text] != [2]int{1, 1} {
			return -1
		}
		return where[text]
	}
	p := &places{make([]int, len(v.lines)), make([]int, len(v.lines))}
	most, least := -1, len(lines)
	for i := range v.lines {
		p.before[i] = most
		most = max(most, at(i))
	}
	for i := len(v.lines) - 1; i >= 0; i-- {
		p.after[i] = least
		if j := at(i); j >= 0 {
			least = min(least, j)
		}
	}
	return p
}

// crossed reports whether line i of the old text, as line j of the new one, has
// got to another side of a line that stayed.
func (p *places) crossed(i, j int) bool { return p.before[i] > j || p.after[i] < j }

// edited replaces text as the caller sees it, so that nothing hidden can be
// found by guessing. Of the lines that the edit touches, those that hide
// something have to stay; the others are where they were.
func (v *maskedText) edited(oldText, newText string, which int) (text string, count, back int, kept []Span, err error) {
	shown := []byte(v.text())
	places, size, to, err := locate(shown, oldText, newText, which)
	if err != nil {
		return "", 0, 0, nil, err
	}
	var out strings.Builder
	done := 0 // lines that are in out
	as := func(l maskedLine) {
		kept = append(kept, shiftSpans(l.spans, out.Len())...)
		out.WriteString(l.real + l.end)
	}
	for _, at := range places {
		first := v.lineAt(at)
		last := v.lineAt(at+size-1) + 1
		if first < done {
			return "", 0, 0, nil, errors.New("several of the places are in one line that hides a value; change them one at a time with occurrence")
		}
		for _, l := range v.lines[done:first] {
			as(l)
		}
		block := v.part(first, last)
		end := v.lines[last-1]
		next := string(shown[v.lines[first].from:at]) + string(to) + string(shown[at+size:end.from+len(end.shown)+len(end.end)])
		text, put, err := block.restored(next)
		if err != nil {
			return "", 0, 0, nil, err
		}
		kept = append(kept, shiftSpans(put, out.Len())...)
		out.WriteString(text)
		back += len(put)
		done = last
	}
	for _, l := range v.lines[done:] {
		as(l)
	}
	return out.String(), len(places), back, kept, nil
}

// lineAt is the line of a byte of the shown text.
func (v *maskedText) lineAt(at int) int {
	i, found := slices.BinarySearchFunc(v.lines, at, func(l maskedLine, at int) int { return l.from - at })
	if !found {
		i--
	}
	return i
}

// readable is the text of a file as read_file tells it.
func readable(data []byte) string {
	switch e := guess(data[:min(len(data), 2)]); {
	case e == encUTF16LE || e == encUTF16BE:
		return decode(data, e)
	case !utf8.Valid(data) && looksLatin1(data):
		return decode(data, encLatin1)
	}
	return string(data)
}
