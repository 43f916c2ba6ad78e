package cli

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
)

// progressAfter is how long something takes before a person wants to know that it is
// still at work.
const progressAfter = time.Second

// progress shows on a terminal that something takes its time: a line that is written
// over, and gone when it is done. Elsewhere nothing is written. Done may be called more
// than once, and has to be before anything else is written.
func (c *command) progress(what string) (done func()) {
	c.hush()
	if !terminal(c.err) || c.hooking || c.output == "events" {
		return func() {}
	}
	if c.asking == nil {
		c.asking = new(atomic.Bool)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	start := time.Now()
	wide, asked := c.columns(), c.asking
	go func() {
		defer close(stopped)
		timer := time.NewTimer(progressAfter)
		defer timer.Stop()
		shown := false
		for {
			select {
			case <-stop:
				if shown && !asked.Load() {
					fmt.Fprint(c.err, "\r\x1b[K")
				}
				return
			case <-timer.C:
				if timer.Reset(time.Second); asked.Load() {
					continue // the line is a person's, who is asked something
				}
				line := fmt.Sprintf("%s … %d s", text.ShowLine(what), int(time.Since(start).Seconds()))
				fmt.Fprint(c.err, "\r\x1b[K"+text.ClipWidth(line, wide-1))
				shown = true
			}
		}
	}()
	var once sync.Once
	c.busy = func() {
		once.Do(func() {
			close(stop)
			<-stopped
		})
	}
	return c.busy
}

// hush ends the line of progress, because something else is to be written or somebody is
// to be asked.
func (c *command) hush() {
	if c.busy != nil {
		c.busy()
	}
}
