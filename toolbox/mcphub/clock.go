package mcphub

import (
	"context"
	"sync"
	"time"
)

// patience is how long the clock of one call stands still in all.
const patience = 15 * time.Minute

// clock holds a call to its time, and stands still while a person is asked, but
// not for ever.
type clock struct {
	ctx    context.Context
	cancel context.CancelFunc
	timer  *time.Timer

	mu       sync.Mutex
	left     time.Duration
	patience time.Duration // left to stand still
	began    time.Time     // to run, or to stand still
	paused   int
	over     bool
	asking   bool // it was over while it stood still
}

func newClock(ctx context.Context, limit, patience time.Duration) *clock {
	c := &clock{left: limit, patience: patience, began: time.Now()}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.timer = time.AfterFunc(limit, c.expire)
	return c
}

func (c *clock) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.left
	if c.paused > 0 {
		left = c.patience
	}
	if time.Since(c.began) < left {
		return // it was set anew a moment too late
	}
	c.over, c.asking = true, c.paused > 0
	c.cancel()
}

// pause stops the clock until resume is called.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 && !c.over {
		c.left -= time.Since(c.began)
		c.began = time.Now()
		c.timer.Reset(max(c.patience, 0))
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.paused--; c.paused == 0 && !c.over {
			c.patience -= time.Since(c.began)
			c.began = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
	}
}

// waited reports whether the time ran out while somebody was asked.
func (c *clock) waited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asking
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
