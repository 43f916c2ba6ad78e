package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

const (
	// leave is how long a program may take to end after its input has.
	exitTime = 2 * time.Second
	// linger is how long what a program has started may hold its output open
	// after its end, and how long the reason of an end is waited for.
	outputTime = 500 * time.Millisecond
)

func (t Stdio) connect(ctx context.Context, s *Session) error {
	if t.Start == nil {
		return errors.New("there is no way to start the program")
	}
	p, err := t.open(ctx, s)
	if err != nil {
		return err
	}
	if err = t.negotiate(ctx, s, p); err == nil {
		return nil
	}
	err = p.explainOutput(errors.Join(err, p.close()))
	if !errors.Is(err, mcp.ErrClosed) || ctx.Err() != nil || legacy(s.config.Version) {
		return err
	}
	// It did not survive the first question: it is asked the old one at once.
	s.config.Log.Debug("an MCP server ended at server/discover and is started once more", "error", err)
	again, second := t.open(ctx, s)
	if second != nil {
		return second
	}
	if second = s.initialize(ctx, again); second != nil {
		return again.explainOutput(errors.Join(second, again.close()))
	}
	return nil
}

// negotiate finds out the era, beginning with the one that was found before. A
// server that was only slow has taken our first question for its era all the same,
// and may refuse the other one: then it is asked the first one once more.
func (t Stdio) negotiate(ctx context.Context, s *Session, p *sharedLink) error {
	unsure := legacy(s.config.Version)
	if !unsure {
		err := s.discover(ctx, p)
		if !errors.Is(err, errLegacy) {
			return err
		}
		unsure = errors.Is(err, context.DeadlineExceeded)
	}
	err := s.initialize(ctx, p)
	if _, refused := errors.AsType[*mcp.Error](err); !refused || !unsure {
		return err
	}
	if later := s.discover(ctx, p); later != nil {
		return errors.Join(err, later)
	}
	return nil
}

func legacy(version string) bool { return version != "" && !mcp.IsModern(version) }

func (t Stdio) open(ctx context.Context, s *Session) (*sharedLink, error) {
	process, err := t.Start(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting the program: %w", err)
	}
	st := &program{process: process, in: mcp.Lines(process.Stdout, nil, s.config.Most, nil), queue: make(chan []byte, 16), closed: make(chan struct{})}
	s.background(st.write)
	s.background(st.watch)
	return newSharedLink(s, st, st.why), nil
}

// program is the stream of a program. Writing is done by a goroutine of its
// own: a program that does not read must not hold up who has given up on it.
type program struct {
	process Process
	in      mcp.Stream
	queue   chan []byte

	once   sync.Once
	closed chan struct{} // the end of the stream, on either side

	mu    sync.Mutex
	fault error // of writing
}

func (p *program) Read() ([]byte, error) { return p.in.Read() }

func (p *program) Write(ctx context.Context, message []byte) error {
	select {
	case p.queue <- message:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closed:
		return mcp.ErrClosed
	}
}

// write writes what is queued.
func (p *program) write() {
	for {
		select {
		case <-p.closed:
			return
		case message := <-p.queue:
			if _, err := p.process.Stdin.Write(append(message, '\n')); err != nil {
				p.mu.Lock()
				p.fault = err
				p.mu.Unlock()
				p.end() // its output ends with it
				return
			}
		}
	}
}

// watch ends the stream with the program, also if something that it has
// started holds the other end of its output.
func (p *program) watch() {
	select {
	case <-p.closed:
	case <-p.process.Done:
		t := time.NewTimer(outputTime)
		defer t.Stop()
		select {
		case <-p.closed:
		case <-t.C:
			p.end()
		}
	}
}

// Close ends the program: its input ends, then it is killed.
func (p *program) Close() error {
	p.end()
	return nil
}

func (p *program) end() {
	p.once.Do(func() {
		close(p.closed)
		_ = p.process.Stdin.Close() // it may be gone already
		if !within(p.process.Done, exitTime) {
			if p.process.Kill != nil {
				p.process.Kill()
			}
			within(p.process.Done, exitTime)
		}
		if c, ok := p.process.Stdout.(io.Closer); ok {
			_ = c.Close() // the reader has to end, the program already has
		}
	})
}

// within waits for an end.
func within(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// why says how the program has ended, which is known a moment after its output
// has.
func (p *program) why(err error) error {
	if !within(p.process.Done, outputTime) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.fault != nil {
			return fmt.Errorf("%w: writing to the program: %w", mcp.ErrClosed, p.fault)
		}
		return err
	}
	if p.process.Err != nil {
		if reason := p.process.Err(); reason != nil {
			return fmt.Errorf("%w: the program has ended: %w", mcp.ErrClosed, reason)
		}
	}
	return fmt.Errorf("%w: the program has ended", mcp.ErrClosed)
}
