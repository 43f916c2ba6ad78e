package mcphub

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"
)

// TestStuck: a server that answers nothing any more is ended, and the next call has
// another one; one that answers, if only by an error, stays.
func TestStuck(t *testing.T) {
	var silent atomic.Bool
	r := &rogue{tools: echo}
	r.other = func(string, sayFunc, json.RawMessage, json.RawMessage) bool { return silent.Load() }
	d := house(t, t.TempDir(), r, Server{Own: true})
	i, s, err := d.box.acquire(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	i.release()
	i.endIfStuck(s, time.Minute)
	d.box.asking.Wait()
	if r.starts.Load() != 1 || r.alive.Load() != 1 {
		t.Fatalf("a server that answers was ended: %d starts, %d run", r.starts.Load(), r.alive.Load())
	}
	silent.Store(true)
	i.endIfStuck(s, 100*time.Millisecond)
	until(t, "its end", func() bool { return r.alive.Load() == 0 })
	silent.Store(false)
	again, other, err := d.box.acquire(t.Context(), "")
	if err != nil || other == s {
		t.Fatalf("the next call has no other one: %v", err)
	}
	again.release()
}
