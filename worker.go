package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Tools run in goroutines of their own, so that one that hangs can be left
// behind. Starting one for every call would grow its stack anew every time,
// which costs more than many a tool; so a few wait for the next call. They end
// by themselves when no call comes.

// workers are the goroutines that wait. The zero value has none.
type workers struct {
	mu     sync.Mutex
	idle   []*worker
	reaper *time.Timer // ends those that have waited long; nil: not set
	used   int         // how many were taken since the reaper looked
}

const (
	maxIdle  = 64
	idleTime = time.Second
)

// worker is one of them. It is told to end by a job without a function.
type worker struct {
	jobs  chan job
	done  chan outcome // of the job under way; has room for it
	clock *time.Timer  // for whoever waits for it, and only then running
	// left settles who is first when a tool ends at its deadline: its worker,
	// or the caller who stops waiting. A worker that was left does not come back.
	left atomic.Bool
}

type job struct {
	ctx   context.Context
	do    RunFunc
	env   *Env
	input json.RawMessage
}

// outcome is what came out of a tool.
type outcome struct {
	result *Result
	err    error
	stack  []byte // of a panic
	gone   bool   // the tool ended its goroutine, and with it the worker
}

var errGone = errors.New("it ended its goroutine")

// start runs a job on a waiting worker, or on a new one, and starts its clock.
func (ws *workers) start(j job, limit time.Duration) *worker {
	ws.mu.Lock()
	if n := len(ws.idle); n > 0 {
		w := ws.idle[n-1]
		ws.idle = ws.idle[:n-1]
		ws.used++
		ws.mu.Unlock()
		w.left.Store(false)
		w.clock.Reset(limit)
		w.jobs <- j
		return w
	}
	ws.mu.Unlock()
	w := &worker{jobs: make(chan job, 1), done: make(chan outcome, 1), clock: time.NewTimer(limit)}
	w.jobs <- j
	go ws.serve(w)
	return w
}

// leave stops waiting for a worker; false if its outcome is there after all.
func (w *worker) leave() bool { return w.left.CompareAndSwap(false, true) }

// serve runs jobs until it is told to end, or nobody waits for it any more.
func (ws *workers) serve(w *worker) {
	for j := range w.jobs {
		if j.do == nil {
			return
		}
		got := attempt(w, j)
		if !w.leave() {
			return // the caller has left
		}
		w.done <- got
	}
}

// park makes a worker wait for the next call. Only the caller that has taken
// its outcome may do that: until then the outcome is not out of the way.
func (ws *workers) park(w *worker) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.idle) >= maxIdle {
		w.jobs <- job{} // enough of them wait; there is room, since it does nothing
		return
	}
	ws.idle = append(ws.idle, w)
	if ws.reaper == nil {
		ws.reaper = time.AfterFunc(idleTime, ws.reap)
	}
}

// reap ends the workers that were not needed since it last looked.
func (ws *workers) reap() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	keep := min(ws.used, len(ws.idle))
	ws.used = 0
	for _, w := range ws.idle[keep:] {
		w.jobs <- job{} // it waits, so this never blocks
	}
	clear(ws.idle[keep:])
	ws.idle = ws.idle[:keep]
	ws.reaper = nil
	if keep > 0 {
		ws.reaper = time.AfterFunc(idleTime, ws.reap)
	}
}

// attempt runs one job. A panic is an outcome like any other; of a tool that
// ends the goroutine itself, the outcome is told on the way out.
func attempt(w *worker, j job) (got outcome) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			got = outcome{err: fmt.Errorf("panic: %v", p), stack: debug.Stack()}
			return
		}
		if !returned && w.leave() {
			w.done <- outcome{err: errGone, gone: true} // runtime.Goexit: nothing after this runs
		}
	}()
	result, err := j.do(j.ctx, j.env, j.input)
	returned = true
	return outcome{result: result, err: err}
}
