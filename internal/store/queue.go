package store

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// maxBatch bounds one transaction, so that no caller waits long for others.
const maxBatch = 256

// queue brings many callers to one writer. A caller that finds nobody writing
// writes at once, without a change of goroutine, its own entry and those of
// all who are waiting. Those who come meanwhile wait, and the writer goroutine
// then commits all that is waiting in one transaction, again and again until
// nobody waits.
type queue struct {
	write func([]*op)

	mu      sync.Mutex
	waiting []*op
	spare   []*op
	busy    bool // somebody is writing
	closed  bool
	more    chan struct{} // hands the writing to the goroutine
	idle    chan struct{} // closed when closed and no longer busy
}

func newQueue(write func([]*op)) *queue {
	q := &queue{write: write, more: make(chan struct{}, 1), idle: make(chan struct{})}
	go q.serve()
	return q
}

// submit returns when o was written or refused, or with an error if it
// certainly was not: the queue is closed, or ctx ended while o was waiting.
// crowd says that others are likely to come, too: one commit for many costs
// little more than one for one, so that it is worth letting them catch up.
func (q *queue) submit(ctx context.Context, o *op, crowd bool) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	q.waiting = append(q.waiting, o)
	if !q.busy {
		q.busy = true
		q.mu.Unlock()
		if crowd {
			runtime.Gosched()
		}
		q.writeBatch(q.nextBatch())
		<-o.done
		q.handOver()
		return nil
	}
	q.mu.Unlock()
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	i := slices.Index(q.waiting, o)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.mu.Unlock()
	if i >= 0 {
		return ctx.Err()
	}
	<-o.done // it is being written: what becomes of it is a matter of microseconds
	return nil
}

// handOver ends the writing of one caller.
func (q *queue) handOver() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		q.more <- struct{}{}
		return
	}
	q.noteIdle()
}

// noteIdle notes that nobody is writing.
func (q *queue) noteIdle() {
	q.busy = false
	if q.closed {
		close(q.idle)
	}
}

// serve is the writer goroutine.
func (q *queue) serve() {
	for {
		select {
		case <-q.more:
		case <-q.idle:
			return
		}
		for batch := q.nextBatch(); batch != nil; batch = q.nextBatch() {
			q.writeBatch(batch)
		}
	}
}

// nextBatch gives what is waiting; if nothing is, nil, and the writing is over.
func (q *queue) nextBatch() []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.noteIdle()
		return nil
	}
	batch := q.waiting
	q.waiting, q.spare = q.spare[:0], nil
	if len(batch) > maxBatch {
		q.waiting = append(q.waiting, batch[maxBatch:]...)
		clear(batch[maxBatch:])
		batch = batch[:maxBatch]
	}
	return batch
}

// writeBatch writes a batch and tells those who wait for it. From then on the ops
// are theirs again.
func (q *queue) writeBatch(batch []*op) {
	q.write(batch)
	for _, o := range batch {
		o.done <- struct{}{}
	}
	clear(batch)
	q.mu.Lock()
	q.spare = batch[:0]
	q.mu.Unlock()
}

// close lets nobody in any more and waits for those who are in.
func (q *queue) close() {
	q.mu.Lock()
	first := !q.closed
	q.closed = true
	if first && !q.busy {
		close(q.idle)
	}
	q.mu.Unlock()
	<-q.idle
}
