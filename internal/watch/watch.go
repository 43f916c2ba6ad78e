// Package watch is the part of the ground floor that keeps a list of functions
// to be called when something changes. Every package may import it.
//
// Its one invariant: a function is called without any lock of the list, so that
// it may add and remove others.
package watch

import (
	"slices"
	"sync"
)

// List is a list of functions of one type. The zero value is empty.
type List[F any] struct {
	mu   sync.Mutex
	next int
	all  []watcher[F]
}

type watcher[F any] struct {
	id int
	do F
}

// Add puts a function at the end of the list, until stop is called. A round that
// has begun may still call it then.
func (l *List[F]) Add(do F) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := l.next
	l.next++
	l.all = append(slices.Clip(l.all), watcher[F]{id, do})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		kept := make([]watcher[F], 0, len(l.all))
		for _, w := range l.all {
			if w.id != id {
				kept = append(kept, w)
			}
		}
		l.all = kept
	}
}

// Each has call called with every function that is in the list now, in the order
// in which they were added.
func (l *List[F]) Each(call func(F)) {
	l.mu.Lock()
	all := l.all // Add and stop make a new one
	l.mu.Unlock()
	for _, w := range all {
		call(w.do)
	}
}
