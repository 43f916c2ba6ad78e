package ovosserve

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/toolcrib/toolcrib"
)

// lane does work of one kind, so much of it at a time, and holds a bounded
// amount of more.
type lane struct {
	log     *slog.Logger
	working *sync.WaitGroup
	slots   chan struct{}

	mu       sync.Mutex
	held     int
	bytes    int64
	maxHeld  int
	maxBytes int64
}

func newLane(working *sync.WaitGroup, log *slog.Logger, slots, held int, bytes int64) *lane {
	return &lane{log: log, working: working, slots: make(chan struct{}, slots), maxHeld: held, maxBytes: bytes}
}

// take has work done soon, or says that there is no room for it.
func (l *lane) take(size int64, work func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held >= l.maxHeld || l.held > 0 && l.bytes+size > l.maxBytes {
		return false
	}
	l.held++
	l.bytes += size
	l.working.Go(func() {
		defer l.release(size)
		l.slots <- struct{}{}
		defer func() { <-l.slots }()
		defer func() { // one request must not take the others with it
			if p := recover(); p != nil {
				l.log.Error("a request of the bus broke down", "err", p, "stack", string(debug.Stack()))
			}
		}()
		work()
	})
	return true
}

func (l *lane) release(size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held--
	l.bytes -= size
}

// loader has the boxes read anew, once for all who ask meanwhile.
type loader struct {
	load  func(context.Context) (toolcrib.Diff, []toolcrib.Fault)
	state *loading
}

type loading struct {
	turn chan struct{} // full while boxes are read

	mu     sync.Mutex
	ticks  uint64 // counts askings and beginnings
	begun  uint64 // when the last reading began
	faults []toolcrib.Fault
}

func newLoader(load func(context.Context) (toolcrib.Diff, []toolcrib.Fault)) loader {
	return loader{load, &loading{turn: make(chan struct{}, 1)}}
}

// fresh returns when a reading has ended that began after it was called, with
// what that left out. The end of ctx ends the waiting, not the reading.
func (l loader) fresh(ctx context.Context) ([]toolcrib.Fault, error) {
	if l.load == nil {
		return nil, nil
	}
	s := l.state
	asked := s.tick()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	if s.begun > asked {
		faults := s.faults
		s.mu.Unlock()
		<-s.turn
		return faults, nil
	}
	s.ticks++
	s.begun = s.ticks
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { <-s.turn }()
		_, faults := l.load(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = faults
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults, nil
}

func (s *loading) tick() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ticks++
	return s.ticks
}
