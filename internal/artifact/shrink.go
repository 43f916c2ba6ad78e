package artifact

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// shrinker makes JSON smaller without changing its shape: strings are cut,
// lists and then objects lose their last parts, everything else stays. It works
// on the text, so that numbers and the order of keys stay as they are.
type shrinker struct {
	raw     string // compact
	ends    map[int]int
	out     []byte
	dropped int // how many lists and objects have lost parts
	strings keeper
}

// keeper keeps a string that will be cut and gives the marker for the cut.
type keeper interface {
	kept(text string) func(left, offset int) string
}

const (
	// small is what is always looked through again instead of remembered.
	small = 1024
	// least is what a part gets at least, or all of itself: below that the part
	// is left out.
	least = 256
)

// newShrinker takes JSON without blanks; nil if there are some, or it is none.
// A mistake within values may pass: the crib looks at what comes out.
func newShrinker(compact string, k keeper) *shrinker {
	s := &shrinker{raw: compact, ends: map[int]int{}, strings: k}
	if !s.measure() {
		return nil
	}
	return s
}

// measure finds where each large list and object ends, in one pass: to look
// for it again at every level would take their depth times as long.
func (s *shrinker) measure() bool {
	var open []int
	for i := 0; i < len(s.raw); i++ {
		switch s.raw[i] {
		case '"':
			end := closing(s.raw, i)
			if end < 0 {
				return false
			}
			i = end
		case '[', '{':
			open = append(open, i)
		case ']', '}':
			if len(open) == 0 {
				return false
			}
			at := open[len(open)-1]
			open = open[:len(open)-1]
			if i+1-at >= small {
				s.ends[at] = i + 1
			}
		case ' ', '\t', '\n', '\r':
			return false
		}
	}
	return len(open) == 0 && s.raw != ""
}

// closing finds the quote that ends the string beginning at i.
func closing(raw string, i int) int {
	for i++; i < len(raw); i++ {
		n := strings.IndexByte(raw[i:], '"')
		if n < 0 {
			return -1
		}
		slashes := 0
		for i+n-1-slashes >= i && raw[i+n-1-slashes] == '\\' {
			slashes++
		}
		if i += n; slashes%2 == 0 {
			return i
		}
	}
	return -1
}

// stringEnd is behind the string that begins at i.
func (s *shrinker) stringEnd(i int) int { return closing(s.raw, i) + 1 }

// end is behind the value that begins at i.
func (s *shrinker) end(i int) int {
	switch s.raw[i] {
	case '"':
		return s.stringEnd(i)
	case '[', '{':
		if end, ok := s.ends[i]; ok {
			return end
		}
		depth := 0
		for ; ; i++ {
			switch s.raw[i] {
			case '"':
				i = s.stringEnd(i) - 1
			case '[', '{':
				depth++
			case ']', '}':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	if n := strings.IndexAny(s.raw[i:min(len(s.raw), i+64)], ",]}"); n >= 0 {
		return i + n
	}
	if n := strings.IndexAny(s.raw[i:], ",]}"); n >= 0 {
		return i + n
	}
	return len(s.raw)
}

// shrink gives the value in at most size bytes; nil if that cannot be.
func (s *shrinker) shrink(size int) json.RawMessage {
	s.write(0, len(s.raw), size)
	if len(s.out) > size {
		return nil
	}
	return s.out
}

// write appends the value in [i, j), in at most room bytes.
func (s *shrinker) write(i, j, room int) {
	if j-i <= room {
		s.out = append(s.out, s.raw[i:j]...)
		return
	}
	switch s.raw[i] {
	case '"':
		s.out = append(s.out, s.string(s.raw[i:j], room)...)
	case '[', '{':
		s.parts(i, j, room)
	default: // a number with hundreds of digits
		s.dropped++
		s.out = append(s.out, "null"...)
	}
}

// part is an element, or a member with its key before at.
type part struct{ start, at, end int }

// parts appends a list or an object: the first parts that have room, each with
// an equal share of what there is; what needs less leaves it to the others.
func (s *shrinker) parts(i, j, room int) {
	object := s.raw[i] == '{'
	floor := least
	if !object { // rather fewer elements that are whole
		floor = max(least, room/4)
	}
	var list []part
	var needs []int
	used, heads := 2, 2
	at := i + 1
	for at < j-1 {
		p := part{start: at, at: at}
		if object {
			p.at = s.stringEnd(at) + 1
		}
		p.end = s.end(p.at)
		need := p.end - p.at
		head := p.at - p.start + 1 // with its comma
		if used+head+min(need, floor) > room {
			break
		}
		used += head + min(need, floor)
		heads += head
		list, needs = append(list, p), append(needs, need)
		at = p.end + 1
	}
	if at < j-1 {
		s.dropped++
	}
	level := waterLevel(needs, room-heads)
	s.out = append(s.out, s.raw[i])
	for n, p := range list {
		if n > 0 {
			s.out = append(s.out, ',')
		}
		s.out = append(s.out, s.raw[p.start:p.at]...)
		s.write(p.at, p.end, level)
	}
	s.out = append(s.out, s.raw[j-1])
}

// string cuts a string so that it has room as JSON, where some letters take
// more than one byte. In little room it does not say where the rest is.
func (s *shrinker) string(quoted string, room int) []byte {
	text := unquote(quoted)
	cut := cutHead
	if room >= 2*least {
		mark := s.strings.kept(text)
		cut = func(text string, size int) string { return cutText(text, size, mark) }
	}
	for size := min(room-2, len(text)); size > 0; {
		out := quote(cut(text, size))
		if len(out) <= room {
			return out
		}
		size = min(size-1, size*room/len(out))
	}
	return []byte(`""`)
}

// unquote reads a JSON string. It does what encoding/json does, in one pass:
// strings of megabytes come by here.
func unquote(quoted string) string {
	rest := strings.TrimSuffix(strings.TrimPrefix(quoted, `"`), `"`)
	var out strings.Builder
	out.Grow(len(rest))
	for {
		n := strings.IndexByte(rest, '\\')
		if n < 0 || n+1 >= len(rest) {
			out.WriteString(rest)
			return strings.ToValidUTF8(out.String(), "\uFFFD")
		}
		out.WriteString(rest[:n])
		rest = rest[n+1:]
		switch c := rest[0]; c {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			r, size := unescape(rest)
			out.WriteRune(r)
			rest = rest[size:]
			continue
		default:
			out.WriteByte(c)
		}
		rest = rest[1:]
	}
}

// unescape reads uXXXX, and a second one behind it that makes a letter with it.
func unescape(rest string) (letter rune, size int) {
	hex4 := func(s string) rune {
		if len(s) < 5 || s[0] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(s[1:5], 16, 32)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	letter = hex4(rest)
	if letter < 0 {
		return utf8.RuneError, 1
	}
	if utf16.IsSurrogate(letter) {
		if len(rest) > 6 && rest[5] == '\\' {
			if both := utf16.DecodeRune(letter, hex4(rest[6:])); both != utf8.RuneError {
				return both, 11
			}
		}
		return utf8.RuneError, 5
	}
	return letter, 5
}

// quote writes a JSON string.
func quote(text string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return []byte(`""`) // a string always encodes
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
