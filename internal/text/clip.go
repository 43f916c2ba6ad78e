package text

import (
	"strings"
	"unicode/utf8"
)

// Head is the beginning of a text, at most size bytes, cut at a whole character.
func Head(s string, size int) string {
	if len(s) <= size {
		return s
	}
	end := max(size, 0)
	for end > 0 && end > size-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Tail is the end of a text, at most size bytes, cut at a whole character.
func Tail(s string, size int) string {
	if len(s) <= size {
		return s
	}
	from := len(s) - max(size, 0)
	for n := 0; from < len(s) && n < utf8.UTFMax && !utf8.RuneStart(s[from]); n++ {
		from++
	}
	return s[from:]
}

// Clip is Head with a … behind what was cut, which is not counted.
func Clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return Head(s, size) + "…"
}

// ClipRunes cuts a text to a number of characters, with a … behind it.
func ClipRunes(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// ClipMiddle keeps the beginning and the end of a text: in paths and command
// lines both say something.
func ClipMiddle(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return Head(s, size-size/2) + "…" + Tail(s, size/2)
}

// ClipSentence cuts a text to at most a number of characters, … included, at the
// end of a sentence or word where there is one in the last third.
func ClipSentence(s string, most int) string {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	end := 0
	for range most - 1 {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	head := s[:end]
	if i := strings.LastIndexAny(head, ".!?\n"); i > len(head)*2/3 {
		head = head[:i+1]
	} else if i := strings.LastIndexByte(head, ' '); i > len(head)*2/3 {
		head = head[:i]
	}
	return strings.TrimSpace(head) + "…"
}
