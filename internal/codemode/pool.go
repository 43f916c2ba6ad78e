package codemode

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Pool is an Engine over workers, one for each script. One is kept ready, because a
// process takes longer to start than most scripts take to run.
type Pool struct {
	Start Starter

	mu     sync.Mutex
	ready  chan started // the one that is being made or waits; nil: none
	ctx    context.Context
	cancel context.CancelFunc
	closed bool
}

type started struct {
	conn *Conn
	err  error
}

// Run runs a script in a worker of its own, which is gone afterwards.
func (p *Pool) Run(ctx context.Context, s Script, h Host) (Outcome, error) {
	if len(s.Code) > MaxCode {
		return Outcome{}, &ScriptError{Message: fmt.Sprintf("the script has %d bytes; at most %d are taken", len(s.Code), MaxCode)}
	}
	if len(s.Input) > MaxValue {
		return Outcome{}, &ScriptError{Message: fmt.Sprintf("the input has %d bytes; at most %d are taken", len(s.Input), MaxValue)}
	}
	conn, err := p.take(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("starting the worker of scripts: %w", err)
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
	go func() {
		conn, err := p.Start(ctx)
		if err == nil {
			if err = conn.await(); err != nil {
				conn.End()
			}
		}
		ready <- started{conn, err}
	}()
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

// Close ends the worker that waits. Those at work end with their scripts.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed = true; p.cancel != nil {
		p.cancel()
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
