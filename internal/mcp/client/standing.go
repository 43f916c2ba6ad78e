package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// dispatch sorts a message of a legacy server that is no answer. F is the call
// whose stream it came on, nil: the standing one.
func (w *httpLink) dispatch(ctx context.Context, f *activeCall, m *mcp.Message) {
	switch {
	case m.Method == mcp.NotifyCancelled && m.ID == nil:
		w.mu.Lock()
		cancel := w.serving[string(jsontext.Lookup(m.Params, "requestId"))]
		w.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case m.ID == nil:
		w.session.notified(f, m)
	default:
		w.serve(ctx, f, m)
	}
}

// serve answers a request of the server.
func (w *httpLink) serve(ctx context.Context, f *activeCall, m *mcp.Message) {
	if mcp.IsModern(w.session.Version()) {
		return // a modern server may not ask, and may not be answered
	}
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.ID)
	w.mu.Lock()
	_, twice := w.serving[id]
	full := len(w.serving) >= 16
	if !twice && !full {
		w.serving[id] = cancel
	}
	w.mu.Unlock()
	if twice || full {
		cancel()
		w.session.config.Log.Debug("a request of an MCP server is left out", "method", printable(m.Method), "twice", twice)
		return
	}
	begun := w.session.background(func() {
		defer cancel()
		answer := &mcp.Message{ID: m.ID}
		result, err := w.session.answerRequest(ctx, f, m)
		withdrawn := ctx.Err() != nil
		w.mu.Lock()
		delete(w.serving, id)
		w.mu.Unlock()
		if withdrawn {
			return
		}
		if answer.Result = result; err != nil {
			answer.Result, answer.Error = nil, mcp.ErrorOf(err)
		}
		if err := w.send(ctx, answer); err != nil {
			w.session.config.Log.Debug("answering a request of an MCP server", "error", err)
		}
	})
	if !begun {
		cancel()
	}
}

// resume opens a stream of the server, from after an event if one is given.
func (w *httpLink) resume(ctx context.Context, last string) (*http.Response, error) {
	h := http.Header{}
	w.headers(h)
	if last != "" {
		h["Last-Event-Id"] = []string{last}
	}
	resp, err := w.endpoint.roundTrip(ctx, http.MethodGet, w.endpoint.url, nil, h, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer discardBody(resp)
		if last == "" {
			return nil, w.endpoint.status(resp)
		}
		return nil, w.refused(resp)
	}
	if k := contentType(resp); k != "text/event-stream" {
		discardBody(resp)
		return nil, fmt.Errorf("%w: its content type is %q", errAnswer, printable(k))
	}
	return resp, nil
}

// standing is whether the standing stream of a legacy server is open. Many servers ask
// for something of a call on this stream, and what they send before it is open is
// lost: they wait for an answer, and the call for its time to run out.
type standing struct {
	open  chan struct{} // closed when it is, or when there is none
	once  sync.Once
	since time.Time // it is being opened
}

// openingTime is how long a call waits for it. Some servers do not answer before they
// have something to say.
const openingTime = time.Second

func (s *standing) opened() { s.once.Do(func() { close(s.open) }) }

// await waits until it is open.
func (s *standing) await(ctx context.Context) {
	if s == nil {
		return
	}
	select {
	case <-s.open:
		return
	default:
	}
	end := time.NewTimer(time.Until(s.since.Add(openingTime)))
	defer end.Stop()
	select {
	case <-s.open:
	case <-ctx.Done():
	case <-end.C:
		s.opened() // nobody waits again
	}
}

// holdStream holds the stream of a legacy server for what belongs to no call. A
// server that has none is none the worse.
func (w *httpLink) holdStream(own *standing) {
	last := ""
	for quiet := 0; ; quiet++ {
		resp, err := w.resume(w.ctx, last) //nolint:bodyclose // readStream does
		own.opened()
		wait := resumeWait << min(quiet, 6)
		switch {
		case err == nil:
			in := w.readStream(resp)
			if in.last != "" {
				last = in.last
			}
			if in.count > 0 {
				quiet, wait = 0, resumeWait
			}
			if in.retry >= 0 {
				wait = max(in.retry, minResumeWait)
			}
		case isStatus(err), errors.Is(err, errAnswer):
			w.session.config.Log.Debug("an MCP server has no stream of its own", "error", err)
			return
		}
		if pause(w.ctx, wait) != nil {
			return
		}
	}
}

// readStream reads a standing stream to its end.
func (w *httpLink) readStream(resp *http.Response) *events {
	in := readEvents(resp.Body, w.session.config.Most)
	defer func() { _ = resp.Body.Close() }() // it has ended
	for {
		m, err := in.message(w.session.config.Log)
		if err != nil {
			return in
		}
		if !m.IsAnswer() {
			w.dispatch(w.ctx, nil, m)
		}
	}
}
