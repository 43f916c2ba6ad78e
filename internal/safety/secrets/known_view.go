package secrets

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	ctext "github.com/toolcrib/toolcrib/internal/text"
)

// view is a text in which something is written otherwise. Its parts say where
// they come from.
type view struct {
	text  []byte
	parts []viewPart
}

// viewPart begins at a place of the view, and at one of the text.
type viewPart struct{ view, text int }

// back gives the place in the text that a place of the view comes from.
func (v *view) back(at int) int {
	n, _ := slices.BinarySearchFunc(v.parts, at+1, func(p viewPart, at int) int { return p.view - at })
	p := v.parts[n-1]
	if n < len(v.parts) {
		return min(p.text+at-p.view, v.parts[n].text)
	}
	return p.text + at - p.view
}

// part gives the part of the view that a place belongs to.
func (v *view) part(at int) viewPart {
	n, _ := slices.BinarySearchFunc(v.parts, at+1, func(p viewPart, at int) int { return p.view - at })
	return v.parts[n-1]
}

func (v *view) add(text string, from, to int) {
	if from < to {
		v.parts = append(v.parts, viewPart{len(v.text), from})
		v.text = append(v.text, text[from:to]...)
	}
}

// firstEscape gives where the first escape may stand, or -1.
func firstEscape(text string) int {
	for i := range len(text) {
		if mayEscape(text[i]) {
			return i
		}
	}
	return -1
}

// mayEscape: an escape may begin with this byte, or a letter that nobody sees.
func mayEscape(c byte) bool {
	switch c {
	case '\\', '%', '&', 0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3:
		return true
	}
	return false
}

// unescaped goes over a text with every escape resolved that a program may have
// written: %41, &#65;, &amp;, \x41, \101, \u0041, \n. Letters that nobody sees are
// left out. It shows only what stands within reach of an escape, stretch by
// stretch. The first one stands at a place.
func unescaped(text string, at, reach int, see func(*view)) {
	var v view
	kept, last := 0, -1 // what of the text is in the view, and the end of its last escape
	flush := func(to int) {
		v.add(text, kept, to)
		v.parts = append(v.parts, viewPart{len(v.text), to})
		see(&v)
		v.text, v.parts = v.text[:0], v.parts[:0]
		last = -1
	}
	for i := at; i < len(text); {
		if !mayEscape(text[i]) {
			i++
			continue
		}
		put, size := unescapeAt(text, i)
		if size == 0 {
			i++
			continue
		}
		if last >= 0 && i-last > 2*reach {
			flush(last + reach)
		}
		if last < 0 {
			kept = max(0, i-reach)
		}
		v.add(text, kept, i)
		// Each byte comes from all of the escape, so that none of it is left.
		for j := range len(put) {
			v.parts = append(v.parts, viewPart{len(v.text), i})
			v.text = append(v.text, put[j])
		}
		i += size
		kept, last = i, i
	}
	if last >= 0 {
		flush(min(len(text), last+reach))
	}
}

// unescapeAt gives what the escape at a place stands for, and its size; 0 if
// there is none.
func unescapeAt(text string, i int) (string, int) {
	rest := text[i:]
	switch {
	case len(rest) < 2:
		return "", 0
	case rest[0] >= utf8.RuneSelf: // a letter that nobody sees stands for nothing
		r, size := utf8.DecodeRuneInString(rest)
		if plain := plainLetter(r); plain != 0 {
			return string(rune(plain)), size
		}
		if r != utf8.RuneError && ctext.Invisible(r) {
			return "", size
		}
		return "", 0
	case rest[0] == '%':
		if len(rest) >= 3 && hexDigit(rest[1]) && hexDigit(rest[2]) {
			return hexByte(rest[1:3]), 3
		}
		return "", 0
	case rest[0] == '&':
		end := strings.IndexByte(rest[:min(len(rest), 12)], ';')
		if end < 2 {
			return "", 0
		}
		if put := html.UnescapeString(rest[:end+1]); put != rest[:end+1] {
			return put, end + 1
		}
		return "", 0
	}
	switch c := rest[1]; c {
	case 'n', 'r', 't', 'b', 'f', 'v', 'a', 'e':
		const names, stand = "nrtbfvae", "\n\r\t\b\f\v\a\x1b" // a stream may need the very byte
		n := strings.IndexByte(names, c)
		return stand[n : n+1], 2
	case 'x':
		if len(rest) >= 4 && hexDigit(rest[2]) && hexDigit(rest[3]) {
			return hexByte(rest[2:4]), 4
		}
	case 'u', 'U':
		return runeEscape(rest)
	default:
		if c >= '0' && c <= '7' {
			n := 1
			for n < 4 && n < len(rest)-1 && rest[1+n] >= '0' && rest[1+n] <= '7' && n < 3 {
				n++
			}
			if v, err := strconv.ParseUint(rest[1:1+n], 8, 16); err == nil && v < 256 {
				return string([]byte{byte(v)}), 1 + n
			}
			return "", 0
		}
		if c < 0x80 && !letter(c) {
			return rest[1:2], 2
		}
	}
	return "", 0
}

func hexByte(digits string) string {
	n, err := strconv.ParseUint(digits, 16, 8)
	if err != nil {
		return ""
	}
	return string([]byte{byte(n)})
}

// runeEscape resolves \u0041, \u{41} and \U00000041.
func runeEscape(rest string) (string, int) {
	digits, size := "", 0
	switch {
	case strings.HasPrefix(rest[2:], "{"):
		end := strings.IndexByte(rest[:min(len(rest), 12)], '}')
		if end < 4 {
			return "", 0
		}
		digits, size = rest[3:end], end+1
	case rest[1] == 'U' && len(rest) >= 10:
		digits, size = rest[2:10], 10
	case rest[1] == 'u' && len(rest) >= 6:
		digits, size = rest[2:6], 6
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return "", 0
	}
	return string(rune(n)), size
}
