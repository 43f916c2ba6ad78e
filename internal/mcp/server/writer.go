package server

import (
	"context"
	"errors"
	"sync"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// messageWriter writes what is told while a request is answered: in order, before
// its answer, and without making the tool wait that tells it. It costs nothing
// until something is told.
type messageWriter struct {
	write func(text []byte) error

	mu     sync.Mutex
	closed bool
	queue  chan []byte // nil until something is told
	over   chan struct{}
	done   chan struct{}
}

var errAnswered = errors.New("the request has been answered")

// waiting is how many messages may wait to be written.
const waiting = 64

func (c *messageWriter) start() (chan []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errAnswered
	}
	if c.queue == nil {
		c.queue, c.over, c.done = make(chan []byte, waiting), make(chan struct{}), make(chan struct{})
		go c.run()
	}
	return c.queue, nil
}

func (c *messageWriter) run() {
	defer close(c.done)
	broken := false
	put := func(text []byte) {
		if !broken { // nobody reads what comes after
			broken = c.write(text) != nil
		}
	}
	for {
		select {
		case text := <-c.queue:
			put(text)
		case <-c.over:
			for {
				select {
				case text := <-c.queue:
					put(text)
				default:
					return
				}
			}
		}
	}
}

// tell sends a message if there is room for it. Screens live with gaps.
func (c *messageWriter) tell(m *mcp.Message) {
	text, err := m.Append(nil)
	if err != nil {
		return // it came from elsewhere, and is no JSON
	}
	if queue, err := c.start(); err == nil {
		select {
		case queue <- text:
		default:
		}
	}
}

// send sends a message, and waits for room if need be.
func (c *messageWriter) send(ctx context.Context, m *mcp.Message) error {
	text, err := m.Append(nil)
	if err != nil {
		return err
	}
	return c.writeText(ctx, text)
}

func (c *messageWriter) writeText(ctx context.Context, text []byte) error {
	queue, err := c.start()
	if err != nil {
		return err
	}
	select {
	case queue <- text:
		return nil
	case <-c.over:
		return errAnswered
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends it when everything is written; told reports whether there was
// anything.
func (c *messageWriter) close() (told bool) {
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	told = c.queue != nil
	c.mu.Unlock()
	if !told {
		return false
	}
	if !closed {
		close(c.over)
	}
	<-c.done
	return true
}
