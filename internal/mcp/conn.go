package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Handler is what a side of a conversation does with what the other side sends.
type Handler struct {
	// Request answers a request, in a goroutine of its own. Its context ends
	// when the other side cancels the request or hangs up. Nil: all are refused.
	Request func(ctx context.Context, m *Message) (json.RawMessage, error)
	// Notification hears everything else but cancellations, one after another
	// and in order, also with the answers; it returns at once. Nil: nobody does.
	Notification func(m *Message)
	// Cancelled hears of cancellations that are of none of their requests: a
	// modern server ends a subscription so. It returns at once. Nil: nobody does.
	Cancelled func(id json.RawMessage)
	// Late hears of answers to requests that nobody waits for any more. It
	// returns at once. Nil: nobody does.
	Late func(id json.RawMessage)
	// Cancel is the notification that ends a request of ours, where the other side
	// speaks another protocol over JSON-RPC. Nil: that of MCP.
	Cancel func(id json.RawMessage) (method string, params json.RawMessage)
	// Bad hears of messages that could not be read. Nil: nobody does.
	Bad func(err error)
	// Most is how many requests are answered at once; more wait, up to sixteen times
	// as many and waitingBytes, and what comes then is refused. Zero: 256.
	Most int
	// Quiet keeps the other side from being told of messages that could not be
	// read: a client says nothing to programs that write their log between them.
	Quiet bool
}

// Conn is one side of a conversation over a stream.
type Conn struct {
	stream  Stream
	handler Handler
	ctx     context.Context // of everything under way; ends with the conversation
	cancel  context.CancelFunc

	mu      sync.Mutex
	next    int64
	waiting map[string]chan *Message      // our requests, by ID
	serving map[string]context.CancelFunc // theirs
	held    int                           // bytes of theirs that wait for their turn
	room    int                           // how many they may be
	turns   chan struct{}
	ended   bool
	err     error

	done  chan struct{}
	under sync.WaitGroup // requests that are being answered
}

// ErrClosed is in the chain of what a call gets when the conversation ends
// before its answer.
var ErrClosed = errors.New("the other side has hung up")

// NewConn makes a side of a conversation. Run has to be called for it.
func NewConn(ctx context.Context, stream Stream, h Handler) *Conn {
	if h.Most <= 0 {
		h.Most = 256
	}
	c := &Conn{stream: stream, handler: h, waiting: map[string]chan *Message{}, serving: map[string]context.CancelFunc{}, turns: make(chan struct{}, h.Most), room: waitingBytes, done: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// Run reads until the stream ends, which is no error, or cannot be read.
func (c *Conn) Run() error {
	for {
		text, err := c.stream.Read()
		if errors.Is(err, ErrTooLong) {
			c.bad(Errorf(CodeInvalidRequest, "%v", err), nil)
			continue
		}
		if err != nil {
			return c.end(err)
		}
		m, err := Parse(text)
		if err != nil {
			c.bad(err, m)
			continue
		}
		c.take(m)
	}
}

// bad tells the other side of a message that is none. An answer that is none
// must not be answered: two sides could go on for ever.
func (c *Conn) bad(err error, m *Message) {
	if c.handler.Bad != nil {
		c.handler.Bad(err)
	}
	if c.handler.Quiet || c.handler.Request == nil {
		return
	}
	answer := &Message{Error: ErrorOf(err)}
	if m != nil {
		answer.ID = m.ID
	}
	c.answer(answer)
}

// take sorts a message.
func (c *Conn) take(m *Message) {
	switch {
	case m.IsAnswer():
		c.mu.Lock()
		waiting := c.waiting[string(m.ID)]
		delete(c.waiting, string(m.ID)) // a second answer is nobody's
		c.mu.Unlock()
		switch {
		case waiting != nil:
			waiting <- m
		case c.handler.Late != nil:
			c.handler.Late(m.ID)
		}
	case m.Method == NotifyCancelled && m.ID == nil:
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			c.mu.Lock()
			cancel := c.serving[string(p.ID)]
			c.mu.Unlock()
			switch {
			case cancel != nil:
				cancel()
			case c.handler.Cancelled != nil:
				c.handler.Cancelled(p.ID)
			}
		}
	case m.ID == nil:
		if c.handler.Notification != nil {
			c.handler.Notification(m)
		}
	default:
		c.serve(m)
	}
}

// serve answers a request.
func (c *Conn) serve(m *Message) {
	if c.handler.Request == nil {
		c.answer(&Message{ID: m.ID, Error: Errorf(CodeMethodNotFound, "requests are not taken here")})
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	id := string(m.ID)
	_, twice := c.serving[id]
	size := len(m.Params)
	full := len(c.serving) >= c.handler.Most && (len(c.serving) >= 16*c.handler.Most || c.held+size > c.room)
	if !twice && !full {
		c.serving[id] = cancel
		c.held += size
	}
	c.mu.Unlock()
	if twice || full {
		cancel()
		reason := "a request with this id is under way"
		if full {
			reason = "too many requests are under way"
		}
		c.answer(&Message{ID: m.ID, Error: Errorf(CodeInvalidRequest, "%s", reason)})
		return
	}
	c.under.Go(func() {
		var result json.RawMessage
		var err error
		select { // reading goes on meanwhile: what is under way may need an answer, or be cancelled
		case c.turns <- struct{}{}:
			c.release(size)
			result, err = c.handler.Request(ctx, m)
			<-c.turns
		case <-ctx.Done():
			c.release(size)
		}
		cancelled := ctx.Err() != nil
		c.mu.Lock()
		delete(c.serving, id)
		c.mu.Unlock()
		cancel()
		switch {
		case cancelled: // nobody waits for it
		case err != nil:
			c.answer(&Message{ID: m.ID, Error: ErrorOf(err)})
		default:
			c.answer(&Message{ID: m.ID, Result: result})
		}
	})
}

// waitingBytes bounds what is kept of requests that wait for their turn.
const waitingBytes = 64 << 20

// release: a request waits no more.
func (c *Conn) release(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held -= size
}

// ErrAnswering is in the chain of an error about an answer of ours that could not be sent.
var ErrAnswering = errors.New("answering")

func (c *Conn) answer(m *Message) {
	if err := c.Send(c.ctx, m); err != nil && c.handler.Bad != nil {
		c.handler.Bad(fmt.Errorf("%w: %w", ErrAnswering, err))
	}
}

// Send writes a message as it is.
func (c *Conn) Send(ctx context.Context, m *Message) error {
	text, err := m.Append(make([]byte, 0, 128+len(m.Params)+len(m.Result)))
	if err != nil {
		return err
	}
	return c.stream.Write(ctx, text)
}

// Call makes a request and waits for its answer. At the end of ctx the other
// side is told that the request is cancelled. Sent, if not nil, hears the ID
// before the request is written.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage, sent func(id json.RawMessage)) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // nothing is sent for nobody
	}
	answer := make(chan *Message, 1)
	c.mu.Lock()
	if c.ended {
		err := c.err
		c.mu.Unlock()
		return nil, err
	}
	c.next++
	id := json.RawMessage(strconv.FormatInt(c.next, 10))
	c.waiting[string(id)] = answer
	c.mu.Unlock()
	forget := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, string(id))
	}
	if sent != nil {
		sent(id)
	}
	if err := c.Send(ctx, &Message{ID: id, Method: method, Params: params}); err != nil {
		forget()
		return nil, fmt.Errorf("sending %s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-c.done:
		select {
		case m := <-answer: // it came just before the end
			if m.Error != nil {
				return nil, m.Error
			}
			return m.Result, nil
		default:
		}
		return nil, c.Err()
	case <-ctx.Done():
		forget()
		c.cancelled(ctx, id)
		return nil, ctx.Err()
	}
}

// cancelled tells the other side that nobody waits for a request.
func (c *Conn) cancelled(ctx context.Context, id json.RawMessage) {
	reason := "cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = "out of time"
	}
	method, params := NotifyCancelled, json.RawMessage(fmt.Appendf(nil, `{"requestId":%s,"reason":%q}`, id, reason))
	if c.handler.Cancel != nil {
		method, params = c.handler.Cancel(id)
	}
	// Whoever has given up is not held up by a side that does not read.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	if err := c.Notify(ctx, method, params); err != nil && c.handler.Bad != nil {
		c.handler.Bad(fmt.Errorf("cancelling: %w", err))
	}
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return c.Send(ctx, &Message{Method: method, Params: params})
}

// end closes the conversation: calls that wait get an error.
func (c *Conn) end(err error) error {
	c.mu.Lock()
	if !c.ended {
		c.ended = true
		c.err = fmt.Errorf("%w: %w", ErrClosed, err)
		close(c.done)
	}
	c.mu.Unlock()
	c.cancel()
	return err
}

// Close ends the conversation and the stream.
func (c *Conn) Close() error {
	_ = c.end(errors.New("closed on this side")) // the reason is kept for calls
	return c.stream.Close()
}

// Wait returns when nothing is being answered any more. It is for who reads for
// Run, or comes after it: a request that is taken meanwhile may be missed.
func (c *Conn) Wait() { c.under.Wait() }

// Done is closed when the conversation has ended; Err says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the conversation has ended, nil while it goes on.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
