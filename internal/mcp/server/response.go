package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// response is the answer to a POST: plain JSON, or a stream of events as soon
// as anything has to be told before the result. It is the way to its client.
type response struct {
	messageWriter
	w         http.ResponseWriter
	control   *http.ResponseController
	sess      *session // nil in the modern era
	streaming bool     // of the messageWriter, and after it
}

func newResponse(w http.ResponseWriter, sess *session) *response {
	r := &response{w: w, control: http.NewResponseController(w), sess: sess}
	r.write = r.event
	return r
}

// writeFor is how long a client may take to read one message.
const writeFor = 30 * time.Second

// event writes a message of a stream; an empty one is a sign of life.
func (r *response) event(text []byte) error {
	if !r.streaming {
		r.streaming = true
		h := r.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no")
		r.w.WriteHeader(http.StatusOK)
	}
	// Not every writer has deadlines; the one of a server does.
	_ = r.control.SetWriteDeadline(time.Now().Add(writeFor))
	buf := make([]byte, 0, len(text)+32)
	if text == nil {
		buf = append(buf, ":\n\n"...)
	} else {
		buf = append(append(append(buf, "event: message\ndata: "...), text...), "\n\n"...)
	}
	if _, err := r.w.Write(buf); err != nil {
		return err
	}
	return r.control.Flush()
}

// comment shows that the stream is still there.
func (r *response) comment(ctx context.Context) { _ = r.writeText(ctx, nil) }

// ask makes a request of ours on this stream.
func (r *response) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if r.sess == nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "a client cannot be asked for anything in this request")
	}
	return r.sess.ask(ctx, &r.messageWriter, method, params)
}

// finish writes the result behind everything that was told.
func (r *response) finish(id, result json.RawMessage, err error, modern bool) {
	m := message(id, result, err)
	if !r.close() {
		code := http.StatusOK
		if modern {
			code = status(m.Error)
		}
		if _, full := errors.AsType[busyError](err); full {
			code = http.StatusServiceUnavailable
		}
		writeMessage(r.w, code, m)
		return
	}
	if text, err := m.Append(nil); err == nil {
		_ = r.event(text) // nobody is there to be told if it fails
	}
	_ = r.control.SetWriteDeadline(time.Time{}) // the connection may serve others
}

// stream tells of changes until ctx or the session ends.
func (r *response) stream(ctx context.Context, sess *session) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	err := r.event(nil) // headers now: the client waits for them
	for err == nil {
		select {
		case <-sess.heard.wake:
			for _, n := range sess.heard.drain() {
				if err == nil {
					err = ctx.Err()
				}
				if err == nil {
					err = r.change(n)
				}
				if err != nil {
					sess.heard.add(n) // for the stream that the client opens next
				}
			}
		case <-tick.C:
			err = r.event(nil)
		case <-sess.ctx.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (r *response) change(n note) error {
	text, err := (&mcp.Message{Method: n.method, Params: n.params}).Append(nil)
	if err != nil {
		return err
	}
	return r.event(text)
}

// writeMessage answers with plain JSON.
func writeMessage(w http.ResponseWriter, code int, m *mcp.Message) {
	text, err := m.Append(make([]byte, 0, 64+len(m.ID)+len(m.Result)))
	if err != nil { // a result that is no JSON: the client must not wait for it
		text, code = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the result cannot be written"}}`), http.StatusInternalServerError
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(text) // nobody is there to be told if it fails
}
