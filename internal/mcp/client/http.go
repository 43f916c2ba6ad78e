package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// httpLink is a link over HTTP where every request is a POST of its own, in both
// eras.
type httpLink struct {
	session  *Session
	endpoint *endpoint
	next     atomic.Int64
	ctx      context.Context // of the link; its cause is why it has ended
	stop     context.CancelCauseFunc
	standing *standing // nil: there is no standing stream

	mu      sync.Mutex
	id      string                        // of the session of a legacy server; empty: it has none
	serving map[string]context.CancelFunc // requests of the server, by ID
}

// closingTime bounds what is sent when nobody waits for an answer.
const closingTime = 2 * time.Second

func newHTTPLink(s *Session, d *endpoint) *httpLink {
	w := &httpLink{session: s, endpoint: d, serving: map[string]context.CancelFunc{}}
	w.ctx, w.stop = context.WithCancelCause(s.ctx)
	return w
}

func (t HTTP) connect(ctx context.Context, s *Session) error {
	d, err := t.endpoint(s.config.Most)
	if err != nil {
		return err
	}
	if t.SSE {
		return connectSSE(ctx, s, d)
	}
	w := newHTTPLink(s, d)
	err = w.negotiate(ctx)
	if err == nil {
		if !mcp.IsModern(s.Version()) {
			own := &standing{open: make(chan struct{}), since: time.Now()}
			w.standing = own
			s.background(func() { w.holdStream(own) })
		}
		return nil
	}
	err = errors.Join(err, w.close())
	if status, ok := errors.AsType[*statusError](err); !ok || !status.mayBeOlder() || ctx.Err() != nil {
		return err
	}
	if old := connectSSE(ctx, s, d); old != nil {
		return fmt.Errorf("%w; nor does the server have the older transport: %w", err, old)
	}
	return nil
}

// negotiate finds out the era, beginning with the one that was found before.
func (w *httpLink) negotiate(ctx context.Context) error {
	s := w.session
	var first error
	if legacy(s.config.Version) {
		if first = w.initialize(ctx); first == nil || ctx.Err() != nil {
			return first
		}
	}
	err := s.discover(ctx, w)
	switch {
	case !errors.Is(err, errLegacy):
		return err
	case first != nil:
		return first
	}
	return w.initialize(ctx)
}

func (w *httpLink) initialize(ctx context.Context) error {
	err := w.session.initialize(ctx, w)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.id = "" // what comes next belongs to no session
		w.session.setServer(nil, "", nil, nil, "")
	}
	return err
}

// request posts a request and waits for its answer.
func (w *httpLink) request(ctx context.Context, f *activeCall, r *request) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.method == mcp.MethodToolsCall {
		w.standing.await(ctx)
	}
	if err := w.err(); err != nil {
		return nil, err
	}
	// The request outlives this call by what is left of its answer, so that the
	// connection can be used again.
	flow, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	unhookEnd := context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })
	x := &exchange{httpLink: w, call: f, request: r, ctx: flow, cancel: cancel}
	x.id = strconv.AppendInt(nil, w.next.Add(1), 10)
	result, err := x.run()
	unhook()
	if x.left == nil {
		unhookEnd()
		cancel(nil)
	} else {
		finish := func() {
			x.drain()
			unhookEnd()
			cancel(nil)
		}
		if !w.session.background(finish) {
			finish() // which is soon, everything has ended
		}
	}
	if err == nil {
		return result, nil
	}
	if ctx.Err() != nil {
		if r.version == "" && !r.keep && x.posted {
			w.cancelled(ctx, x.id)
		}
		return nil, ctx.Err()
	}
	if gone := w.err(); gone != nil && errors.Is(err, context.Canceled) {
		return nil, gone
	}
	return nil, err
}

// cancelled tells a legacy server that nobody waits for a request: closing the
// answer says nothing there.
func (w *httpLink) cancelled(ctx context.Context, id json.RawMessage) {
	reason := "cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = "out of time"
	}
	params := fmt.Appendf(nil, `{"requestId":%s,"reason":%q}`, id, reason)
	w.session.background(func() {
		ctx, cancel := context.WithTimeout(w.ctx, closingTime)
		defer cancel()
		if err := w.notify(ctx, mcp.NotifyCancelled, params); err != nil {
			w.session.config.Log.Debug("telling an MCP server that a call is cancelled", "error", err)
		}
	})
}

func (w *httpLink) notify(ctx context.Context, method string, params json.RawMessage) error {
	return w.send(ctx, &mcp.Message{Method: method, Params: params})
}

// send posts a message that has no answer.
func (w *httpLink) send(ctx context.Context, m *mcp.Message) error {
	text, err := m.Append(nil)
	if err != nil {
		return err
	}
	h := http.Header{}
	w.headers(h)
	if version := w.session.Version(); mcp.IsModern(version) {
		h["Mcp-Protocol-Version"] = []string{version}
		h["Mcp-Method"] = []string{m.Method}
	}
	resp, err := w.endpoint.roundTrip(ctx, http.MethodPost, w.endpoint.url, text, h, nil)
	if err != nil {
		return err
	}
	defer discardBody(resp)
	if resp.StatusCode/100 != 2 {
		return w.refused(resp)
	}
	return nil
}

// headers are those of a legacy session.
func (w *httpLink) headers(h http.Header) {
	if version := w.session.Version(); legacy(version) {
		h["Mcp-Protocol-Version"] = []string{version}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.id != "" {
		h["Mcp-Session-Id"] = []string{w.id}
	}
}

// refused reads an answer that is no success. With the session of a legacy
// server everything ends.
func (w *httpLink) refused(resp *http.Response) error {
	err := w.endpoint.status(resp)
	w.mu.Lock()
	inSession := w.id != "" && legacy(w.session.Version())
	w.mu.Unlock()
	if resp.StatusCode == http.StatusNotFound && inSession {
		w.stop(fmt.Errorf("%w: the server has ended the session: %w", mcp.ErrClosed, err))
		return w.err()
	}
	return err
}

func (w *httpLink) done() <-chan struct{} { return w.ctx.Done() }

func (w *httpLink) err() error {
	cause := context.Cause(w.ctx)
	if cause == nil || errors.Is(cause, mcp.ErrClosed) {
		return cause
	}
	return fmt.Errorf("%w: closed on this side", mcp.ErrClosed)
}

// close ends everything under way and the session of a legacy server.
func (w *httpLink) close() error {
	gone := errors.Is(context.Cause(w.ctx), mcp.ErrClosed) // already
	w.stop(fmt.Errorf("%w: closed on this side", mcp.ErrClosed))
	h := http.Header{}
	w.headers(h)
	if gone || h["Mcp-Session-Id"] == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), closingTime)
	defer cancel()
	resp, err := w.endpoint.roundTrip(ctx, http.MethodDelete, w.endpoint.url, nil, h, nil)
	if err != nil {
		w.session.config.Log.Debug("ending the session of an MCP server", "error", err)
		return nil // the server's memory is its own; here everything has ended
	}
	discardBody(resp)
	return nil
}

// sameOrigin reports whether two addresses are of the same server.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }
