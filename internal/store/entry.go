package store

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
)

// kind says what an entry tells.
type kind int64

const (
	kindBegin       kind = 1 // a call starts
	kindEnd         kind = 2 // it is over
	kindInterrupted kind = 3 // its process died; the effect is unknown
	kindKey         kind = 4 // this key signs for the journal
	kindPrune       kind = 5 // older entries were removed
	kindDisown      kind = 6 // entries before it are not the journal's
)

func (k kind) String() string {
	names := [...]string{"", "begin", "end", "interrupted", "key", "prune", "disown"}
	if k < kindBegin || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int64(k))
	}
	return names[k]
}

// closes reports whether an entry of this kind ends a call.
func (k kind) closes() bool { return k == kindEnd || k == kindInterrupted }

// sum is the hash of an entry.
type sum [sha256.Size]byte

// head is the newest entry, or any other point of the chain.
type head struct {
	seq  uint64
	hash sum
}

// entry is one row. Every field but hash and seal is covered by hash, and every
// field, hash included, by seal.
type entry struct {
	seq      uint64
	kind     kind
	at       int64 // nanoseconds since 1970
	ref      uint64
	duration int64

	call, subject, session, tool, box, outcome, run string

	body []byte // JSON
	hash sum
	seal []byte // empty: there were no seals yet
}

// columns are the columns of an entry in the order of scan and bind.
const columns = `seq, kind, at, ref, duration, call, subject, session, tool, box, outcome, run, hash, body, seal`

const columnCount = 15

// Where the numbers stand in the hashed text of an entry. They come first and
// have a fixed size, so that seq and ref, which are known last, can be put in
// after the rest was written.
const (
	hashedSeq = sha256.Size
	hashedRef = hashedSeq + 3*8
)

// appendHashed writes what the hash covers: the hash before, the numbers, and
// each text behind its length.
func (e *entry) appendHashed(b []byte, prev *sum) []byte {
	b = append(b, prev[:]...)
	for _, n := range [...]uint64{e.seq, uint64(e.kind), uint64(e.at), e.ref, uint64(e.duration)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	for _, s := range [...]string{e.call, e.subject, e.session, e.tool, e.box, e.outcome, e.run} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.body)))
	return append(b, e.body...)
}

// sumAfter is the hash the entry must have behind prev. It uses scratch.
func (e *entry) sumAfter(prev *sum, scratch *[]byte) sum {
	*scratch = e.appendHashed((*scratch)[:0], prev)
	return sha256.Sum256(*scratch)
}

// scan reads an entry from a row of columns. A value of a type that the
// journal never writes is an error: somebody else wrote it.
func (e *entry) scan(v []driver.Value) error {
	var seq, ref int64
	numbers := [...]*int64{&seq, (*int64)(&e.kind), &e.at, &ref, &e.duration}
	texts := [...]*string{&e.call, &e.subject, &e.session, &e.tool, &e.box, &e.outcome, &e.run}
	ok := len(v) == columnCount
	for i := 0; ok && i < len(numbers); i++ {
		*numbers[i], ok = v[i].(int64)
	}
	e.seq, e.ref = uint64(seq), uint64(ref)
	for i := 0; ok && i < len(texts); i++ {
		*texts[i], ok = v[len(numbers)+i].(string)
	}
	if !ok {
		return fmt.Errorf("entry %d has a column of a foreign type", e.seq)
	}
	hash, ok := v[12].([]byte)
	if !ok || len(hash) != len(e.hash) {
		return fmt.Errorf("entry %d has no hash", e.seq)
	}
	copy(e.hash[:], hash)
	if e.body, ok = v[13].([]byte); !ok {
		return fmt.Errorf("entry %d has no body", e.seq)
	}
	if e.seal, ok = v[14].([]byte); !ok {
		return fmt.Errorf("entry %d has a seal of a foreign type", e.seq)
	}
	return nil
}
