package worker

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// TestDeadlineTellsThoseBelow: contexts below one end with it, and no goroutine
// waits for that.
func TestDeadlineTellsThoseBelow(t *testing.T) {
	d := &Deadline{Context: context.Background()}
	before := runtime.NumGoroutine()
	below, cancel := context.WithCancelCause(d)
	defer cancel(nil)
	other, end := context.WithCancel(d)
	if now := runtime.NumGoroutine(); now > before {
		t.Errorf("%d goroutines, and %d before", now, before)
	}
	end()
	if other.Err() == nil || below.Err() != nil || len(d.hear) != 1 {
		t.Errorf("%v, %v; %d wait to be told", other.Err(), below.Err(), len(d.hear))
	}
	d.End(context.DeadlineExceeded)
	<-below.Done()
	if !errors.Is(below.Err(), context.DeadlineExceeded) {
		t.Error(below.Err())
	}
	late := make(chan struct{})
	if stop := d.AfterFunc(func() { close(late) }); stop() {
		t.Error("it was stopped after the end")
	}
	<-late
}
