// Package worker runs what may hang in goroutines of their own, so that it can be
// left behind. Starting one for every call would grow its stack anew every time,
// which costs more than many a tool; so a few wait for the next call. They end by
// themselves when no call comes.
package worker

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is the goroutines that wait, for work that gives an R. The zero value has none.
type Pool[R any] struct {
	mu     sync.Mutex
	idle   []*Worker[R]
	reaper *time.Timer // ends those that have waited long; nil: not set
	used   int         // how many were taken since the reaper looked
}

// MaxIdle bounds how many wait, and IdleTime for how long.
const (
	MaxIdle  = 64
	IdleTime = time.Second
)

// Worker is one of them. It is told to end by a job without a function.
type Worker[R any] struct {
	Done  chan Outcome[R] // of the job under way; has room for it
	Clock *time.Timer     // for whoever waits for it, and only then running
	jobs  chan func() (R, error)
	// left settles who is first when a job ends at its deadline: its worker,
	// or the caller who stops waiting. A worker that was left does not come back.
	left atomic.Bool
}

// Outcome is what came out of a job.
type Outcome[R any] struct {
	Result R
	Err    error
	Stack  []byte // of a panic
	Gone   bool   // the job ended its goroutine, and with it the worker
}

// ErrGone: a job ended its goroutine instead of coming back.
var ErrGone = errors.New("it ended its goroutine")

// Start runs a job on a waiting worker, or on a new one, and starts its clock.
func (ws *Pool[R]) Start(do func() (R, error), limit time.Duration) *Worker[R] {
	ws.mu.Lock()
	if n := len(ws.idle); n > 0 {
		w := ws.idle[n-1]
		ws.idle = ws.idle[:n-1]
		ws.used++
		ws.mu.Unlock()
		w.left.Store(false)
		w.Clock.Reset(limit)
		w.jobs <- do
		return w
	}
	ws.mu.Unlock()
	w := &Worker[R]{jobs: make(chan func() (R, error), 1), Done: make(chan Outcome[R], 1), Clock: time.NewTimer(limit)}
	w.jobs <- do
	go ws.serve(w)
	return w
}

// Leave stops waiting for a worker; false if its outcome is there after all.
func (w *Worker[R]) Leave() bool { return w.left.CompareAndSwap(false, true) }

// serve runs jobs until it is told to end, or nobody waits for it any more.
func (ws *Pool[R]) serve(w *Worker[R]) {
	for do := range w.jobs {
		if do == nil {
			return
		}
		got := attempt(w, do)
		if !w.Leave() {
			return // the caller has left
		}
		w.Done <- got
	}
}

// Park makes a worker wait for the next call. Only the caller that has taken
// its outcome may do that: until then the outcome is not out of the way.
func (ws *Pool[R]) Park(w *Worker[R]) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.idle) >= MaxIdle {
		w.jobs <- nil // enough of them wait; there is room, since it does nothing
		return
	}
	ws.idle = append(ws.idle, w)
	if ws.reaper == nil {
		ws.reaper = time.AfterFunc(IdleTime, ws.reap)
	}
}

// reap ends the workers that were not needed since it last looked.
func (ws *Pool[R]) reap() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	keep := min(ws.used, len(ws.idle))
	ws.used = 0
	for _, w := range ws.idle[keep:] {
		w.jobs <- nil // it waits, so this never blocks
	}
	clear(ws.idle[keep:])
	ws.idle = ws.idle[:keep]
	ws.reaper = nil
	if keep > 0 {
		ws.reaper = time.AfterFunc(IdleTime, ws.reap)
	}
}

// attempt runs one job. A panic is an outcome like any other; of one that
// ends the goroutine itself, the outcome is told on the way out.
func attempt[R any](w *Worker[R], do func() (R, error)) (got Outcome[R]) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			got = Outcome[R]{Err: fmt.Errorf("panic: %v", p), Stack: debug.Stack()}
			return
		}
		if !returned && w.Leave() {
			w.Done <- Outcome[R]{Err: ErrGone, Gone: true} // runtime.Goexit: nothing after this runs
		}
	}()
	result, err := do()
	returned = true
	return Outcome[R]{Result: result, Err: err}
}

// Idle is how many wait now.
func (ws *Pool[R]) Idle() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.idle)
}
