package codemode

import (
	"sync"
	"time"
)

// stopwatch counts the time that a script computes.
type stopwatch struct {
	mu    sync.Mutex
	timer *time.Timer
	since time.Time     // zero: it stands
	used  time.Duration // before since
	limit time.Duration
	fired bool
	ended bool
}

func (w *stopwatch) start(limit time.Duration, over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.since = limit, time.Now()
	w.timer = time.AfterFunc(limit, func() {
		w.mu.Lock()
		if w.ended || w.fired || w.since.IsZero() {
			w.mu.Unlock()
			return // it was stopped at this moment
		}
		w.fired = true
		w.mu.Unlock()
		over()
	})
}

func (w *stopwatch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() || w.ended {
		return
	}
	w.timer.Stop()
	w.used += time.Since(w.since)
	w.since = time.Time{}
}

func (w *stopwatch) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.since.IsZero() || w.ended {
		return
	}
	w.since = time.Now()
	w.timer.Reset(max(0, w.limit-w.used))
}

// stop ends it for good.
func (w *stopwatch) stop() {
	w.pause()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
}

func (w *stopwatch) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}

func (w *stopwatch) took() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}
