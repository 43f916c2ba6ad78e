package schema

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// equal compares two values as JSON Schema does: numbers by value, objects whatever the order of their members.
func equal(d *Doc, i uint32, e *Doc, j uint32) bool {
	m, n := &d.nodes[i], &e.nodes[j]
	if m.kind != n.kind {
		return false
	}
	switch m.kind {
	case Bool:
		return m.flags == n.flags
	case String:
		return bytes.Equal(d.str(i), e.str(j))
	case Number:
		x, y := d.number(i), e.number(j)
		if x.short && y.short {
			return x.i == y.i
		}
		return x.decimal().compare(y.decimal()) == 0
	case Array:
		if m.b != n.b {
			return false
		}
		i, j := i+1, j+1
		for range m.b {
			if !equal(d, i, e, j) {
				return false
			}
			i, j = d.nodes[i].next, e.nodes[j].next
		}
	case Object:
		if m.b != n.b {
			return false
		}
		other := e.keys(j)
		for p, k := range d.keys(i) {
			if !bytes.Equal(d.str(k), e.str(other[p])) || !equal(d, k+1, e, other[p]+1) {
				return false
			}
		}
	}
	return true
}

// fewItems is up to where comparing every pair is cheaper than hashing.
const fewItems = 16

// duplicates finds two equal elements of an array, the earlier first, or gives -1.
func duplicates(d *Doc, array uint32) (int, int) {
	n := d.nodes[array].b
	if n < 2 {
		return -1, -1
	}
	if n <= fewItems {
		return fewDuplicates(d, array)
	}
	type item struct {
		hash uint64
		node uint32
		pos  int
	}
	var h maphash.Hash
	items := make([]item, 0, n)
	for pos, e := range (Node{d, array}).Elems() {
		h.Reset()
		hashNode(&h, d, e.i)
		items = append(items, item{h.Sum64(), e.i, pos})
	}
	slices.SortFunc(items, func(x, y item) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.pos, y.pos))
	})
	for j := 1; j < len(items); j++ {
		for k := j - 1; k >= 0 && items[k].hash == items[j].hash; k-- {
			if equal(d, items[k].node, d, items[j].node) {
				return items[k].pos, items[j].pos
			}
		}
	}
	return -1, -1
}

func fewDuplicates(d *Doc, array uint32) (int, int) {
	second := d.nodes[array+1].next
	for j := 1; j < int(d.nodes[array].b); j++ {
		first := array + 1
		for k := range j {
			if equal(d, first, d, second) {
				return k, j
			}
			first = d.nodes[first].next
		}
		second = d.nodes[second].next
	}
	return -1, -1
}

// hashNode writes a value so that equal values write the same. The hash has a random seed: nobody can prepare texts whose
// elements all collide.
func hashNode(h *maphash.Hash, d *Doc, i uint32) {
	n := &d.nodes[i]
	h.WriteByte(byte(n.kind))
	switch n.kind {
	case Bool:
		h.WriteByte(n.flags)
	case String:
		hashBytes(h, d.str(i))
	case Number:
		f := d.number(i)
		x := f.decimal()
		var buf [17]byte
		binary.LittleEndian.PutUint64(buf[:], uint64(x.top))
		binary.LittleEndian.PutUint64(buf[8:], uint64(x.n))
		if x.neg {
			buf[16] = 1
		}
		h.Write(buf[:])
		h.Write(x.ip)
		h.Write(x.fp)
	case Array:
		c := i + 1
		for range n.b {
			hashNode(h, d, c)
			c = d.nodes[c].next
		}
		h.WriteByte(0)
	case Object:
		for _, k := range d.keys(i) {
			hashBytes(h, d.str(k))
			hashNode(h, d, k+1)
		}
		h.WriteByte(0)
	}
}

func hashBytes(h *maphash.Hash, s []byte) {
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(len(s)))
	h.Write(size[:])
	h.Write(s)
}
