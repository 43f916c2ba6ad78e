package worker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Deadline is the context a tool runs under. It does what context.WithTimeout
// does, for less: the goroutine that waits for the tool watches the caller's
// context and the clock itself, so neither has to be told of this one.
type Deadline struct {
	context.Context // the caller's, for its values
	At              time.Time

	mu   sync.Mutex
	done chan struct{} // made when somebody asks for it
	err  error
	hear []*func() // who is told of the end
}

// AfterFunc has f called in a goroutine of its own when the time is over, unless
// stop is called before. Package context asks for it, and needs no goroutine that
// waits for each context below this one.
func (d *Deadline) AfterFunc(f func()) (stop func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		go f()
		return func() bool { return false }
	}
	d.hear = append(d.hear, &f)
	return func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		i := slices.Index(d.hear, &f)
		if i >= 0 {
			d.hear = slices.Delete(d.hear, i, i+1)
		}
		return i >= 0
	}
}

// Deadline gives the earlier of the tool's time and the caller's.
func (d *Deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.At) {
		return at, true
	}
	return d.At, true
}

// Done is closed when the time is over.
func (d *Deadline) Done() <-chan struct{} {
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

// Err says why.
func (d *Deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// End tells the tool, once, that its time is over, or that nobody waits for
// what it may still have running.
func (d *Deadline) End(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return
	}
	d.err = err
	if d.done != nil {
		close(d.done)
	}
	for _, f := range d.hear {
		go (*f)()
	}
	d.hear = nil
}
