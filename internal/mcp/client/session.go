package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/trace"
)

const (
	handshake = 30 * time.Second
	most      = 16 << 20
	rounds    = 16 // of input for one call
)

// link is an open way to a server. What has to be in a request is decided
// above it, which bytes carry it below.
type link interface {
	// request sends a request and waits for its answer.
	request(ctx context.Context, f *activeCall, r *request) (json.RawMessage, error)
	notify(ctx context.Context, method string, params json.RawMessage) error
	// done is closed when the way has ended; err says why.
	done() <-chan struct{}
	err() error
	close() error
}

// request is what goes over a link.
type request struct {
	method  string
	params  json.RawMessage
	version string            // modern: the version, for the headers; empty: legacy
	mirror  map[string]string // modern: arguments that are repeated in headers
	sent    func()
	// keep: nobody may tell the server that this request is cancelled
	keep bool
	// id hears the ID of the request before it is sent
	id func(id json.RawMessage)
}

// Session is a connection to a server. Its methods may be used at once.
type Session struct {
	config Config
	calls  activeCalls

	mu           sync.Mutex
	link         link
	version      string
	capabilities json.RawMessage
	info         json.RawMessage
	instructions string

	listening listening

	ctx     context.Context // of what goes on in the background
	cancel  context.CancelFunc
	running sync.WaitGroup
	ended   bool // nothing more begins; under mu
}

// Connect connects to a server and finds out what it speaks.
func Connect(ctx context.Context, cfg Config) (*Session, error) {
	if cfg.Transport == nil {
		return nil, errors.New("connecting: there is no transport")
	}
	if cfg.Handshake <= 0 {
		cfg.Handshake = handshake
	}
	if cfg.Most <= 0 {
		cfg.Most = most
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Session{config: cfg}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	limit, cancel := context.WithTimeoutCause(ctx, cfg.Handshake, fmt.Errorf("the server did not answer within %v", cfg.Handshake))
	defer cancel()
	if err := cfg.Transport.connect(limit, s); err != nil {
		err = errors.Join(err, s.end())
		if cause := context.Cause(limit); cause != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return s, nil
}

// Version is the version of the protocol in use; mcp.IsModern tells the era.
func (s *Session) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Server is what the server says of itself.
func (s *Session) Server() (capabilities, info json.RawMessage, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities, s.info, s.instructions
}

// Do makes a call. An error of the server is an *mcp.Error; mcp.ErrClosed is in
// the chain if the connection or the server's session has ended, and a new one
// can be made by Connect.
func (s *Session) Do(ctx context.Context, c Call) (json.RawMessage, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f := s.calls.begin(&c, stop)
	version, posted := s.Version(), false
	defer func() {
		if posted && ctx.Err() != nil { // the server may still be at it
			s.calls.abandon(f)
			return
		}
		s.calls.end(f)
	}()
	o := requestExtras{token: f.token}
	o.at, _ = trace.Of(ctx)
	r := request{method: c.Method, id: func(id json.RawMessage) {
		posted = true
		s.calls.sent(f, id)
	}, sent: c.Sent}
	if mcp.IsModern(version) {
		r.version, r.mirror = version, c.Mirror
		o.version, o.info, o.capabilities, o.logLevel = version, s.config.Info, c.Capabilities, c.LogLevel
	}
	for round := range rounds {
		var err error
		if r.params, err = o.params(c.Params); err != nil {
			return nil, err
		}
		result, err := s.link.request(ctx, f, &r)
		if err != nil {
			return nil, stopCause(ctx, err)
		}
		r.sent, posted = nil, false
		if !mcp.IsModern(version) {
			return result, nil
		}
		switch kind := jsontext.Lookup(result, "resultType"); string(kind) {
		case "", `"` + mcp.ResultComplete + `"`:
			return result, nil
		case `"` + mcp.ResultInput + `"`:
		default:
			return nil, fmt.Errorf("the server answered with a kind of result that is not known: %s", word(string(kind)))
		}
		if o.responses, o.state, err = s.answerRound(ctx, &c, result); err != nil {
			return nil, stopCause(ctx, err)
		}
		if o.responses == nil { // the server wants to be asked again, not at once
			if err := pause(ctx, time.Duration(50<<min(round, 5))*time.Millisecond); err != nil {
				return nil, stopCause(ctx, err)
			}
		}
	}
	return nil, fmt.Errorf("the server wants input for the %dth time", rounds)
}

// stopCause tells why a call was stopped, if it was not the caller who did.
func stopCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return cause
	}
	return err
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Done is closed when the connection has ended; Err says why.
func (s *Session) Done() <-chan struct{} { return s.link.done() }

// Err is why the connection has ended, nil while it has not.
func (s *Session) Err() error { return s.link.err() }

// Close ends the connection. Calls under way get mcp.ErrClosed.
func (s *Session) Close() error {
	s.cancel()
	return errors.Join(s.link.close(), s.end())
}

// background does something beside the calls; false: everything has ended.
func (s *Session) background(do func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.running.Go(do)
	return true
}

// end waits for what goes on in the background, but not for ever: a program
// may hold on to something that only its end gives free.
func (s *Session) end() error {
	s.cancel()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	quiet := make(chan struct{})
	go func() {
		s.running.Wait()
		close(quiet)
	}()
	if !within(quiet, 2*exitTime) {
		return errors.New("closing: something of the server does not end")
	}
	return nil
}

// word is a short word of a server, such as a version. A model reads it as a part
// of our own sentence, so that there is no room in it for one of the server's.
func word(text string) string {
	for i, r := range text {
		if i >= 24 || r <= ' ' || r > '~' {
			return printable(text[:i]) + "…"
		}
	}
	return text
}

// printable is what a server wrote, fit for an error text.
func printable(text string) string {
	const longest = 200
	out := make([]rune, 0, min(len(text), longest))
	for _, r := range text {
		if len(out) == longest {
			return string(out) + "…"
		}
		if r < ' ' || r == 0x7f || r == '\ufffd' || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
