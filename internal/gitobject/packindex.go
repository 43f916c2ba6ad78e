package gitobject

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// packIndex is the index of a pack, in the version that git has written since 2008:
// a header, how many names begin with each byte or a smaller one, the names in their
// order, checksums, offsets, further offsets of large packs, and two hashes.
type packIndex struct {
	file  File
	count uint32
	large int64 // how many offsets do not fit into 31 bits
	fan   [256]uint32
}

const (
	indexHead  = 8
	fanSize    = 256 * 4
	namesStart = indexHead + fanSize
	idSize     = int64(len(ID{}))
)

func openIndex(f File) (*packIndex, error) {
	head := make([]byte, namesStart)
	if n, _ := f.ReadAt(head, 0); n < len(head) || !bytes.HasPrefix(head, []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, ErrOdd
	}
	x := &packIndex{file: f}
	for i := range x.fan {
		x.fan[i] = binary.BigEndian.Uint32(head[indexHead+4*i:])
		if x.fan[i] < x.count {
			return nil, ErrOdd
		}
		x.count = x.fan[i]
	}
	rest := f.Size() - namesStart - int64(x.count)*(idSize+4+4) - 2*idSize
	if rest < 0 || rest%8 != 0 {
		return nil, ErrOdd
	}
	x.large = rest / 8
	return x, nil
}

// name gives the object at a place in the order.
func (x *packIndex) name(i uint32) (id ID, err error) {
	if n, _ := x.file.ReadAt(id[:], namesStart+int64(i)*idSize); n < len(id) {
		return id, ErrOdd
	}
	return id, nil
}

// offset gives where in the pack the object at a place in the order begins.
func (x *packIndex) offset(i uint32) (int64, error) {
	var buf [8]byte
	at := namesStart + int64(x.count)*(idSize+4)
	if n, _ := x.file.ReadAt(buf[:4], at+4*int64(i)); n < 4 {
		return 0, ErrOdd
	}
	offset := binary.BigEndian.Uint32(buf[:4])
	if offset>>31 == 0 {
		return int64(offset), nil
	}
	far := int64(offset & (1<<31 - 1))
	if far >= x.large {
		return 0, ErrOdd
	}
	if n, _ := x.file.ReadAt(buf[:], at+4*int64(x.count)+8*far); n < 8 {
		return 0, ErrOdd
	}
	long := binary.BigEndian.Uint64(buf[:])
	if long>>63 != 0 {
		return 0, ErrOdd
	}
	return int64(long), nil
}

// find looks an object up.
func (x *packIndex) find(id ID) (offset int64, found bool, err error) {
	from := uint32(0)
	if id[0] > 0 {
		from = x.fan[id[0]-1]
	}
	n := int(x.fan[id[0]] - from)
	i := sort.Search(n, func(i int) bool {
		name, lookErr := x.name(from + uint32(i))
		if lookErr != nil {
			err = lookErr
			return true
		}
		return bytes.Compare(name[:], id[:]) >= 0
	})
	if err != nil || i == n {
		return 0, false, err
	}
	name, err := x.name(from + uint32(i))
	if err != nil || name != id {
		return 0, false, err
	}
	offset, err = x.offset(from + uint32(i))
	return offset, err == nil, err
}
