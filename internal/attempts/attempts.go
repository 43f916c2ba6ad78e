// Package attempts counts how often a tool was tried. The count goes with the
// context: that is all that a wrapper around a tool has in common with the step of
// the core that runs it.
package attempts

import (
	"context"
	"sync/atomic"
)

// Counter is the context of one run, which counts its attempts.
type Counter struct {
	context.Context
	again atomic.Int32
}

type counterKey struct{}

// Value gives the counter itself for its key.
func (c *Counter) Value(key any) any {
	if key == (counterKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Attempts is for the record: zero unless there was more than one.
func (c *Counter) Attempts() int {
	if n := int(c.again.Load()); n > 0 {
		return n + 1
	}
	return 0
}

// Again counts one more attempt of the run that ctx belongs to.
func Again(ctx context.Context) {
	if c, ok := ctx.Value(counterKey{}).(*Counter); ok {
		c.again.Add(1)
	}
}
