package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// These bound what waits to be sent, and what is sent at once.
const (
	maxQueue      = 2048
	maxQueueBytes = 8 << 20
	maxBatch      = 512
	maxBatchBytes = 2 << 20
	sendEvery     = 5 * time.Second
	sendTime      = 10 * time.Second // of one attempt
	maxAttempts   = 3
	closeTime     = 3 * time.Second // for what is left at the end
)

// Target is where spans go, and in whose name.
type Target struct {
	URL string
	// Headers are asked for at every request: they may hold secrets, which can be
	// locked away or replaced meanwhile. Nil: none.
	Headers  func(context.Context) (http.Header, error)
	Service  string
	Version  string
	Resource [][2]string // further words about this program
	Client   *http.Client
	Log      *slog.Logger
}

// Exporter sends spans in the background. Whoever has one to send never waits:
// what the queue has no room for is dropped and counted.
type Exporter struct {
	to       Target
	resource []attr

	mu     sync.Mutex
	queue  []*span
	bytes  int
	closed bool
	told   bool // that spans are lost, until one is taken again

	sent, dropped atomic.Uint64
	wake          chan struct{} // there is a whole batch, or nothing more will come
	ctx           context.Context
	cancel        context.CancelFunc
	done          chan struct{}
}

// NewExporter starts to send. Close ends it.
func NewExporter(to Target) *Exporter {
	e := &Exporter{to: to, wake: make(chan struct{}, 1), done: make(chan struct{})}
	e.resource = []attr{{"service.name", to.Service}, {"service.version", to.Version}}
	for _, r := range to.Resource {
		e.resource = append(e.resource, attr{r[0], r[1]})
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	go e.run()
	return e
}

// put takes a span to be sent.
func (e *Exporter) put(s *span) {
	size := s.size()
	e.mu.Lock()
	if e.closed || len(e.queue) >= maxQueue || e.bytes+size > maxQueueBytes {
		first := !e.told && !e.closed
		e.told = true
		e.mu.Unlock()
		e.dropped.Add(1)
		if first {
			e.to.Log.Warn("traces: spans are dropped, since more come than the collector takes; toolcrib_spans_dropped_total counts them")
		}
		return
	}
	e.queue = append(e.queue, s)
	e.bytes += size
	full := len(e.queue) >= maxBatch || e.bytes >= maxBatchBytes
	e.mu.Unlock()
	if full {
		e.rouse()
	}
}

// ending: nobody waits at the end of the program for a collector to come back.
func (e *Exporter) ending() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

func (e *Exporter) rouse() {
	select {
	case e.wake <- struct{}{}:
	default: // it will look
	}
}

// take gives what is sent next, and whether that is all for now.
func (e *Exporter) take() (batch []*span, closed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	size := 0
	for _, s := range e.queue {
		if size += s.size(); len(batch) == maxBatch || len(batch) > 0 && size > maxBatchBytes {
			break
		}
		batch = append(batch, s)
		e.bytes -= s.size()
	}
	if e.queue = e.queue[len(batch):]; len(e.queue) == 0 {
		e.queue, e.bytes = nil, 0
	}
	return batch, e.closed
}

func (e *Exporter) run() {
	defer close(e.done)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-e.wake:
		}
		for {
			batch, closed := e.take()
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
			e.deliver(batch)
		}
	}
}

// deliver sends a batch, or drops it and says so once.
func (e *Exporter) deliver(batch []*span) {
	body, err := encode(e.resource, e.to.Version, batch)
	var refused uint64
	for attempt := 1; err == nil; attempt++ {
		var wait time.Duration
		if refused, wait, err = e.to.send(e.ctx, body); err == nil || wait < 0 || attempt == maxAttempts || e.ending() {
			break
		}
		if !sleep(e.ctx, max(wait, time.Duration(attempt)*time.Second)) {
			break
		}
		err = nil
	}
	if err == nil && refused == 0 {
		e.sent.Add(uint64(len(batch)))
		e.mu.Lock()
		e.told = false
		e.mu.Unlock()
		return
	}
	if err != nil {
		refused = uint64(len(batch))
	}
	refused = min(refused, uint64(len(batch)))
	e.dropped.Add(refused)
	e.sent.Add(uint64(len(batch)) - refused)
	e.mu.Lock()
	first := !e.told
	e.told = true
	e.mu.Unlock()
	if first {
		e.to.Log.Warn("traces: the collector did not take spans, and they are dropped; this is said once until it takes some", "spans", refused, "err", err)
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Close sends what is left, for a while.
func (e *Exporter) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.rouse()
	t := time.AfterFunc(closeTime, e.cancel)
	defer t.Stop()
	<-e.done
	e.cancel()
	return nil
}

// Check asks the collector whether it takes spans, with a request that has none.
func (t Target) Check(ctx context.Context) error {
	_, _, err := t.send(ctx, []byte(`{"resourceSpans":[]}`))
	return err
}

// errRefused is an answer that is none of success.
type errRefused struct{ status int }

func (e *errRefused) Error() string {
	text := fmt.Sprintf("the collector answered with status %d", e.status)
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; telemetry.traces.headers has to hold what it wants"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		text += "; this is not where it takes OTLP over HTTP (mostly port 4318, path /v1/traces)"
	case http.StatusUnsupportedMediaType, http.StatusBadRequest:
		text += "; it does not take OTLP as JSON"
	}
	return text
}

// send makes one request. refused is how many spans the collector did not want;
// wait is how long it asked to wait before the next attempt, negative: none helps.
func (t Target) send(ctx context.Context, body []byte) (refused uint64, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return 0, -1, err
	}
	if t.Headers != nil {
		headers, err := t.Headers(ctx)
		if err != nil {
			return 0, -1, fmt.Errorf("telemetry.traces.headers: %w", err)
		}
		maps.Copy(r.Header, headers)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := t.Client.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the address, which everybody knows who reads this
		}
		return 0, 0, err
	}
	defer func() { _ = resp.Body.Close() }() // there is nothing more in it for us
	said, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil && resp.StatusCode/100 == 2 {
		said = nil // it was taken, whatever it wanted to add
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return 0, time.Duration(min(max(after, 0), 30)) * time.Second, &errRefused{resp.StatusCode}
	}
	if resp.StatusCode/100 != 2 {
		return 0, -1, &errRefused{resp.StatusCode}
	}
	var partial struct {
		Partial struct {
			Rejected json.RawMessage `json:"rejectedSpans"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(said, &partial) != nil {
		return 0, 0, nil // an answer of another kind, such as none: it was taken
	}
	n, err := strconv.ParseUint(string(bytes.Trim(partial.Partial.Rejected, `"`)), 10, 64)
	if err == nil && n > 0 {
		return n, 0, nil
	}
	return 0, 0, nil
}

// errRedirect: a collector that sends elsewhere would have the headers sent there
// as well.
var errRedirect = errors.New("the collector sends elsewhere; set telemetry.traces.endpoint to where it is")

// Client is one that sends to nobody else than it was told.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
}
