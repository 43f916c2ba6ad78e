package mcphub

import (
	"context"
	"sync"
	"time"
)

// clock holds a call to its time, and stands still while a person is asked.
type clock struct {
	ctx    context.Context
	cancel context.CancelFunc
	timer  *time.Timer

	mu     sync.Mutex
	left   time.Duration
	began  time.Time
	paused int
	over   bool
}

func newClock(ctx context.Context, limit time.Duration) *clock {
	c := &clock{left: limit, began: time.Now()}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.timer = time.AfterFunc(limit, c.expire)
	return c
}

func (c *clock) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused > 0 {
		return // it was stopped a moment too late
	}
	c.over = true
	c.cancel()
}

// pause stops the clock until resume is called.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 {
		c.timer.Stop()
		c.left -= time.Since(c.began)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.paused--; c.paused == 0 && !c.over {
			c.began = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
	}
}

// late reports whether the time ran out.
func (c *clock) late() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

func (c *clock) stop() {
	c.timer.Stop()
	c.cancel()
}
