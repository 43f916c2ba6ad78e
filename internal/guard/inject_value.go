package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// value makes every string and every key of a JSON text harmless and leaves
// the rest as it is, byte for byte. Where two keys would become one it is an error:
// readers would take one value or the other.
func (f *changes) value(text json.RawMessage) (json.RawMessage, error) {
	s := string(text)
	var out []byte
	last, keys := 0, false
	for i := 0; i < len(s); {
		open := strings.IndexByte(s[i:], '"')
		if open < 0 {
			break
		}
		open += i
		end, escapes, ok := stringEnd(s, open)
		if !ok {
			return nil, errors.New("the value is not JSON: a string has no end")
		}
		i = end
		now, changed, err := f.str(s[open:end], escapes)
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(s)+len(s)/8+32)
		}
		out = append(out, s[last:open]...)
		out = appendString(out, now)
		last = end
		keys = keys || strings.HasPrefix(strings.TrimLeft(s[end:], " \t\r\n"), ":")
	}
	if out == nil {
		return text, nil
	}
	out = append(out, s[last:]...)
	if keys {
		if err := uniqueKeys(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stringEnd finds the place behind the string that begins at open.
func stringEnd(s string, open int) (end int, escapes, ok bool) {
	for i := open + 1; i < len(s); {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return 0, false, false
		}
		back := strings.IndexByte(s[i:i+n], '\\')
		if back < 0 {
			return i + n + 1, escapes, true
		}
		escapes = true
		i += back + 2
	}
	return 0, false, false
}

// str makes one string, which is given with its quotes, harmless.
func (f *changes) str(quoted string, escapes bool) (now string, changed bool, err error) {
	text := quoted[1 : len(quoted)-1]
	if escapes {
		var ok bool
		if text, ok = unescaped(text); !ok {
			return "", false, errors.New("the value is not JSON: a string has an escape that means nothing")
		}
	}
	now = f.neutral(text)
	return now, now != text, nil
}

// unescaped is the text of a JSON string that has escapes. Half a surrogate
// becomes the sign for what cannot be read, as Go's own decoder has it.
func unescaped(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for {
		n := strings.IndexByte(s, '\\')
		if n < 0 {
			return string(append(out, s...)), true
		}
		if n+1 >= len(s) {
			return "", false
		}
		out = append(out, s[:n]...)
		at := strings.IndexByte(`"\/bfnrt`, s[n+1])
		if at >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[at])
			s = s[n+2:]
			continue
		}
		r, ok := escapedRune(s[n:])
		if !ok {
			return "", false
		}
		if s = s[n+6:]; utf16.IsSurrogate(r) {
			if low, ok := escapedRune(s); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				r, s = utf16.DecodeRune(r, low), s[6:]
			} else {
				r = utf8.RuneError
			}
		}
		out = utf8.AppendRune(out, r)
	}
}

// escapedRune reads \uXXXX.
func escapedRune(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// appendString writes a string as JSON. It has no control characters but those
// that stand between lines and words.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// uniqueKeys reports an object that has a key twice.
func uniqueKeys(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		keys  map[string]bool // nil: an array
		value bool            // a value comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the value is not JSON: %w", err)
		}
		top := len(open) - 1
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, level{keys: map[string]bool{}})
				continue
			case '[':
				open = append(open, level{})
				continue
			}
			open = open[:top]
		case string:
			if top >= 0 && open[top].keys != nil && !open[top].value {
				if open[top].keys[t] {
					return errors.New("two keys of an object cannot be told apart once hidden characters are written out")
				}
				open[top].keys[t], open[top].value = true, true
				continue
			}
		}
		if n := len(open); n > 0 {
			open[n-1].value = false
		}
	}
}
