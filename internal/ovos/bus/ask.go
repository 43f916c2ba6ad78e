package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Answer says which messages answer a request.
type Answer struct {
	// Types are the types of answers; none means the request's type with
	// ".response" after it.
	Types []string
	// Match, if not nil, has the last word.
	Match func(Message) bool
	// Loose also takes answers that do not echo the request's correlation at
	// all, for hosts that are not genuine. Answers to others are never taken.
	Loose bool
}

// Send sends a message, once. If there is no bus it waits for it, up to
// ConnectWait. [ErrNotConnected] means that nothing was sent, [ErrUncertain]
// that the connection broke meanwhile. A nil error means that the connection
// has taken the message; the bus does not confirm.
func (c *Client) Send(ctx context.Context, m Message) error {
	frame, err := c.address(m).Encode()
	if err != nil {
		return err
	}
	if len(frame) > c.cfg.MaxFrame {
		return fmt.Errorf("sending %s: %w: %d bytes, the limit is %d", text.ShowLine(m.Type), ErrTooLarge, len(frame), c.cfg.MaxFrame)
	}
	if err := c.sendFrame(ctx, frame); err != nil {
		return fmt.Errorf("sending %s: %w", text.ShowLine(m.Type), err)
	}
	return nil
}

// address fills in what messages of this client carry.
func (c *Client) address(m Message) Message {
	if _, ok := m.Context["session"]; !ok {
		m = m.With("session", newSession(c.cfg.Session))
	}
	if _, ok := m.Context["source"]; !ok && c.cfg.Source != "" {
		m = m.With("source", jsontext.Quote(c.cfg.Source))
	}
	return m
}

func (c *Client) sendFrame(ctx context.Context, frame []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.ConnectWait)
	defer cancel()
	for {
		l, err := c.connected(ctx)
		if err != nil {
			return err
		}
		select {
		case c.slot <- struct{}{}:
		case <-c.ctx.Done():
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("%w: others are still sending: %w", ErrNotConnected, context.Cause(ctx))
		}
		if !c.current(l) { // it broke while we stood in line; nothing was sent
			<-c.slot
			continue
		}
		// The caller's context must not cut a frame in half: that would cost
		// everyone the connection.
		writing, done := context.WithTimeout(context.Background(), c.cfg.WriteTimeout)
		err = l.conn.Write(writing, websocket.MessageText, frame)
		done()
		if err != nil {
			_ = l.raw.Close()
		}
		<-c.slot
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUncertain, err)
		}
		return nil
	}
}

func (c *Client) current(l *link) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link == l
}

// Ask sends a request and waits for its answer until the context ends. It
// outlives a broken connection: the answer may come over the next one. The
// request is never sent twice.
func (c *Client) Ask(ctx context.Context, m Message, a Answer) (Message, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.AnswerTimeout)
		defer cancel()
	}
	m, sub := c.expect(m, a)
	defer sub.Close()
	breaks := c.breaks()
	if err := c.Send(ctx, m); err != nil {
		return Message{}, err
	}
	answer, err := sub.Next(ctx)
	if err != nil {
		if c.breaks() != breaks {
			err = fmt.Errorf("%w (the connection to the bus broke meanwhile)", err)
		}
		return Message{}, fmt.Errorf("waiting for %s: %w", text.ShowLine(strings.Join(sub.filter.Types, " or ")), err)
	}
	return answer, nil
}

// Collect sends a request and returns every answer that comes within a window
// of time, in order, repeated ones too. With an error it returns what it has.
func (c *Client) Collect(ctx context.Context, m Message, a Answer, window time.Duration) ([]Message, error) {
	m, sub := c.expect(m, a)
	defer sub.Close()
	if err := c.Send(ctx, m); err != nil {
		return nil, err
	}
	over, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	var answers []Message
	bytes := 0
	for {
		answer, err := sub.Next(over)
		switch {
		case err == nil:
			bytes += len(answer.Data)
			for key, value := range answer.Context {
				bytes += len(key) + len(value)
			}
			if len(answers) == maxCollected || bytes > maxCollectedBytes {
				return answers, fmt.Errorf("collecting answers to %s: %w", text.ShowLine(m.Type), ErrOverflow)
			}
			answers = append(answers, answer)
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return answers, fmt.Errorf("collecting answers to %s: %w", text.ShowLine(m.Type), err)
		case sub.Lost() > 0:
			return answers, fmt.Errorf("collecting answers to %s: %w", text.ShowLine(m.Type), ErrOverflow)
		default:
			return answers, nil
		}
	}
}

// What is kept of answers to one request: anyone on a bus can answer, and as
// often as they like.
const (
	maxCollected      = 4096
	maxCollectedBytes = 64 << 20
)

// expect marks a request and subscribes to its answers.
func (c *Client) expect(m Message, a Answer) (Message, *Subscription) {
	id := rand.Text()
	m = m.With(CorrelationKey, jsontext.Quote(id))
	f := Filter{Types: slices.Clone(a.Types), Match: a.Match}
	if len(f.Types) == 0 {
		f.Types = []string{m.Type + ".response"}
	}
	if !a.Loose {
		return m, c.subscribe(f, id)
	}
	f.Match = func(answer Message) bool {
		if _, marked := answer.Context[CorrelationKey]; marked && answer.Text(CorrelationKey) != id {
			return false
		}
		return a.Match == nil || a.Match(answer)
	}
	return m, c.subscribe(f, "")
}

func (c *Client) breaks() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}
