package toolcrib

import (
	"context"
	"sync"
	"time"
)

// deadline is the context a tool runs under. It does what context.WithTimeout
// does, for less: the goroutine that waits for the tool watches the caller's
// context and the clock itself, so neither has to be told of this one.
type deadline struct {
	context.Context // the caller's, for its values
	at              time.Time

	mu   sync.Mutex
	done chan struct{} // made when somebody asks for it
	err  error
}

// Deadline gives the earlier of the tool's time and the caller's.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done == nil {
		d.done = make(chan struct{})
		if d.err != nil {
			close(d.done)
		}
	}
	return d.done
}

func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// end tells the tool, once, that its time is over, or that nobody waits for
// what it may still have running.
func (d *deadline) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return
	}
	d.err = err
	if d.done != nil {
		close(d.done)
	}
}
