package schema

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// keyRef is a key on its way into order. Most comparisons end at the first eight bytes, which lie here side by side.
type keyRef struct {
	head uint64
	key  uint32
}

// fewKeys is how many keys are sorted by insertion on the stack: nearly every object of a tool call.
const fewKeys = 24

// arrange lists the keys of a closed object in sorted order and finds duplicates on the way: equal keys end up side by
// side. One sort serves the duplicate check, the canonical form and every lookup.
func (d *Doc) arrange(object uint32) fault {
	o := &d.nodes[object]
	from := len(d.order)
	o.a = uint32(from)
	k := object + 1
	if o.flags&flagUnsorted == 0 {
		for range o.b {
			d.order = append(d.order, k)
			k = d.nodes[k+1].next
		}
		return fault{}
	}
	var few [fewKeys]keyRef
	refs := few[:0]
	if o.b > fewKeys {
		refs = make([]keyRef, 0, o.b)
	}
	for range o.b {
		refs = append(refs, keyRef{d.head(k), k})
		k = d.nodes[k+1].next
	}
	if len(refs) <= fewKeys {
		d.insertionSort(refs)
	} else {
		slices.SortFunc(refs, func(x, y keyRef) int { return d.compareKeys(x, y) })
	}
	for j, r := range refs {
		if j > 0 && d.compareKeys(refs[j-1], r) == 0 {
			return d.duplicate(max(refs[j-1].key, r.key))
		}
		d.order = append(d.order, r.key)
	}
	return fault{}
}

func (d *Doc) insertionSort(refs []keyRef) {
	for j := 1; j < len(refs); j++ {
		r := refs[j]
		at := j
		for at > 0 && d.compareKeys(r, refs[at-1]) < 0 {
			refs[at] = refs[at-1]
			at--
		}
		refs[at] = r
	}
}

func (d *Doc) compareKeys(x, y keyRef) int {
	switch {
	case x.head < y.head:
		return -1
	case x.head > y.head:
		return 1
	}
	return bytes.Compare(d.str(x.key), d.str(y.key))
}

// head packs the first eight bytes of a key so that comparing the numbers compares the bytes; short keys are padded with
// zeros, and a tie is broken by the full keys.
func (d *Doc) head(k uint32) uint64 {
	n := &d.nodes[k]
	from := d.text[n.a:]
	if n.flags&flagEscaped != 0 {
		from = d.dec[n.a:]
	}
	size := n.b - n.a
	if len(from) >= 8 {
		h := binary.BigEndian.Uint64(from)
		if size < 8 {
			h &^= ^uint64(0) >> (8 * size)
		}
		return h
	}
	h := uint64(0)
	for j, c := range from[:size] {
		h |= uint64(c) << (56 - 8*j)
	}
	return h
}
