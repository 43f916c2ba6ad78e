package secrets

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapeReach is how much of a text around an escape is read with the escapes
// resolved.
const escapeReach = 512

// escaped adds what is only found if the escapes in a text are resolved once:
// JSON or source code that is quoted within the text.
func (s *Scanner) escaped(found []Finding, text string) []Finding {
	for at := 0; at < len(text); {
		from, to := escapedRegion(text, at)
		if from < 0 {
			return found
		}
		view, back := resolved(text[from:to])
		for _, f := range s.find(nil, view) {
			found = append(found, Finding{Start: from + back[f.Start], End: from + back[f.End], Rule: f.Rule})
		}
		at = to
	}
	return found
}

// escapedRegion gives the next stretch of a text with escapes in it.
func escapedRegion(text string, at int) (from, to int) {
	from = -1
	for i := at; i < len(text); {
		n := strings.IndexByte(text[i:], '\\')
		if n < 0 || from >= 0 && i+n > to {
			break
		}
		i += n
		if i+1 < len(text) && (text[i+1] == '"' || text[i+1] == 'u' || text[i+1] == '/') {
			if from < 0 {
				from = max(at, i-escapeReach)
			}
			to = min(len(text), i+escapeReach)
		}
		i += 2
	}
	return from, to
}

// resolved gives a text without its escapes, and for every byte of it, and for
// its end, the place it comes from.
func resolved(text string) (string, []int) {
	out := make([]byte, 0, len(text))
	back := make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		put, size := text[i:i+1], 1
		if text[i] == '\\' && i+1 < len(text) {
			put, size = escape(text[i:])
		}
		for range len(put) {
			back = append(back, i)
		}
		out = append(out, put...)
		i += size
	}
	return string(out), append(back, len(text))
}

// escape gives what an escape stands for and its length.
func escape(text string) (string, int) {
	switch text[1] {
	case '"', '\\', '/', '\'':
		return text[1:2], 2
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 't':
		return "\t", 2
	case 'u':
		if len(text) >= 6 {
			if n, err := strconv.ParseUint(text[2:6], 16, 16); err == nil && utf8.ValidRune(rune(n)) {
				return string(rune(n)), 6
			}
		}
	}
	return text[:1], 1
}
