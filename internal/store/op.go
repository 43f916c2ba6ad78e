package store

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"time"

	"github.com/toolcrib/toolcrib"
)

// op is an entry on its way into the database. Whoever asks for it prepares
// as much as possible, since the writing itself is one at a time. Ops and
// their buffers are used again.
type op struct {
	entry
	bodyWriter
	hashed []byte
	args   [columnCount]driver.NamedValue
	mark   [sealSize]byte // the seal
	done   chan struct{}  // one signal when the op was written or refused

	// What became of it.
	old bool // there was such an entry already; nothing was written
	err error
}

func newOp() *op {
	o := &op{done: make(chan struct{}, 1)}
	for i := range o.args {
		o.args[i].Ordinal = i + 1
	}
	o.args[12].Value, o.args[14].Value = o.hash[:], o.mark[:] // they stay where they are
	return o
}

func (o *op) begin(r *toolcrib.Record, run string) error {
	if err := beginEntry(&o.entry, r, &o.bodyWriter); err != nil {
		return err
	}
	o.ready(run)
	return nil
}

func (o *op) end(r *toolcrib.Record, at time.Time, run string) error {
	if err := endEntry(&o.entry, r, at, &o.bodyWriter); err != nil {
		return err
	}
	o.ready(run)
	return nil
}

// ready prepares what does not depend on the place in the chain.
func (o *op) ready(run string) {
	o.run, o.old, o.err = run, false, nil
	o.hashed = o.appendHashed(o.hashed[:0], &sum{})
	o.args[1].Value, o.args[2].Value, o.args[4].Value = int64(o.kind), o.at, o.duration
	for i, s := range [...]string{o.call, o.subject, o.session, o.tool, o.box, o.outcome, o.run} {
		o.args[5+i].Value = s
	}
	o.args[13].Value = o.body
}

// place gives the op its place in the chain, behind h, and its seal.
func (o *op) place(h head, s *sealer) {
	o.seq = h.seq + 1
	copy(o.hashed, h.hash[:])
	binary.BigEndian.PutUint64(o.hashed[hashedSeq:], o.seq)
	binary.BigEndian.PutUint64(o.hashed[hashedRef:], o.ref)
	o.hash = sha256.Sum256(o.hashed)
	copy(o.hashed, o.hash[:])
	copy(o.mark[:], s.sealOf(o.hashed))
	o.args[0].Value, o.args[3].Value = int64(o.seq), int64(o.ref)
}

// callKey names a call.
type callKey struct{ subject, call string }

func (e *entry) key() callKey { return callKey{e.subject, e.call} }
