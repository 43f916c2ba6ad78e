package httpapi

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// counted is a frontend that counts how many of its kind are open.
type counted struct {
	open *atomic.Int64
	once sync.Once
}

func (*counted) Handler() http.Handler { return http.NotFoundHandler() }
func (c *counted) Close()              { c.once.Do(func() { c.open.Add(-1) }) }

// TestShutAtOnce: a door is shut while requests make what is behind it. All of it is
// closed, whoever was first.
func TestShutAtOnce(t *testing.T) {
	var open atomic.Int64
	for range 200 {
		c := &callers{open: map[Holder]*door{}}
		c.mu.Lock()
		d := c.doorLocked(Holder{})
		c.mu.Unlock()
		var all sync.WaitGroup
		for _, route := range []string{"/a", "/b", "/c", "/d"} {
			all.Go(func() {
				c.frontend(d, route, "test", func(Holder) Frontend {
					open.Add(1)
					return &counted{open: &open}
				})
			})
		}
		all.Go(func() { c.shut(d) })
		all.Wait()
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d are open still", n)
	}
}
