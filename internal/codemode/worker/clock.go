package worker

import (
	"sync/atomic"
	"time"
)

// clock interrupts a script that computes for too long, so that it can say where it
// was. It is a courtesy: the host has a clock of its own, and ends the worker.
type clock struct {
	timer *time.Timer
	since time.Time
	left  time.Duration
	fired atomic.Bool
}

func newClock(limit time.Duration, interrupt func()) *clock {
	c := &clock{since: time.Now(), left: limit}
	c.timer = time.AfterFunc(limit, func() {
		c.fired.Store(true)
		interrupt()
	})
	return c
}

func (c *clock) pause() {
	c.timer.Stop()
	c.left -= time.Since(c.since)
}

func (c *clock) resume() {
	c.since = time.Now()
	c.timer.Reset(max(c.left, 0))
}

func (c *clock) stop() { c.timer.Stop() }

// over reports whether the time is.
func (c *clock) over() bool { return c.fired.Load() }
