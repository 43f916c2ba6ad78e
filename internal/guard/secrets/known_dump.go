package secrets

import (
	"slices"
	"strings"
)

// dumped adds the known values in dumps that have an address before each line,
// and may have the bytes as letters behind them. What is found takes in whole
// lines, because the letters behind show it too.
func (k *Known) dumped(found []Finding, text string) []Finding {
	var body []byte
	var lines []viewPart // where the lines begin
	flush := func() {
		if len(body) > 0 {
			v := view{text: body, parts: lines}
			for _, f := range k.pass(nil, string(body)) {
				first, last := v.line(f.Start), v.line(f.End-1)
				found = append(found, Finding{Start: first, End: lineEnd(text, last), Rule: RuleKnown})
			}
		}
		body, lines = body[:0], lines[:0]
	}
	for next := 0; next < len(text); {
		end := lineEnd(text, next)
		at, from, to, ok := dumpAt(text, next, end)
		if ok {
			lines = append(lines, viewPart{len(body), at})
			for i := at + from; i < at+to; i++ {
				if text[i] != ' ' || text[i-1] != ' ' { // columns are no gaps
					body = append(body, text[i])
				}
			}
			body = append(body, '\n')
		} else {
			flush()
		}
		next = end + 1
	}
	flush()
	return found
}

// line gives where the line begins that a place of the view comes from.
func (v *view) line(at int) int {
	n, _ := slices.BinarySearchFunc(v.parts, at+1, func(p viewPart, at int) int { return p.view - at })
	return v.parts[n-1].text
}

func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

// dumpAt finds the line of a dump between two places. Where a dump is all that a
// string of a JSON text holds, its first line begins behind a quote, and its last
// one ends before another.
func dumpAt(text string, at, end int) (begin, from, to int, ok bool) {
	if n := strings.IndexByte(text[at:end], '"'); n >= 0 && end-at > dumpLineMost {
		if from, to, ok = dumpLine(text[at : at+n]); ok {
			return at, from, to, true
		}
	}
	if from, to, ok = dumpLine(text[at:end]); ok {
		return at, from, to, true
	}
	for range 64 {
		n := strings.IndexByte(text[at:end], '"')
		if n < 0 {
			break
		}
		at += n + 1
		stop := end
		if m := strings.IndexByte(text[at:end], '"'); m >= 0 && end-at > dumpLineMost {
			stop = at + m
		}
		if from, to, ok = dumpLine(text[at:stop]); ok {
			return at, from, to, true
		}
	}
	return at, 0, 0, false
}

const dumpLineMost = 256

// dumpLine gives where the bytes of a line of a dump stand.
func dumpLine(line string) (from, to int, ok bool) {
	if len(line) > dumpLineMost || len(line) < 8 || !hexDigit(line[0]) && line[0] != ' ' && line[0] != '\t' {
		return 0, 0, false
	}
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	begin := i
	for i < len(line) && hexDigit(line[i]) {
		i++
	}
	if i-begin < 4 || i-begin > 16 {
		return 0, 0, false
	}
	colon := i < len(line) && line[i] == ':'
	if colon {
		i++
	}
	if i >= len(line) || line[i] != ' ' && line[i] != '\t' {
		return 0, 0, false
	}
	to = len(line)
	if n := strings.LastIndex(line, "  |"); n > i { // hexdump -C
		to = n
	} else if n := strings.LastIndex(line, "  >"); n > i && line[len(line)-1] == '<' { // od -z
		to = n
	} else if n := strings.Index(line[i+1:], "  "); colon && n >= 0 { // xxd
		to = i + 1 + n
	}
	return i, to, true
}
