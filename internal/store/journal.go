package store

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/seal"
)

var _ toolcrib.Journal = (*Journal)(nil)

// Journal is a journal open for writing. All its methods may be used by many
// goroutines at once.
type Journal struct {
	*Reader
	cfg   Config
	drv   Driver
	key   ed25519.PrivateKey
	seal  sealKey
	names *seal.Digest // of texts
	run   string
	lock  *fileLock
	queue *queue
	ops   sync.Pool // of *op

	mu    sync.Mutex // guards all below, and the writing connection
	w     *writer
	open  map[callKey]uint64 // calls of this run without an end, and their begins
	spill *spill             // ends that the database did not take
	since int                // entries since the last look at the retention

	degraded  atomic.Bool
	openCalls atomic.Int64  // how many calls are open, for the queue
	dirty     chan struct{} // the head moved
	stop      context.CancelFunc
	stopped   chan struct{}
	closing   sync.Once
	closed    error
}

// Begin writes that a call starts, and returns when that is committed. It sets
// r.Seq, and r.Start if that is zero. If the subject used this call ID before
// it writes nothing and gives the old record.
//
// If ctx ends while the entry waits for its turn, Begin gives ctx.Err() and the
// entry is certainly not written. Once it is being written Begin waits for the
// commit, whatever ctx says.
func (j *Journal) Begin(ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.Start.IsZero() {
		r.Start = j.cfg.Now()
	}
	o := j.newOp()
	defer j.keepOp(o)
	if err := o.begin(r, j.run); err != nil {
		return nil, err
	}
	if err := j.queue.submit(ctx, o, j.openCalls.Load() > 0); err != nil {
		return nil, err
	}
	if o.err != nil {
		return nil, fmt.Errorf("recording call %s: %w", r.ID, o.err)
	}
	if o.old {
		return j.replay(ctx, o.key())
	}
	r.Seq = o.seq
	return nil, nil
}

// End writes how a call went, and returns when that is committed, or, if the
// database refuses, is safe in a file from which it is appended later. It does
// not look at ctx: that the caller has gone does not undo the effect.
func (j *Journal) End(_ context.Context, r *toolcrib.Record) error {
	o := j.newOp()
	defer j.keepOp(o)
	if err := o.end(r, j.cfg.Now(), j.run); err != nil {
		return err
	}
	if err := j.queue.submit(context.Background(), o, j.openCalls.Load() > 1); err != nil {
		return fmt.Errorf("closing the record of call %s: %w", r.ID, err)
	}
	if o.err != nil {
		return fmt.Errorf("closing the record of call %s: %w", r.ID, o.err)
	}
	return nil
}

// Digest names texts, see [toolcrib.Journal]: the key follows from the secret of the
// seals, so it lives as long as the journal.
func (j *Journal) Digest(text []byte) string { return j.names.Sum(text) }

// Degraded reports whether the database refused the last write. Nothing
// begins as long as ends are waiting in a file.
func (j *Journal) Degraded() bool { return j.degraded.Load() }

func (j *Journal) newOp() *op {
	if o, ok := j.ops.Get().(*op); ok {
		return o
	}
	return newOp()
}

// keepOp keeps an op for the next caller, unless a large record has made it
// large.
func (j *Journal) keepOp(o *op) {
	if cap(o.hashed) <= 64<<10 {
		j.ops.Put(o)
	}
}

// replay gives the record of a call that was begun before. If it is open, and
// of a process that has died since, it is closed first.
func (j *Journal) replay(ctx context.Context, k callKey) (*toolcrib.Record, error) {
	old, run, err := j.findProven(ctx, k)
	if err == nil && old.Outcome == "" && run != j.run {
		if err := j.recover(ctx); err != nil {
			return nil, err
		}
		old, _, err = j.findProven(ctx, k)
	}
	if errors.Is(err, ErrForged) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of call %s: %w", k.call, err)
	}
	return &old, nil
}

// findProven finds the record of a call, and refuses one of which the journal
// cannot tell that it wrote it: its answer could be anybody's. That goes for
// entries from before there were seals, too.
func (j *Journal) findProven(ctx context.Context, k callKey) (toolcrib.Record, string, error) {
	s := newSealer(j.seal)
	return j.find(ctx, k, func(e *entry) error {
		if s.proves(e) {
			return nil
		}
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Err: ErrForged, Message: fmt.Sprintf(
			"the call ID %s was used before, and entry %d of the journal, which says how, has no good seal; use another call ID", e.call, e.seq)}
	})
}

// write commits a batch in one transaction. It is called by the queue.
func (j *Journal) write(batch []*op) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.spill.count > 0 {
		j.refuse(batch, nil)
		return
	}
	err := j.w.within(func() error {
		for _, o := range batch {
			if err := j.appendOp(o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		j.refuse(batch, err)
		return
	}
	for _, o := range batch {
		if o.err != nil || o.old {
			continue
		}
		if o.kind == kindBegin {
			j.open[o.key()] = o.seq
		} else {
			delete(j.open, o.key())
		}
	}
	j.openCalls.Store(int64(len(j.open)))
	j.wrote(len(batch))
}

// appendOp appends one op; what concerns only this op goes into o.err.
func (j *Journal) appendOp(o *op) error {
	o.old, o.err = false, nil
	if o.kind == kindEnd {
		var ok bool
		if o.ref, ok = j.open[o.key()]; !ok {
			o.err = ErrNotBegun
			return nil
		}
	}
	fresh, err := j.w.append(o)
	if err != nil {
		return err
	}
	if !fresh {
		if o.old = o.kind == kindBegin; !o.old {
			o.err = fmt.Errorf("%w: another end of call %s stands where this one belongs", ErrForged, o.call)
		}
	}
	return nil
}

// wrote notes that the database takes entries.
func (j *Journal) wrote(n int) {
	j.since += n
	if j.degraded.Load() {
		j.degraded.Store(false)
		j.cfg.Log.Info("the journal writes again")
	}
	select {
	case j.dirty <- struct{}{}:
	default:
	}
}

// refuse answers a batch that the database did not take. Begins fail: what
// cannot be recorded is not done. Ends are of effects that have happened, so
// they are kept in a file.
func (j *Journal) refuse(batch []*op, cause error) {
	if cause != nil && !j.degraded.Swap(true) {
		j.cfg.Log.Error("the journal cannot write", "err", cause)
	}
	if cause == nil {
		cause = fmt.Errorf("%d ends are waiting to be written", j.spill.count)
	}
	var ends []*op
	for _, o := range batch {
		o.old, o.err = false, nil
		if o.kind == kindBegin {
			o.err = fmt.Errorf("%w: %w", ErrDegraded, cause)
		} else if seq, ok := j.open[o.key()]; ok {
			o.ref = seq
			ends = append(ends, o)
		} else {
			o.err = ErrNotBegun
		}
	}
	if err := j.spill.add(ends, j.w.seal); err != nil {
		for _, o := range ends {
			o.err = fmt.Errorf("%w, and %w", cause, err)
		}
		return
	}
	// They are closed for this process, but the entries from which the next one
	// would have to look for open calls stay the same: see low.
	for _, o := range ends {
		j.spill.refs = append(j.spill.refs, j.open[o.key()])
		delete(j.open, o.key())
	}
}

// low is the first entry that may be of an open call of this run.
func (j *Journal) low() uint64 {
	low := j.w.head.seq + 1
	for _, seq := range j.open {
		low = min(low, seq)
	}
	for _, seq := range j.spill.refs {
		low = min(low, seq)
	}
	return low
}

// Close writes what is waiting and the last checkpoint, and gives everything
// back. Calls that are still open will be marked interrupted at the next
// opening. Only the first Close does anything; ctx bounds how long it waits
// for other processes.
func (j *Journal) Close(ctx context.Context) error {
	j.closing.Do(func() { j.closed = j.closeAll(ctx) })
	return j.closed
}
