package schema

import (
	"bytes"
	"fmt"
	"math"
)

// Limits bound what [Parse] accepts.
type Limits struct {
	Bytes int // longest text; zero: no limit of its own
	Depth int // deepest nesting of arrays and objects; zero: 128, never more than 10,000
}

const (
	defaultDepth = 128
	maxDepth     = 10_000 // what walks a Doc recurses, so there is a bound that no caller can lift
)

// Parse reads one JSON text. It is as strict as RFC 8259 and also refuses what readers understand differently: duplicate
// keys in one object (after decoding), lone surrogates, invalid UTF-8. Its error is a *[SyntaxError].
//
// The Doc borrows text until it is released. Time and memory are linear in the text, up to the sorting of keys.
func Parse(text []byte, lim Limits) (*Doc, error) {
	if lim.Bytes > 0 && len(text) > lim.Bytes {
		return nil, &SyntaxError{Offset: lim.Bytes, Message: fmt.Sprintf("the JSON text is %d bytes long, the limit is %d", len(text), lim.Bytes)}
	}
	if uint64(len(text)) > math.MaxInt32 {
		return nil, &SyntaxError{Offset: math.MaxInt32, Message: "the JSON text is longer than 2 GiB"}
	}
	depth := lim.Depth
	if depth <= 0 {
		depth = defaultDepth
	}
	if text == nil {
		text = []byte{} // a nil text marks a released Doc
	}
	d := newDoc(text)
	if f := d.parse(min(depth, maxDepth)); f.msg != "" {
		err := newSyntaxError(text, f)
		d.Release()
		return nil, err
	}
	return d, nil
}

// fault is a SyntaxError before its line and column are known; an empty msg means none.
type fault struct {
	at  int
	msg string
}

// parse fills the tape. It keeps no stack of its own: an open container remembers its parent in next, so depth costs
// nothing but the node itself.
func (d *Doc) parse(limit int) fault {
	text := d.text
	i, depth, open := d.space(0), 0, none
	if i == len(text) {
		return fault{i, "the text is empty, expected a JSON value"}
	}
	for {
		var f fault
		c := byte(0)
		if i < len(text) {
			c = text[i]
		}
		switch {
		case c == '"':
			i, f = d.scanString(i)
		case c == '{' || c == '[':
			if depth == limit {
				return fault{i, fmt.Sprintf("nested deeper than %d levels", limit)}
			}
			depth++
			kind, closer := Object, byte('}')
			if c == '[' {
				kind, closer = Array, ']'
			}
			d.nodes = append(d.nodes, node{kind: kind, start: uint32(i), next: open, a: none})
			open = uint32(len(d.nodes) - 1)
			i = d.space(i + 1)
			if i < len(text) && text[i] == closer {
				break // closed below, as any other
			}
			if kind == Object {
				if i, f = d.scanKey(i, open); f.msg != "" {
					return f
				}
			} else {
				d.nodes[open].b = 1
			}
			continue
		case c == '-' || (c >= '0' && c <= '9'):
			i, f = d.scanNumber(i)
		default:
			i, f = d.scanWord(i)
		}
		if f.msg != "" {
			return f
		}
		for {
			i = d.space(i)
			if open == none {
				if i < len(text) {
					return d.trailing(i)
				}
				return fault{}
			}
			if i == len(text) {
				return d.unclosed(open)
			}
			o := &d.nodes[open]
			c := text[i]
			if c == ',' {
				at := i
				i = d.space(i + 1)
				if i < len(text) && (text[i] == ']' || text[i] == '}') {
					return fault{at, fmt.Sprintf("a comma before the closing %q is not allowed in JSON", text[i])}
				}
				if o.kind == Array {
					o.b++
					break
				}
				if i, f = d.scanKey(i, open); f.msg != "" {
					return f
				}
				break
			}
			if (o.kind == Object && c != '}') || (o.kind == Array && c != ']') {
				return d.unexpectedIn(open, i)
			}
			i++
			o.end = uint32(i)
			parent := o.next
			o.next = uint32(len(d.nodes))
			if o.kind == Object {
				if f := d.arrange(open); f.msg != "" {
					return f
				}
			}
			open = parent
			depth--
		}
	}
}

// space skips white space.
func (d *Doc) space(i int) int {
	if i >= len(d.text) || d.text[i] > ' ' {
		return i
	}
	from := i
	for i < len(d.text) {
		switch d.text[i] {
		case ' ', '\n', '\t', '\r':
			i++
			continue
		}
		break
	}
	d.tight = d.tight && i == from
	return i
}

// scanKey reads a key and its colon, and notes whether the keys so far stand in order.
func (d *Doc) scanKey(i int, object uint32) (int, fault) {
	if i >= len(d.text) {
		return i, d.unclosed(object)
	}
	if d.text[i] != '"' {
		return i, d.badKey(i)
	}
	end, f := d.scanString(i)
	if f.msg != "" {
		return i, f
	}
	k := uint32(len(d.nodes) - 1)
	o := &d.nodes[object]
	if o.a != none {
		switch c := bytes.Compare(d.str(o.a), d.str(k)); {
		case c == 0:
			return i, d.duplicate(k)
		case c > 0:
			o.flags |= flagUnsorted
			d.sorted = false
		}
	}
	o.a = k
	o.b++
	if end = d.space(end); end >= len(d.text) {
		return end, d.unclosed(object)
	}
	if d.text[end] != ':' {
		return end, fault{end, fmt.Sprintf("expected ':' after the key %s, found %s", quoted(d.str(k)), d.char(end))}
	}
	return d.space(end + 1), fault{}
}
