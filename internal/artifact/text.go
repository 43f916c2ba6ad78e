package artifact

import (
	"strings"
	"unicode/utf8"

	shown "github.com/toolcrib/toolcrib/internal/text"
)

// cutText keeps the beginning and the end of a text, in size bytes with the
// marker between them. It cuts between lines where one ends near the cut, and
// never within a letter. marker is told how much is left out and from where.
func cutText(text string, size int, marker func(left, offset int) string) string {
	if len(text) <= size {
		return text
	}
	// The numbers in the marker are no longer than those of the whole text.
	room := size - len(marker(len(text), len(text))) - 2
	if room <= 0 {
		return cutHead(text, size)
	}
	head := headEnd(text, room*2/3)
	tail := tailStart(text, len(text)-(room-head))
	// Half of what is encoded is of no use to anybody.
	if from, to := shown.Base64Run(text, head); shown.IsData(text[from:to]) {
		head = from
	}
	if from, to := shown.Base64Run(text, tail); shown.IsData(text[from:to]) {
		tail = to
	}
	gap := "\n"
	if head > 0 && text[head-1] == '\n' {
		gap = ""
	}
	return text[:head] + gap + marker(tail-head, head) + "\n" + text[tail:]
}

// cutHead is for where there is no room for a marker.
func cutHead(text string, size int) string {
	const gone = "…"
	if len(text) <= size {
		return text
	}
	if size <= len(gone) {
		return ""
	}
	end := runeEnd(text, size-len(gone))
	if from, to := shown.Base64Run(text, end); shown.IsData(text[from:to]) {
		end = from
	}
	return text[:end] + gone
}

// headEnd is where the beginning ends: behind a line, if one ends in its last
// eighth.
func headEnd(text string, at int) int {
	if nl := strings.LastIndexByte(text[at-at/8:at], '\n'); nl >= 0 {
		return at - at/8 + nl + 1
	}
	return runeEnd(text, at)
}

// tailStart is where the end begins, likewise.
func tailStart(text string, at int) int {
	if nl := strings.IndexByte(text[at:at+(len(text)-at)/8], '\n'); nl >= 0 {
		return at + nl + 1
	}
	for n := 0; n < utf8.UTFMax-1 && at < len(text) && !utf8.RuneStart(text[at]); n++ {
		at++
	}
	return at
}

// runeEnd moves back to where a letter begins; text that is no UTF-8 is cut
// anywhere.
func runeEnd(text string, at int) int {
	for n := 0; n < utf8.UTFMax && at-n > 0; n++ {
		if utf8.RuneStart(text[at-n]) {
			return at - n
		}
	}
	return at
}
