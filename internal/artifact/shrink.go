package artifact

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/jsontext"
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
	storeWithMarker(text string) func(left, offset int) string
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
			end, _, closed := jsontext.ScanString(s.raw, i)
			if !closed {
				return false
			}
			i = end - 1
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

// end is behind the value that begins at i.
func (s *shrinker) end(i int) int {
	if end, ok := s.ends[i]; ok {
		return end
	}
	return jsontext.ValueEnd(s.raw, i)
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
			p.at = jsontext.StringEnd(s.raw, at) + 1
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
	text, _ := jsontext.Unquote(quoted)
	cut := cutHead
	if room >= 2*least {
		mark := s.strings.storeWithMarker(text)
		cut = func(text string, size int) string { return cutText(text, size, mark) }
	}
	for size := min(room-2, len(text)); size > 0; {
		out := jsontext.Quote(cut(text, size))
		if len(out) <= room {
			return out
		}
		size = min(size-1, size*room/len(out))
	}
	return []byte(`""`)
}
