package toolcrib

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib/internal/worker"
)

// Waiting goroutines are used again, and gone when no call comes: synctest
// fails a test that leaves any behind.
func TestWorkersWaitAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCrib(t, plain("x"))
		for range 10 {
			if _, err := c.Call(t.Context(), Call{Tool: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := c.workers.Idle(); n != 1 {
			t.Errorf("%d goroutines wait after ten calls one after another, want 1", n)
		}
		time.Sleep(3 * worker.IdleTime)
		synctest.Wait()
		if n := c.workers.Idle(); n != 0 {
			t.Errorf("%d goroutines still wait", n)
		}
	})
}

func TestWorkersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		slow := plain("slow")
		slow.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { <-hold; return Text("x"), nil }
		c := testCrib(t, slow)
		var wg sync.WaitGroup
		for range 3 * worker.MaxIdle {
			wg.Go(func() {
				if _, err := c.Call(t.Context(), Call{Tool: "slow"}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(hold)
		wg.Wait()
		synctest.Wait()
		if n := c.workers.Idle(); n > worker.MaxIdle {
			t.Errorf("%d goroutines wait, want at most %d", n, worker.MaxIdle)
		}
		time.Sleep(3 * worker.IdleTime)
	})
}

// A worker whose tool panicked, ended the goroutine or hung must not spoil the
// call that comes after.
func TestBadToolsDoNotSpoilWorkers(t *testing.T) {
	var n atomic.Int64
	hold := make(chan struct{})
	defer close(hold)
	bad := plain("bad")
	bad.Timeout = time.Millisecond
	bad.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) {
		switch n.Add(1) % 3 {
		case 0:
			panic("x")
		case 1:
			runtime.Goexit()
		}
		<-hold
		return Text("late"), nil
	}
	echo := plain("echo")
	echo.Run = func(_ context.Context, _ *Env, in json.RawMessage) (*Result, error) { return &Result{Value: in}, nil }
	c := testCrib(t, bad, echo)
	c.Log, c.Limits.Grace = quiet(), time.Millisecond
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				if _, err := c.Call(t.Context(), Call{Tool: "bad"}); err == nil {
					t.Error("a bad tool answered")
				}
				want := fmt.Sprintf(`{"g":%d,"i":%d}`, g, i)
				if r, err := c.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(want)}); err != nil || string(r.Value) != want {
					t.Errorf("%v, %v, want %s", r, err, want)
				}
			}
		})
	}
	wg.Wait()
}
