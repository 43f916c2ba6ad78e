package host

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// workQueue does work of one kind, so much of it at a time, and holds a bounded
// amount of more. Goroutines that have nothing to do wait a moment for more:
// one that has made a call has the stack for the next.
type workQueue struct {
	log     *slog.Logger
	working *sync.WaitGroup
	slots   int
	wake    chan struct{} // for those who wait

	mu       sync.Mutex
	queue    []job
	running  int // goroutines
	waiting  int // of them, for work
	held     int
	bytes    int64
	maxHeld  int
	maxBytes int64
}

// job is work that was taken.
type job struct {
	size int64
	work func()
}

// linger is how long a goroutine waits for more work.
const linger = time.Second

func newWorkQueue(working *sync.WaitGroup, log *slog.Logger, slots, held int, bytes int64) *workQueue {
	return &workQueue{log: log, working: working, slots: slots, wake: make(chan struct{}, slots), maxHeld: held, maxBytes: bytes}
}

// take has work done soon, or says that there is no room for it.
func (l *workQueue) take(size int64, work func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held >= l.maxHeld || l.held > 0 && l.bytes+size > l.maxBytes {
		return false
	}
	l.held++
	l.bytes += size
	l.working.Add(1)
	l.queue = append(l.queue, job{size, work})
	switch {
	case l.waiting >= len(l.queue):
		select {
		case l.wake <- struct{}{}:
		default: // as many are woken as there are
		}
	case l.running < l.slots:
		l.running++
		go l.serve()
	}
	return true
}

// serve does what there is to do, until there has been nothing for a while.
func (l *workQueue) serve() {
	defer func() { // also if work ended the goroutine: others may wait for it
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.running--; len(l.queue) > 0 {
			l.running++
			go l.serve()
		}
	}()
	for {
		j, ok := l.next()
		if !ok {
			return
		}
		l.run(j)
	}
}

// next gives the oldest work, or says that none came.
func (l *workQueue) next() (job, bool) {
	if j, ok := l.pop(1); ok {
		return j, true
	}
	late := time.NewTimer(linger)
	defer late.Stop()
	for {
		over := false
		select {
		case <-l.wake:
		case <-late.C:
			over = true
		}
		l.mu.Lock()
		l.waiting--
		l.mu.Unlock()
		if over {
			return l.pop(0)
		}
		if j, ok := l.pop(1); ok {
			return j, true
		}
	}
}

// pop takes work out of the queue; if there is none, so many more wait for it.
func (l *workQueue) pop(waiting int) (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.waiting += waiting
		return job{}, false
	}
	j := l.queue[0]
	l.queue[0] = job{}
	if l.queue = l.queue[1:]; len(l.queue) == 0 {
		l.queue = nil
	}
	return j, true
}

func (l *workQueue) run(j job) {
	defer l.release(j.size)
	defer func() { // one request must not take the others with it
		if p := recover(); p != nil {
			l.log.Error("a request of the bus broke down", "err", p, "stack", string(debug.Stack()))
		}
	}()
	j.work()
}

func (l *workQueue) release(size int64) {
	l.mu.Lock()
	l.held--
	l.bytes -= size
	l.mu.Unlock()
	l.working.Done()
}

// loader has the boxes read anew, once for all who ask meanwhile.
type loader struct {
	load  func(context.Context) (toolcrib.Diff, []toolcrib.LoadError)
	state *loading
}

type loading struct {
	turn chan struct{} // full while boxes are read

	mu     sync.Mutex
	ticks  uint64 // counts askings and beginnings
	begun  uint64 // when the last reading began
	faults []toolcrib.LoadError
}

func newLoader(load func(context.Context) (toolcrib.Diff, []toolcrib.LoadError)) loader {
	return loader{load, &loading{turn: make(chan struct{}, 1)}}
}

// fresh returns when a reading has ended that began after it was called, with
// what that left out. The end of ctx ends the waiting, not the reading.
func (l loader) fresh(ctx context.Context) ([]toolcrib.LoadError, error) {
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
