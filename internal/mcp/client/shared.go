package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// sharedLink is a link over one stream that all calls share: the streams of a
// program, or HTTP with SSE.
type sharedLink struct {
	session *Session
	conn    *mcp.Conn
	why     func(err error) error // says more about an end; nil: there is no more
	bad     atomic.Int32

	last       lastRead
	unreadable atomic.Pointer[string] // the first line that is no message; nil: there was none
}

// shownFaults is how many unreadable messages of a server are written to the
// log: a server that writes its own log to its output has no end of them.
const shownFaults = 10

// newSharedLink begins a conversation.
func newSharedLink(s *Session, stream mcp.Stream, why func(error) error) *sharedLink {
	p := &sharedLink{session: s, why: why}
	p.conn = mcp.NewConn(s.ctx, sizeWatch{stream, s, &p.last}, mcp.Handler{
		Request: func(ctx context.Context, m *mcp.Message) (json.RawMessage, error) {
			return s.answerRequest(ctx, nil, m)
		},
		Notification: func(m *mcp.Message) {
			s.notified(nil, m)
		},
		Cancelled: s.unsubscribed,
		Late:      s.calls.answeredLate,
		Bad: func(err error) {
			if !errors.Is(err, mcp.ErrAnswering) {
				p.keepUnreadable(p.last.beginning())
			}
			if p.bad.Add(1) <= shownFaults {
				s.config.Log.Debug("a message of an MCP server could not be read", "error", err)
			}
		},
		Most:  16,
		Quiet: true,
	})
	s.background(func() {
		err := p.conn.Run()
		s.config.Log.Debug("an MCP server has ended the conversation", "error", err)
		if err := p.conn.Close(); err != nil {
			s.config.Log.Debug("closing the conversation with an MCP server", "error", err)
		}
	})
	return p
}

// sizeWatch ends the calls under way when the server sends more than is taken:
// whose answer it was is in what was not kept.
type sizeWatch struct {
	mcp.Stream
	session *Session
	last    *lastRead // where its beginning is kept, in case that it is no message
}

func (z sizeWatch) Read() ([]byte, error) {
	text, err := z.Stream.Read()
	z.last.keep(text)
	if errors.Is(err, mcp.ErrTooLong) {
		z.session.calls.stopAll(z.session.tooLong())
	}
	return text, err
}

func (s *Session) tooLong() error {
	return tooLong(s.config.Most)
}

// tooLong says what the limit is, and what sets it.
func tooLong(most int) error {
	return fmt.Errorf("%w: the server sent a message of more than %d bytes (limits.output: twice as much can be received, and never less than 16 MiB)", mcp.ErrTooLong, most)
}

func (p *sharedLink) request(ctx context.Context, _ *activeCall, r *request) (json.RawMessage, error) {
	sent := func(id json.RawMessage) {
		if r.id != nil {
			r.id(id)
		}
		if r.sent != nil {
			r.sent()
		}
	}
	if !r.keep {
		result, err := p.conn.Call(ctx, r.method, r.params, sent)
		return result, p.explain(err)
	}
	type answer struct {
		result json.RawMessage
		err    error
	}
	answered := make(chan answer, 1)
	p.session.background(func() {
		// Ends with the conversation at the latest.
		result, err := p.conn.Call(context.WithoutCancel(ctx), r.method, r.params, sent)
		answered <- answer{result, err}
	})
	select {
	case a := <-answered:
		return a.result, p.explain(a.err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// explain says of an end what is known of it.
func (p *sharedLink) explain(err error) error {
	if err != nil && p.why != nil && errors.Is(err, mcp.ErrClosed) {
		return p.why(err)
	}
	return err
}

func (p *sharedLink) notify(ctx context.Context, method string, params json.RawMessage) error {
	return p.explain(p.conn.Notify(ctx, method, params))
}

func (p *sharedLink) done() <-chan struct{} { return p.conn.Done() }
func (p *sharedLink) err() error            { return p.explain(p.conn.Err()) }
func (p *sharedLink) close() error          { return p.conn.Close() }
