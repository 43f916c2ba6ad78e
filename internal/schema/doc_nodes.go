package schema

import (
	"bytes"
	"iter"
	"sync"
)

// Kind says what a node is. The zero Kind is no valid kind.
type Kind uint8

// The kinds of JSON values. Integers are numbers.
const (
	Null Kind = iota + 1
	Bool
	Number
	String
	Array
	Object
)

// String names the kind as JSON Schema does.
func (k Kind) String() string {
	names := [...]string{"invalid", "null", "boolean", "number", "string", "array", "object"}
	if int(k) >= len(names) {
		k = 0
	}
	return names[k]
}

// The flags of a node; which of them mean something depends on the kind.
const (
	flagEscaped  uint8 = 1 << iota // String: the text has escapes, the decoded form is in Doc.dec
	flagTrue                       // Bool: true
	flagInt                        // Number: the literal has neither point nor exponent
	flagUnsorted                   // Object: the keys do not stand in order in the text
)

// node is one value, or one key, of a document. A container is followed by its children: the elements of an array, or
// key, value, key, value… of an object.
type node struct {
	kind  Kind
	flags uint8
	start uint32 // the value's span in the text, quotes and brackets included
	end   uint32
	next  uint32 // the index after the last descendant; while a container is open, its parent
	a     uint32 // String: the decoded span; Object: where its keys stand in Doc.order (last key while open)
	b     uint32 // String: end of the decoded span; Array, Object: number of children
}

// none stands for "no node".
const none = ^uint32(0)

// Doc is a strictly parsed JSON text, kept as a flat tape of nodes over that text. It borrows the text: whoever called
// [Parse] must leave the bytes alone until Release. A Doc may be read by several goroutines at once.
type Doc struct {
	text  []byte
	nodes []node
	dec   []byte   // the decoded form of every string that has escapes
	order []uint32 // for each object its key nodes, sorted by decoded key

	sorted bool // every object stands in the text in sorted order
	wholes bool // some number is, or may be, a whole one written with a point or exponent
	tight  bool // no white space between tokens, no escapes: with sorted, the text is canonical as it is
}

// pools hold scratch memory between calls. They carry no meaning from one call to the next, so they are no state in the
// sense of the house rule: emptying them at any moment changes nothing but speed.
var pools struct {
	docs    sync.Pool
	writers sync.Pool
}

// keptNodes bounds what a released Doc may hold on to, so that one huge document does not stay in memory for good.
const keptNodes = 1 << 14

func newDoc(text []byte) *Doc {
	d, ok := pools.docs.Get().(*Doc)
	if !ok {
		d = &Doc{nodes: make([]node, 0, 64), order: make([]uint32, 0, 32)}
	}
	d.text = text
	d.sorted, d.tight, d.wholes = true, true, false
	return d
}

// Release gives the memory of d back. Using d, a Node of it, or bytes that came from either is a bug afterwards.
func (d *Doc) Release() {
	if d == nil || d.text == nil {
		return
	}
	d.text = nil
	if cap(d.nodes) > keptNodes || cap(d.dec) > 16*keptNodes {
		return
	}
	d.nodes, d.dec, d.order = d.nodes[:0], d.dec[:0], d.order[:0]
	pools.docs.Put(d)
}

// keep makes d independent of the caller's text and of the pool, in as little memory as it needs.
func (d *Doc) keep() *Doc {
	return &Doc{
		text:   bytes.Clone(d.text),
		nodes:  append([]node(nil), d.nodes...),
		dec:    bytes.Clone(d.dec),
		order:  append([]uint32(nil), d.order...),
		sorted: d.sorted,
		tight:  d.tight,
		wholes: d.wholes,
	}
}

// Strings walks every string of the document, keys and values alike, decoded, in no order that means anything.
func (d *Doc) Strings() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range d.nodes {
			if d.nodes[i].kind == String && !yield(d.str(uint32(i))) {
				return
			}
		}
	}
}

// Keys walks every key of every object of the document, decoded.
func (d *Doc) Keys() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, k := range d.order {
			if !yield(d.str(k)) {
				return
			}
		}
	}
}

// Root gives the outermost value.
func (d *Doc) Root() Node { return Node{d, 0} }

// Kind says what the outermost value is.
func (d *Doc) Kind() Kind { return d.nodes[0].kind }

// str gives the decoded bytes of a string or key.
func (d *Doc) str(i uint32) []byte {
	n := &d.nodes[i]
	if n.flags&flagEscaped != 0 {
		return d.dec[n.a:n.b]
	}
	return d.text[n.a:n.b]
}

func (d *Doc) raw(i uint32) []byte {
	n := &d.nodes[i]
	return d.text[n.start:n.end]
}

// keys gives the key nodes of an object, sorted; the value of key node k is node k+1.
func (d *Doc) keys(i uint32) []uint32 {
	n := &d.nodes[i]
	return d.order[n.a : n.a+n.b]
}

// member finds the value of a key in an object.
func (d *Doc) member(i uint32, name []byte) (uint32, bool) {
	keys := d.keys(i)
	lo, hi := 0, len(keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(d.str(keys[mid]), name); {
		case c == 0:
			return keys[mid] + 1, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// Node is one value of a Doc, as light as a pointer.
type Node struct {
	d *Doc
	i uint32
}

// Kind says what the value is.
func (n Node) Kind() Kind { return n.d.nodes[n.i].kind }

// Raw gives the value as it stands in the text.
func (n Node) Raw() []byte { return n.d.raw(n.i) }

// Str gives the decoded bytes of a string, nil for any other kind.
func (n Node) Str() []byte {
	if n.Kind() != String {
		return nil
	}
	return n.d.str(n.i)
}

// True says whether the value is true.
func (n Node) True() bool { return n.Kind() == Bool && n.d.nodes[n.i].flags&flagTrue != 0 }

// Len counts the elements of an array or the members of an object; it is 0 for any other kind.
func (n Node) Len() int {
	if k := n.Kind(); k != Array && k != Object {
		return 0
	}
	return int(n.d.nodes[n.i].b)
}

// Members walks the members of an object in canonical order, key first. Any other kind has none.
func (n Node) Members() iter.Seq2[[]byte, Node] {
	return func(yield func([]byte, Node) bool) {
		if n.Kind() != Object {
			return
		}
		for _, k := range n.d.keys(n.i) {
			if !yield(n.d.str(k), Node{n.d, k + 1}) {
				return
			}
		}
	}
}

// Member finds a member of an object by its key.
func (n Node) Member(key string) (Node, bool) {
	if n.Kind() != Object {
		return Node{}, false
	}
	i, ok := n.d.member(n.i, []byte(key))
	return Node{n.d, i}, ok
}

// Elems walks the elements of an array. Any other kind has none.
func (n Node) Elems() iter.Seq2[int, Node] {
	return func(yield func(int, Node) bool) {
		if n.Kind() != Array {
			return
		}
		c := n.i + 1
		for k := range n.Len() {
			if !yield(k, Node{n.d, c}) {
				return
			}
			c = n.d.nodes[c].next
		}
	}
}

// AppendCanonical appends the canonical form of the value, see [Doc.AppendCanonical].
func (n Node) AppendCanonical(dst []byte) []byte { return n.d.appendNode(dst, n.i) }
