// Package keytext says which parts of a private key in a text must not be
// shown: the base64 that the key is made of, and nothing that stands around or
// between it. Whoever reads a question or a record has to see everything else:
// a frame of BEGIN and END lines around a command must not hide the command.
//
// The entry is [Keys]; [Body] is for text that is known to be of a key already.
package keytext

import "strings"

// Span is a part of a text.
type Span struct{ From, To int }

// least is the length of a word that is taken for a line of a key.
const least = 16

// Keys gives the base64 between the BEGIN line of each private key and the next
// line of dashes, in order.
func Keys(text string) []Span {
	const begin, key, dashes = "-----BEGIN ", "PRIVATE KEY", "-----"
	var out []Span
	for at := 0; ; {
		n := strings.Index(text[at:], begin)
		if n < 0 {
			return out
		}
		at += n + len(begin)
		label, _, closed := strings.Cut(text[at:], dashes)
		if !closed || !strings.Contains(label, key) || strings.Contains(label, "\n") {
			continue
		}
		at += len(label) + len(dashes)
		body, _, _ := strings.Cut(text[at:], dashes)
		for _, s := range Body(body) {
			out = append(out, Span{at + s.From, at + s.To})
		}
		at += len(body)
	}
}

// Body gives the words of a text that are base64 by their look: long, and of
// small and capital letters and digits, as the words of a command hardly ever
// are. A shorter one counts only as the very last, behind another.
func Body(text string) []Span {
	var out []Span
	last := 0 // where the last one ends, if nothing but space and quotes is behind it
	for i := 0; i < len(text); {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("nrt", text[i+1]) >= 0 {
			i += 2 // the letter belongs to the escape
			continue
		}
		if letter(text[i:]) == 0 || text[i] == '+' { // a difference has a + before its lines
			if !between(text[i]) {
				last = 0
			}
			i++
			continue
		}
		from := i
		for size := letter(text[i:]); size > 0; size = letter(text[i:]) {
			i += size
		}
		switch {
		case looks(text[from:i]), last > 0 && closes(text[i:]):
			out = append(out, Span{from, i})
			last = i
		default:
			last = 0
		}
	}
	return out
}

// closes reports whether nothing but what separates lines is left.
func closes(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("nrt", text[i+1]) >= 0 {
			i++
		} else if !between(text[i]) {
			return false
		}
	}
	return true
}

func between(c byte) bool { return strings.IndexByte(" \t\r\n\"'\\,+", c) >= 0 }

// letter gives the size of a letter of base64 at the beginning of a text, also
// of one that JSON or a URL escapes; 0: there is none.
func letter(text string) int {
	if text == "" {
		return 0
	}
	switch c := text[0]; {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '+', c == '/', c == '=':
		return 1
	case c == '\\' && strings.HasPrefix(text, `\/`):
		return 2
	case c == '\\' && len(text) >= 6 && text[1] == 'u' && sign(text[2:6]):
		return 6
	case c == '%' && len(text) >= 3 && sign("00"+text[1:3]):
		return 3
	}
	return 0
}

// sign reports whether a code is that of +, / or =.
func sign(code string) bool {
	switch strings.ToLower(code) {
	case "002b", "002f", "003d":
		return true
	}
	return false
}

// looks goes by small and capital letters, and in what may be a path by digits
// too.
func looks(word string) bool {
	small, capital, other := false, false, !strings.Contains(word, "/")
	for i := range len(word) {
		switch c := word[i]; {
		case 'a' <= c && c <= 'z':
			small = true
		case 'A' <= c && c <= 'Z':
			capital = true
		case c != '/' && c != '\\':
			other = true
		}
	}
	return len(word) >= least && small && capital && other
}

// Strike puts a mark in the place of each span.
func Strike(text string, spans []Span, mark string) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	kept := 0
	for _, s := range spans {
		b.WriteString(text[kept:s.From])
		b.WriteString(mark)
		kept = s.To
	}
	return b.String() + text[kept:]
}
