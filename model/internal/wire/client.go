package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/model"
)

// Client sends the requests of an adapter.
type Client struct {
	model.Endpoint
	// Sign puts a key into the head of a request.
	Sign func(h http.Header, key string)
}

// New checks an endpoint and fills in what it leaves open.
func New(e model.Endpoint, base string, sign func(http.Header, string)) (*Client, error) {
	if e.BaseURL == "" {
		e.BaseURL = base
	}
	u, err := url.Parse(e.BaseURL)
	switch {
	case err != nil:
		return nil, errors.New("base_url cannot be read as an address: write it as https://host/v1")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, errors.New("base_url must begin with http:// or https:// and a host, as in https://host/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("base_url may have no user, password, ? or #: put the key where keys belong, it is sent in a header")
	case e.Model == "":
		return nil, errors.New("the name of the model is missing")
	}
	e.BaseURL = strings.TrimRight(e.BaseURL, "/")
	if e.HTTP == nil {
		e.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if e.Idle <= 0 {
		e.Idle = 3 * time.Minute
	}
	if e.Attempts <= 0 {
		e.Attempts = 4
	}
	if e.MaxWait <= 0 {
		e.MaxWait = time.Minute
	}
	if e.Pause == nil {
		e.Pause = pause
	}
	e.Traits.Name = e.Model
	return &Client{Endpoint: e, Sign: sign}, nil
}

// Host is the host that is asked.
func (c *Client) Host() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Reply is an answer that is being read.
type Reply struct {
	Header http.Header
	Body   io.Reader // at most maxAnswer bytes
	// Stream is set if it is a stream of events.
	Stream bool
}

// Post sends one request and has read take its answer. An answer that is an error does
// not get to read.
func (c *Client) Post(ctx context.Context, path string, body any, read func(*Reply) error) error {
	text, err := marshal(body)
	if err != nil {
		return &model.Error{Kind: model.BadRequest, Message: "the request cannot be written as JSON: " + err.Error(), Err: err}
	}
	key := ""
	if c.Key != nil {
		if key, err = c.Key(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &model.Error{Kind: model.BadKey, Message: err.Error(), Err: err}
		}
	}
	err = c.send(ctx, path, text, key, read)
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	return withoutKey(err, key)
}

var errIdle = errors.New("nothing arrived for too long")

func (c *Client) send(ctx context.Context, path string, text []byte, key string, read func(*Reply) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(c.Idle, func() { cancel(errIdle) })
	defer idle.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.BaseURL+path, bytes.NewReader(text))
	if err != nil {
		return &model.Error{Kind: model.BadRequest, Message: "the address of the model's service cannot be used", Err: err}
	}
	for name, values := range c.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	if key != "" {
		c.Sign(req.Header, key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return c.unreached(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // all that counts was read
	in := &incoming{r: resp.Body, idle: idle, each: c.Idle, left: maxAnswer}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		said, _ := io.ReadAll(io.LimitReader(in, maxError)) // what came of it says enough
		return Refused(resp.StatusCode, resp.Header, said)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // an error: it is none
	err = read(&Reply{Header: resp.Header, Body: in, Stream: kind == "text/event-stream"})
	if context.Cause(ctx) == errIdle { //nolint:errorlint // it is that very value
		return c.silent()
	}
	if err == nil { // read to its end, the connection can be used again
		in.each = drainTime
		idle.Reset(drainTime)
		_, _ = io.Copy(io.Discard, io.LimitReader(in, drainBytes)) // the answer is there already
	}
	return err
}

// What comes behind the end of an answer is waited for so long, and so much of it read.
const (
	drainTime  = 50 * time.Millisecond
	drainBytes = 64 << 10
)

func (c *Client) silent() error {
	return &model.Error{Kind: model.Broken, Message: "the model's service has sent nothing for " + c.Idle.String() + "; models.NAME.timeout sets how long to wait", Err: errIdle}
}

// incoming bounds how much arrives, and notes when something does.
type incoming struct {
	r    io.Reader
	idle *time.Timer
	each time.Duration
	left int64
}

var errEndless = errors.New("the answer is larger than 64 MB")

func (i *incoming) Read(p []byte) (int, error) {
	if i.left <= 0 {
		return 0, errEndless
	}
	n, err := i.r.Read(p[:min(int64(len(p)), i.left)])
	if n > 0 {
		i.idle.Reset(i.each)
		i.left -= int64(n)
	}
	return n, err
}

// marshal writes JSON with characters as they are, which is shorter.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Whole reads an answer that is no stream.
func (r *Reply) Whole(v any) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return Cut(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &model.Error{Kind: model.Broken, Message: "the model's service answered with something that is not JSON: " + snippet(text), Err: err}
	}
	return nil
}

// Each reads a stream, event by event, until do says that it is enough. It reports
// whether do said so.
func (r *Reply) Each(do func(Event) (enough bool, err error)) (bool, error) {
	events := NewEvents(r.Body)
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, Cut(err)
		}
		if enough, err := do(e); enough || err != nil {
			return enough, err
		}
	}
}

// Decode reads the JSON of an event.
func Decode(e Event, v any) error {
	if err := json.Unmarshal(e.Data, v); err != nil {
		return &model.Error{Kind: model.Broken, Message: "the stream of the model's service has an event that cannot be read: " + snippet(e.Data), Err: err}
	}
	return nil
}
