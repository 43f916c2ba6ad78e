package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Pool is an Engine over workers, one for each script. One is kept ready, because a
// process takes longer to start than most scripts take to run.
type Pool struct {
	Start Starter
	Most  int // scripts at once; 0: 32

	mu     sync.Mutex
	now    int          // scripts that run
	ready  chan started // the one that is being made or waits; nil: none
	ctx    context.Context
	cancel context.CancelFunc
	closed bool
	idle   *time.Timer
}

// idleTime is how long a worker waits for a script before it is given up.
const idleTime = 10 * time.Minute

type started struct {
	conn *Conn
	err  error
}

// ErrNoWorker: the script was not run, since there was no worker for it.
var ErrNoWorker = errors.New("there is no worker for the script")

// enter counts a script, unless there are too many. None waits for another: a script
// may wait for one that it has called itself.
func (p *Pool) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if most := cmp.Or(p.Most, 32); p.now >= most {
		return fmt.Errorf("%w: %d run already", ErrNoWorker, most)
	}
	p.now++
	return nil
}

func (p *Pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now--
}

// Run runs a script in a worker of its own, which is gone afterwards.
func (p *Pool) Run(ctx context.Context, s Script, h Host) (Outcome, error) {
	if len(s.Code) > MaxCode {
		return Outcome{}, &ScriptError{Message: fmt.Sprintf("the script has %d bytes; at most %d are taken", len(s.Code), MaxCode)}
	}
	if len(s.Input) > MaxValue {
		return Outcome{}, &ScriptError{Message: fmt.Sprintf("the input has %d bytes; at most %d are taken", len(s.Input), MaxValue)}
	}
	if err := p.enter(); err != nil {
		return Outcome{}, err
	}
	defer p.leave()
	conn, err := p.take(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrNoWorker, err)
	}
	defer conn.End()
	return speak(ctx, conn, s, h)
}

// Warm has a worker made ready, if there is none.
func (p *Pool) Warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.make()
}

func (p *Pool) make() {
	if p.ready != nil || p.closed {
		return
	}
	if p.ctx == nil {
		p.ctx, p.cancel = context.WithCancel(context.Background())
	}
	ready, ctx := make(chan started, 1), p.ctx
	p.ready = ready
	if p.idle != nil {
		p.idle.Stop()
	}
	p.idle = time.AfterFunc(idleTime, func() { p.drop(ready) })
	go func() { ready <- p.start(ctx) }()
}

// start gives a worker that is ready, or none that is left behind.
func (p *Pool) start(ctx context.Context) started {
	conn, err := p.Start(ctx)
	if err == nil {
		if err = conn.await(); err != nil {
			conn.End()
		}
	}
	return started{conn, err}
}

// take gives out the worker that is ready and has the next one made.
func (p *Pool) take(ctx context.Context) (*Conn, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errors.New("it is closed")
	}
	p.make()
	ready := p.ready
	p.ready = nil
	p.mu.Unlock()
	select {
	case s := <-ready:
		if s.err == nil && s.conn.gone() { // it ended while it waited: its machine had no room for it, say
			s.conn.End()
			s = p.start(p.ctx)
		}
		if s.err == nil {
			p.Warm()
		}
		return s.conn, s.err
	case <-ctx.Done():
		go func() { // nobody else knows of it
			if s := <-ready; s.err == nil {
				s.conn.End()
			}
		}()
		return nil, ctx.Err()
	}
}

// drop gives up a worker that nobody has needed.
func (p *Pool) drop(ready chan started) {
	p.mu.Lock()
	waits := p.ready == ready
	if waits {
		p.ready = nil
	}
	p.mu.Unlock()
	if !waits {
		return
	}
	if s := <-ready; s.err == nil {
		s.conn.End()
	}
}

// Close ends the worker that waits. Those at work end with their scripts.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed = true; p.cancel != nil {
		p.cancel()
	}
	if p.idle != nil {
		p.idle.Stop()
	}
	if ready := p.ready; ready != nil {
		p.ready = nil
		go func() {
			if s := <-ready; s.err == nil {
				s.conn.End()
			}
		}()
	}
	return nil
}
