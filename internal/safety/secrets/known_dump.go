package secrets

import (
	"strconv"
	"strings"
)

// dumpRow is a line of a dump, or one with a number before it.
type dumpRow struct {
	at, end  int // of the line
	from, to int // of what the address or number stands before
	address  uint64
	numbered bool // a number, and a text behind it that is shown once
	counted  bool // numbered, and only where the numbers rise: many lines begin with a number and a sign
	stream   int  // the bytes are shown again, otherwise, on lines below the first
}

// dumpStreams is in how many ways a dump shows its bytes below each other.
const dumpStreams = 4

// dumped adds the known values in dumps that have an address before each line,
// and may have the bytes as letters behind or below them, and in lines with a
// number before each. What is found in a dump takes in whole lines, because the
// letters beside show it too.
func (k *Known) dumped(found []Finding, text string, left *unpacking) []Finding {
	var rows []dumpRow
	for next := 0; next < len(text); {
		end := lineEnd(text, next)
		last := len(rows) - 1
		if last >= 0 && end == next+1 && text[next] == '*' {
			next = end + 1 // equal lines were left out
			continue
		}
		if n, alone := numberAlone(text[next:end]); alone && end < len(text) { // sed =
			stop := lineEnd(text, end+1)
			row := dumpRow{at: next, end: stop, from: end + 1, to: stop, address: n, numbered: true, counted: true}
			if last >= 0 && !follows(rows[last], row) {
				found = k.inRows(found, text, rows, left)
				rows = rows[:0]
			}
			rows, next = append(rows, row), stop+1
			continue
		}
		var row dumpRow
		ok := last >= 0 && !rows[last].numbered && rows[last].stream+1 < dumpStreams && belowRow(text[next:end]) && hexDigit(text[rows[last-rows[last].stream].at])
		if ok {
			row = dumpRow{at: next, from: next, to: end, stream: rows[last].stream + 1}
		} else {
			row, ok = dumpAt(text, next, end)
		}
		if ok {
			row.end = end
		}
		if last >= 0 && (!ok || !follows(rows[last], row)) {
			found = k.inRows(found, text, rows, left)
			rows = rows[:0]
		}
		if ok {
			rows = append(rows, row)
		}
		next = end + 1
	}
	return k.inRows(found, text, rows, left)
}

// follows: two rows belong together.
func follows(a, b dumpRow) bool {
	return a.numbered == b.numbered && a.counted == b.counted && (!b.counted || b.address > a.address && b.address-a.address <= 16)
}

// numberAlone: a line with nothing but a small number.
func numberAlone(line string) (n uint64, ok bool) {
	if line == "" || len(line) > 7 || !digit(line[0]) {
		return 0, false
	}
	n, err := strconv.ParseUint(line, 10, 32)
	return n, err == nil
}

// belowRow: a line of a dump without an address.
func belowRow(line string) bool {
	return len(line) > 8 && len(line) < dumpLineMost && strings.HasPrefix(line, "       ")
}

// inRows looks for known values in rows that belong together.
func (k *Known) inRows(found []Finding, text string, rows []dumpRow, left *unpacking) []Finding {
	if len(rows) == 0 || len(rows) == 1 && rows[0].numbered {
		return found
	}
	backwards := !rows[0].numbered && len(rows) > 1 && rows[1].stream == 0 && rows[1].address < rows[0].address // tac
	streams := 0
	for i := range rows {
		streams = max(streams, rows[i].stream+1)
	}
	if rows[0].numbered {
		streams = 2 // the second is the first word of each, as cmp -l has it
	}
	var body []byte
	var places []viewPart
	for stream := range streams {
		body, places = body[:0], places[:0]
		for n := range rows {
			i := n
			if backwards {
				i = len(rows) - 1 - n
			}
			r := &rows[i]
			if !r.numbered && r.stream != stream {
				continue
			}
			places = append(places, viewPart{len(body), i})
			body = r.write(body, text, stream)
		}
		if len(body) == 0 {
			continue
		}
		v := view{text: body, parts: places}
		for _, f := range k.pass(nil, string(body), left) {
			first, last := v.part(f.Start), v.part(f.End-1)
			found = rowsFound(found, rows, first, last, f, stream)
		}
	}
	return found
}

// write adds what a row shows.
func (r *dumpRow) write(body []byte, text string, stream int) []byte {
	switch {
	case r.numbered && stream == 0:
		body = append(body, text[r.from:r.to]...)
	case r.numbered:
		word := strings.TrimLeft(text[r.from:r.to], " \t")
		if n := strings.IndexAny(word, " \t"); n > 0 && n <= 3 {
			body = append(body, word[:n]...)
		}
	default:
		for i := r.from; i < r.to; i++ {
			if text[i] != ' ' || i > 0 && text[i-1] != ' ' { // columns are no gaps
				body = append(body, text[i])
			}
		}
	}
	return append(body, '\n')
}

// rowsFound adds the lines that show a value.
func rowsFound(found []Finding, rows []dumpRow, first, last viewPart, f Finding, stream int) []Finding {
	a, b := &rows[first.text], &rows[last.text]
	if a.numbered && stream == 0 {
		if first.text == last.text {
			return found // it stands in the text as it is, and was found there
		}
		return append(found, Finding{Start: a.from + f.Start - first.view, End: min(b.from+f.End-last.view, b.to), Rule: RuleKnown})
	}
	low, high := min(first.text, last.text), max(first.text, last.text)
	for low > 0 && rows[low].stream > 0 {
		low--
	}
	for high+1 < len(rows) && rows[high+1].stream > 0 {
		high++
	}
	return append(found, Finding{Start: rows[low].at, End: rows[high].end, Rule: RuleKnown})
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
func dumpAt(text string, at, end int) (dumpRow, bool) {
	if n := strings.IndexByte(text[at:end], '"'); n >= 0 && end-at > dumpLineMost {
		if r, ok := dumpLine(text, at, at+n); ok {
			return r, true
		}
	}
	if r, ok := dumpLine(text, at, end); ok {
		return r, true
	}
	for range 64 {
		n := strings.IndexByte(text[at:end], '"')
		if n < 0 {
			break
		}
		before := byte(':')
		if at += n; at > 0 {
			before = text[at-1]
		}
		if at++; strings.IndexByte(":[,{ \n", before) < 0 || at >= end || !hexDigit(text[at]) && strings.IndexByte(" \t>|+#", text[at]) < 0 {
			continue
		}
		stop := end
		if m := strings.IndexByte(text[at:end], '"'); m >= 0 && end-at > dumpLineMost {
			stop = at + m
		}
		if r, ok := dumpLine(text, at, stop); ok {
			return r, true
		}
	}
	return dumpRow{}, false
}

const dumpLineMost = 256

// dumpLine reads the line of a dump, also one that another program has put a
// number or a sign before.
func dumpLine(text string, at, end int) (dumpRow, bool) {
	if end-at > dumpLineMost || end-at < 2 || !hexDigit(text[at]) && strings.IndexByte(" \t>|+#", text[at]) < 0 {
		return dumpRow{}, false
	}
	line := text[at:end]
	i := 0
	for i < len(line) && strings.IndexByte(" \t>|+#", line[i]) >= 0 {
		i++
	}
	begin := i
	decimal := true
	for i < len(line) && hexDigit(line[i]) {
		decimal = decimal && digit(line[i])
		i++
	}
	size := i - begin
	if size == 0 || size > 16 || size < 4 && !decimal || i >= len(line) {
		return dumpRow{}, false
	}
	row := dumpRow{at: at, to: end, from: at + i}
	row.address, _ = strconv.ParseUint(line[begin:i], 16, 64) // 16 digits are never too many
	colon := line[i] == ':'
	if colon {
		i++
		row.from++
	}
	if !colon && line[i] != ' ' && line[i] != '\t' {
		if !decimal || size > 7 || strings.IndexByte(".)|>,;=/", line[i]) < 0 {
			return dumpRow{}, false
		}
		row.from, row.numbered, row.counted = at+i+1, true, true // nl -s
		row.address, _ = strconv.ParseUint(line[begin:i], 10, 64)
		return row, true
	}
	if size < 4 || decimal && line[i-1] != ':' && line[i] == '\t' || colon && (i >= len(line) || line[i] != ' ') {
		if inner, ok := addressIn(text, at+i, end); ok {
			return inner, true
		}
		if run := hexRun(line[i:]); colon && size >= 4 && run >= 8 { // xxd | tr -d ' '
			row.to = at + i + min(run, 32)
			return row, true
		}
		row.numbered = !(size > 0 && !colon && hexWords(line[i:]))
		return row, decimal
	}
	if n := strings.LastIndex(line, "  |"); n > i { // hexdump -C
		row.to = at + n
	} else if n := strings.LastIndex(line, "  >"); n > i && line[len(line)-1] == '<' { // od -z
		row.to = at + n
	} else if n := strings.Index(line[min(i+1, len(line)):], "  "); colon && n >= 0 { // xxd
		row.to = at + i + 1 + n
	}
	return row, true
}

// addressIn: behind the number of a line stands the line of a dump.
func addressIn(text string, at, end int) (dumpRow, bool) {
	at = endOf(text, at, end-at, func(c byte) bool { return c == ' ' || c == '\t' })
	n := hexRun(text[at:end])
	if n < 6 || n > 16 || at+n+1 >= end || text[at+n] != ':' && text[at+n] != ' ' || text[at+n+1] != ' ' && text[at+n] == ':' {
		return dumpRow{}, false
	}
	return dumpLine(text, at, end)
}

func hexRun(s string) int { return endOf(s, 0, len(s), hexDigit) }

// hexWords: two hex digits or three digits, and again and again.
func hexWords(s string) bool {
	words := 0
	for s != "" {
		s = strings.TrimLeft(s, " \t")
		n := hexRun(s)
		if n == 0 {
			break
		}
		if n > 3 || n < 2 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
			return false
		}
		s = s[n:]
		words++
	}
	return words > 1 && s == ""
}
