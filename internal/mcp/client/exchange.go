package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// errAnswer says that what a server answered is no answer of the protocol.
var errAnswer = errors.New("the server's answer is none of MCP")

const (
	resumeWait      = time.Second           // before a stream is taken up again, if the server says nothing
	minResumeWait   = 20 * time.Millisecond // whatever the server says
	maxResumes      = 5                     // to take a stream up again, without anything coming
	maxEmptyStreams = 10                    // streams taken up again that end without anything new
)

// exchange is one request over HTTP and its answer.
type exchange struct {
	*httpLink
	call    *activeCall
	request *request
	id      json.RawMessage
	ctx     context.Context
	cancel  context.CancelCauseFunc
	posted  bool           // it may have reached the server
	left    *http.Response // a stream that has given its answer and has not ended
}

func (x *exchange) run() (json.RawMessage, error) {
	r := x.request
	m := mcp.Message{ID: x.id, Method: r.method, Params: r.params}
	text, err := m.Append(make([]byte, 0, 128+len(r.params)))
	if err != nil {
		return nil, err
	}
	h := make(http.Header, 8)
	if r.version != "" {
		if err := r.headers(h); err != nil {
			return nil, err
		}
	} else if r.method != mcp.MethodInitialize {
		x.httpLink.headers(h)
	}
	resp, err := x.endpoint.roundTrip(x.ctx, http.MethodPost, x.endpoint.url, text, h, func() {
		x.posted = true
		if r.id != nil {
			r.id(x.id)
		}
		if r.sent != nil {
			r.sent()
		}
	})
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer discardBody(resp)
		if resp.StatusCode/100 == 2 {
			return nil, fmt.Errorf("%w: status %d to a request", errAnswer, resp.StatusCode)
		}
		return nil, x.refused(resp)
	}
	if r.method == mcp.MethodInitialize {
		defer x.noteSession(resp)
	}
	switch k := contentType(resp); k {
	case "application/json":
		defer discardBody(resp)
		text, err := x.endpoint.read(resp)
		if err != nil {
			return nil, err
		}
		return x.readText(text)
	case "text/event-stream":
		return x.followStream(resp)
	default:
		discardBody(resp)
		return nil, fmt.Errorf("%w: its content type is %q", errAnswer, printable(k))
	}
}

// noteSession takes the session that a legacy server has begun.
func (x *exchange) noteSession(resp *http.Response) {
	id := resp.Header.Get("Mcp-Session-Id")
	if len(id) > 4096 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.httpLink.id = id
}

// readText reads an answer that is one text: a message, or a batch of them, which
// the version of March 2025 allows.
func (x *exchange) readText(text []byte) (json.RawMessage, error) {
	texts := []json.RawMessage{text}
	if i := jsontext.SkipSpace(text, 0); i < len(text) && text[i] == '[' {
		texts = nil
		if err := json.Unmarshal(text, &texts); err != nil {
			return nil, fmt.Errorf("%w: %w", errAnswer, err)
		}
	}
	var last error
	for _, text := range texts {
		m, err := mcp.Parse(text)
		if err != nil {
			last = err
			continue
		}
		if x.dispatch(m) {
			return result(m)
		}
	}
	if last != nil {
		return nil, fmt.Errorf("%w: %s", errAnswer, last.Error())
	}
	return nil, fmt.Errorf("%w: it is not the one to the request", errAnswer)
}

func result(m *mcp.Message) (json.RawMessage, error) {
	if m.Error != nil {
		return nil, m.Error
	}
	return m.Result, nil
}

// dispatch sorts a message; true: it is the answer.
func (x *exchange) dispatch(m *mcp.Message) bool {
	if !m.IsAnswer() {
		x.httpLink.dispatch(x.ctx, x.call, m)
		return false
	}
	return bytes.Equal(m.ID, x.id)
}

// followStream reads the stream of an answer, taking it up again where the server
// has said that it can be.
func (x *exchange) followStream(resp *http.Response) (json.RawMessage, error) {
	last, wait := "", resumeWait
	failed, empty := 0, 0
	for {
		m, in, err := x.stream(resp)
		if m != nil {
			return result(m)
		}
		if empty++; in.last != "" && in.last != last {
			last, failed, empty = in.last, 0, 0
		}
		if empty > maxEmptyStreams {
			return nil, fmt.Errorf("the server ended the stream %d times without anything new: %w", empty, err)
		}
		if in.retry >= 0 {
			wait = max(in.retry, minResumeWait)
		}
		if errors.Is(err, mcp.ErrTooLong) {
			return nil, x.session.tooLong()
		}
		if x.ctx.Err() != nil {
			return nil, context.Cause(x.ctx)
		}
		if last == "" || x.request.version != "" {
			return nil, fmt.Errorf("the server ended the stream before its answer: %w", err)
		}
		for resp = nil; resp == nil; {
			// One that ends again and again is asked less and less often.
			if err := pause(x.ctx, wait<<min(empty, 4)); err != nil {
				return nil, err
			}
			if resp, err = x.resume(x.ctx, last); err == nil { //nolint:bodyclose // stream does
				break
			}
			if _, final := errors.AsType[*statusError](err); final || x.ctx.Err() != nil || x.httpLink.err() != nil {
				return nil, err
			}
			if failed++; failed == maxResumes {
				return nil, fmt.Errorf("the stream of the answer is lost: %w", err)
			}
		}
	}
}

// stream reads one answer of HTTP until the message that is waited for.
func (x *exchange) stream(resp *http.Response) (*mcp.Message, *events, error) {
	in := readEvents(resp.Body, x.session.config.Most)
	for {
		m, err := in.message(x.session.config.Log)
		if err != nil {
			_ = resp.Body.Close() // it has ended or cannot be read
			return nil, in, err
		}
		if x.dispatch(m) {
			x.left = resp
			return m, in, nil
		}
	}
}

// drain reads what follows the answer, which is mostly the end of the stream.
func (x *exchange) drain() {
	t := time.AfterFunc(time.Second, func() { x.cancel(nil) })
	defer t.Stop()
	_, _ = io.CopyN(io.Discard, x.left.Body, 64<<10) // it is nobody's
	_ = x.left.Body.Close()
}
