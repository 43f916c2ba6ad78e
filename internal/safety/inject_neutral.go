package safety

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// changes is what a text had in it that was made harmless.
type changes struct {
	hidden   int // characters that are not seen
	controls int // control characters and broken bytes
	tokens   int // control tokens, forged tags and turns
}

// Neutral makes a text from outside harmless to read: characters that nobody
// sees, control characters too, are written out as [U+200B], broken bytes as \xff, and a control
// token gets a backslash behind its bracket, <\|im_start|>, or before its
// colon, Human\:. Nothing is taken out, so a reader still sees what was there;
// a text without such things comes back as it is, and so does one that was made
// harmless before.
func Neutral(text string) string {
	var f changes
	return f.neutral(text)
}

// NeutralJSON does the same with every string and key of a JSON value. Keys that
// would become the same are an error.
func NeutralJSON(value json.RawMessage) (json.RawMessage, error) {
	var f changes
	return f.value(value)
}

func (f *changes) neutral(s string) string {
	var out []byte // nil until something is changed
	last := 0      // what was copied to out
	wrote := -1    // where in s the last thing ended that was written out
	put := func(from, to int, instead string) {
		if out == nil {
			out = make([]byte, 0, len(s)+len(s)/8+32)
		}
		out = append(append(out, s[last:from]...), instead...)
		last, wrote = to, to
	}
	begins := true // a line
	for i := 0; i < len(s); {
		if begins {
			begins = false
			if at := turn(s[i:]); at >= 0 {
				f.tokens++
				put(i+at, i+at, `\`)
				_, size := utf8.DecodeRuneInString(s[i+at:])
				i += at + size
				continue
			}
		}
		for i < len(s) && plainByte(s[i]) {
			i++
		}
		if i == len(s) {
			break
		}
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			i = f.beyond(s, i, wrote, put)
		case c == '<' || c == '[':
			if i++; opens(c, s[i:]) {
				f.tokens++
				put(i, i, `\`)
			}
		case c == '\n':
			begins = true
			i++
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			i++
		default:
			n := repeated(s[i:], s[i:i+1])
			f.controls += n
			put(i, i+n, string(text.AppendCode(nil, rune(c), n)))
			i += n
		}
	}
	if out == nil {
		return s
	}
	return string(append(out, s[last:]...))
}

// plainByte: nearly every byte of a text is one that nothing begins with.
func plainByte(c byte) bool {
	const (
		low  = 1<<'\t' | (1<<64-1)&^(1<<32-1)&^(1<<'<')
		high = (1<<64 - 1) &^ (1 << ('[' - 64)) &^ (1 << (0x7f - 64))
	)
	if c < 64 {
		return uint64(low)>>c&1 != 0
	}
	return c < utf8.RuneSelf && uint64(high)>>(c-64)&1 != 0
}

// beyond deals with one character outside of ASCII and gives the place behind.
func (f *changes) beyond(s string, i, wrote int, put func(from, to int, instead string)) int {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError && size <= 1:
		f.controls++
		put(i, i+1, `\x`+strconv.FormatUint(uint64(s[i]), 16))
		return i + 1
	case r == text.BlackFlag:
		return i + max(text.Flag(s[i:]), size)
	case !text.Invisible(r):
		if b := bracketLike(r); b != 0 && opens(b, s[i+size:]) {
			f.tokens++
			put(i+size, i+size, `\`)
		}
		return i + size
	}
	prev := rune(']')
	if wrote != i {
		prev, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	if text.Needed(r, prev, s[i+size:]) {
		return i + size
	}
	n := repeated(s[i:], s[i:i+size])
	f.hidden += n
	put(i, i+n*size, string(text.AppendCode(nil, r, n)))
	return i + n*size
}

// repeated counts how often a text begins with the same character.
func repeated(text, char string) int {
	n := 0
	for len(text) >= len(char) && text[:len(char)] == char {
		n, text = n+1, text[len(char):]
	}
	return n
}
