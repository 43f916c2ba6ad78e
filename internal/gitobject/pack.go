package gitobject

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// pack is a file with many objects, of which some say only how they differ from
// others of the same pack.
type pack struct {
	file   File
	index  *packIndex
	budget *Budget
	held   *heldObjects
}

// heldObjects are those of all packs that were read last: many others may be
// differences from them.
type heldObjects struct {
	list  map[heldPlace]Object
	bytes int64 // of these
}

type heldPlace struct {
	pack *pack
	at   int64
}

// The numbers of objects that are stored as a difference.
const (
	offsetDelta = 6
	nameDelta   = 7
)

const (
	packHead  = 12
	maxChain  = 4096     // differences from differences
	maxHeld   = 32 << 20 // bytes of objects that are remembered
	maxDeltas = 64 << 20 // bytes of the differences of one chain
)

func openPack(dir Dir, stem string, budget *Budget, held *heldObjects) (*pack, error) {
	file, err := dir.Open("objects/pack/" + stem + ".pack")
	if err != nil {
		return nil, err
	}
	at, err := dir.Open("objects/pack/" + stem + ".idx")
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	index, err := openIndex(at)
	if err != nil {
		return nil, errors.Join(err, file.Close(), at.Close())
	}
	p := &pack{file: file, index: index, budget: budget, held: held}
	head := make([]byte, packHead)
	if n, _ := file.ReadAt(head, 0); n < packHead || !bytes.HasPrefix(head, []byte("PACK\x00\x00\x00\x02")) || binary.BigEndian.Uint32(head[8:]) != index.count {
		return nil, errors.Join(ErrOdd, p.close())
	}
	return p, nil
}

func (p *pack) close() error { return errors.Join(p.file.Close(), p.index.file.Close()) }

func (p *pack) find(id ID) (int64, bool, error) { return p.index.find(id) }

// packed is an entry of a pack before it is unpacked.
type packed struct {
	kind Kind  // or the number of a difference
	size int64 // unpacked
	base int64 // where the object lies that it is a difference from
	data *bufio.Reader
}

// entry reads the head of what lies at a place.
func (p *pack) entry(at int64) (packed, error) {
	end := p.file.Size() - idSize
	if at < packHead || at >= end {
		return packed{}, ErrOdd
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p.file, at, end-at), 4096)
	e := packed{data: r}
	b, err := r.ReadByte()
	if err != nil {
		return e, ErrOdd
	}
	e.kind, e.size = Kind(b>>4&7), int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = r.ReadByte(); err != nil || shift > 50 {
			return e, ErrOdd
		}
		e.size |= int64(b&0x7f) << shift
	}
	switch e.kind {
	case Commit, Tree, Blob, Tag:
		return e, nil
	case offsetDelta:
		back, ok := offsetBack(r)
		if e.base = at - back; !ok || back <= 0 || e.base < packHead {
			return e, ErrOdd
		}
		return e, nil
	case nameDelta:
		var id ID
		if _, err := io.ReadFull(r, id[:]); err != nil {
			return e, ErrOdd
		}
		found := false
		if e.base, found, err = p.find(id); err != nil || !found {
			return e, errors.Join(ErrOdd, err)
		}
		return e, nil
	}
	return e, ErrOdd
}

// offsetBack reads how far before an entry its base lies, the highest bits first.
func offsetBack(r io.ByteReader) (int64, bool) {
	var n int64
	for range 9 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, false
		}
		n |= int64(b & 0x7f)
		if b&0x80 == 0 {
			return n, true
		}
		n = (n + 1) << 7
	}
	return 0, false
}

// unpack gives the bytes of an entry.
func (p *pack) unpack(e packed) ([]byte, error) {
	if err := p.budget.spend(e.size); err != nil {
		return nil, err
	}
	z, err := zlib.NewReader(e.data)
	if err != nil {
		return nil, ErrOdd
	}
	defer z.Close() //nolint:errcheck // it was only read
	data, err := readExactly(z, e.size)
	if err != nil {
		return nil, err
	}
	var one [1]byte
	if n, err := z.Read(one[:]); n != 0 || !errors.Is(err, io.EOF) {
		return nil, ErrOdd
	}
	return data, nil
}

// object gives what lies at a place.
func (p *pack) object(at, most int64) (Object, error) {
	var deltas [][]byte
	var places []int64
	room := int64(maxDeltas)
	for {
		if o, held := p.held.list[heldPlace{p, at}]; held {
			return p.build(o, deltas, places, most)
		}
		e, err := p.entry(at)
		if err != nil {
			return Object{}, err
		}
		if e.size > maxObject || len(deltas) == 0 && e.kind <= Tag && e.size > most {
			return Object{}, ErrTooMuch
		}
		data, err := p.unpack(e)
		if err != nil {
			return Object{}, err
		}
		if e.kind <= Tag {
			o := Object{Kind: e.kind, Data: data}
			p.hold(at, o)
			return p.build(o, deltas, places, most)
		}
		if room -= int64(len(data)); room < 0 || len(deltas) >= maxChain {
			return Object{}, ErrTooMuch
		}
		deltas, places = append(deltas, data), append(places, at)
		at = e.base
	}
}

// build applies differences, the last one first.
func (p *pack) build(o Object, deltas [][]byte, places []int64, most int64) (Object, error) {
	for i, delta := range slices.Backward(deltas) {
		data, err := applyDelta(o.Data, delta, maxObject)
		if err != nil {
			return Object{}, err
		}
		if err := p.budget.spend(int64(len(data))); err != nil {
			return Object{}, err
		}
		o.Data = data
		p.hold(places[i], o)
	}
	if int64(len(o.Data)) > most {
		return Object{}, ErrTooMuch
	}
	return o, nil
}

// hold remembers an object.
func (p *pack) hold(at int64, o Object) {
	size := int64(len(o.Data))
	if size > maxHeld/4 {
		return
	}
	if p.held.list == nil || p.held.bytes+size > maxHeld {
		p.held.list, p.held.bytes = map[heldPlace]Object{}, 0
	}
	p.held.list[heldPlace{p, at}] = o
	p.held.bytes += size
}
