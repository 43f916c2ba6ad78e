package telemetry

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
	"github.com/toolcrib/toolcrib/internal/trace"
)

// collector is the other side: it keeps what it was sent.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []otlpSpan
	headers []http.Header
	answer  func(w http.ResponseWriter) // nil: it takes everything
}

func newCollector(t *testing.T, answer func(http.ResponseWriter)) *collector {
	c := &collector{answer: answer}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got otlpRequest
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &got) != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		c.headers = append(c.headers, r.Header)
		for _, res := range got.Resources {
			for _, s := range res.Scopes {
				c.spans = append(c.spans, s.Spans...)
			}
		}
		c.mu.Unlock()
		if c.answer != nil {
			c.answer(w)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) all() []otlpSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

func (c *collector) target(log *slog.Logger) Target {
	return Target{URL: c.URL + "/v1/traces", Service: "test", Client: c.Client(), Log: log}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func someSpan(p places) *span {
	return &span{at: p.fresh(trace.Context{}), name: "x", kind: kindInternal, start: time.Now(), end: time.Now()}
}

func TestExporterSendsAtTheEnd(t *testing.T) {
	c := newCollector(t, nil)
	e, p := NewExporter(c.target(quiet())), newPlaces(1)
	for range maxBatch + 10 {
		e.put(someSpan(p))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.all()); n != maxBatch+10 || e.sent.Load() != uint64(n) || e.dropped.Load() != 0 {
		t.Errorf("%d came, %d were sent, %d dropped", n, e.sent.Load(), e.dropped.Load())
	}
	e.put(someSpan(p)) // it has ended
	if e.dropped.Load() != 1 {
		t.Error("a span after the end is not counted as dropped")
	}
}

// A collector that never answers holds nobody up, and what is lost is counted and
// said once.
func TestExporterNeverBlocks(t *testing.T) {
	hold := make(chan struct{})
	c := newCollector(t, func(http.ResponseWriter) { <-hold })
	defer close(hold)
	var said atomic.Int32
	log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) { said.Add(1); return len(b), nil }), nil))
	e, p := NewExporter(c.target(log)), newPlaces(1)
	for range 4 * maxQueue {
		e.put(someSpan(p))
	}
	if d := e.dropped.Load(); d < 2*maxQueue {
		t.Errorf("only %d were dropped", d)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e.sent.Load() != 0 || said.Load() != 1 {
		t.Errorf("%d were sent, and it was said %d times", e.sent.Load(), said.Load())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// Spans with texts are bounded by their size.
func TestQueueIsBoundedInBytes(t *testing.T) {
	e, p := &Exporter{wake: make(chan struct{}, 1)}, newPlaces(1)
	e.to.Log = quiet()
	for range maxQueue {
		s := someSpan(p)
		s.say("gen_ai.tool.call.result", strings.Repeat("x", 64<<10))
		e.put(s)
	}
	if e.bytes > maxQueueBytes || e.dropped.Load() == 0 {
		t.Errorf("%d bytes wait, %d are dropped", e.bytes, e.dropped.Load())
	}
	if batch, _ := e.take(); len(batch) == 0 || len(batch) > maxBatchBytes/(64<<10) {
		t.Errorf("%d at once", len(batch))
	}
}

func TestCheckSaysWhatHelps(t *testing.T) {
	for _, c := range []struct {
		answer func(http.ResponseWriter)
		want   string
	}{
		{nil, ""},
		{func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, "telemetry.traces.headers"},
		{func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, "4318"},
		{func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/steal")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "telemetry.traces.endpoint"},
	} {
		to := newCollector(t, c.answer).target(quiet())
		to.Client = Client(http.DefaultTransport)
		switch err := to.Check(t.Context()); {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("got %v, want something about %s", err, c.want)
		}
	}
}

func TestPartialSuccessIsCounted(t *testing.T) {
	c := newCollector(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"2"}}`) })
	e, p := NewExporter(c.target(quiet())), newPlaces(1)
	for range 5 {
		e.put(someSpan(p))
	}
	if err := e.Close(); err != nil || e.sent.Load() != 3 || e.dropped.Load() != 2 {
		t.Errorf("%d sent, %d dropped, %v", e.sent.Load(), e.dropped.Load(), err)
	}
}

func TestTarget(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Settings
		env  map[string]string
		want string // the address, or a part of the error after !
	}{
		{"the default", Settings{}, nil, "http://localhost:4318/v1/traces"},
		{"settings", Settings{Endpoint: "http://127.0.0.1:4318"}, nil, "http://127.0.0.1:4318/v1/traces"},
		{"settings with a path", Settings{Endpoint: "https://x.example/otlp/v1/traces"}, nil, "https://x.example/otlp/v1/traces"},
		{"a variable", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://x.example/otlp"}, "https://x.example/otlp/v1/traces"},
		{"a variable for traces", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://x.example/t"}, "https://x.example/t"},
		{"settings before variables", Settings{Endpoint: "https://own.example"}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://x.example"}, "https://own.example/v1/traces"},
		{"gRPC", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "!gRPC"},
		{"no address", Settings{Endpoint: "localhost:4318"}, nil, "!no address"},
		{"a password in it", Settings{Endpoint: "https://me:pw@x.example"}, nil, "!password"},
		{"headers in the clear", Settings{Endpoint: "http://x.example", Headers: map[string]string{"A": "b"}}, nil, "!https"},
		{"texts in the clear", Settings{Endpoint: "http://10.0.0.1:4318", Content: true}, nil, "!https"},
		{"nothing secret in the clear", Settings{Endpoint: "http://10.0.0.1:4318"}, nil, "http://10.0.0.1:4318/v1/traces"},
		{"the headers of the settings go nowhere else", Settings{Headers: map[string]string{"A": "b"}}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://evil.example"}, "!endpoint"},
		{"a name that is none", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a secret=x"}, "!OTEL_EXPORTER_OTLP_HEADERS"},
		{"two headers in one", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=secret%0d%0aHost: x"}, "!OTEL_EXPORTER_OTLP_HEADERS"},
		{"a bad list", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "secret"}, "!OTEL_EXPORTER_OTLP_HEADERS"},
	} {
		c.s.Getenv = func(name string) string { return c.env[name] }
		to, _, err := c.s.Target()
		if part, bad := strings.CutPrefix(c.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v", c.name, err)
			}
		} else if err != nil || to.URL != c.want {
			t.Errorf("%s: got %s, %v", c.name, to.URL, err)
		}
	}
	env := map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20x,a=b", "OTEL_SERVICE_NAME": "crib", "OTEL_RESOURCE_ATTRIBUTES": "service.name=no,deployment.environment=prod"}
	to, fixed, err := Settings{Getenv: func(n string) string { return env[n] }}.Target()
	if err != nil || fixed.Get("Authorization") != "Bearer x" || to.Service != "crib" || len(to.Resource) != 1 || to.Resource[0][1] != "prod" {
		t.Errorf("got %+v, %v, %v", to, fixed, err)
	}
}

// FuzzTarget: whatever the variables say, headers that are sent are ones that HTTP
// has, not in the clear over a network, and no error tells their values. A list that
// is written as it should be is read as it was meant.
func FuzzTarget(f *testing.F) {
	f.Add("http://127.0.0.1:4318", "authorization", "Bearer x=y, z", "a=b")
	f.Add("http://collector.example", "X-Key", "%2C", "service.name=no,x=%zz")
	f.Add("https://u:p@collector.example/", "a b", "1\r\n2", ",,=,")
	f.Add("localhost:4318", "", "\xff", "")
	f.Fuzz(func(t *testing.T, endpoint, name, value, more string) {
		written := name + "=" + url.PathEscape(value)
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_HEADERS": written, "OTEL_RESOURCE_ATTRIBUTES": more}
		to, fixed, err := Settings{Getenv: func(name string) string { return env[name] }}.Target()
		if err != nil {
			if long := len(value) > 8 && !strings.Contains(endpoint+name+more, value); long && strings.Contains(err.Error(), value) {
				t.Errorf("%q of %q is told: %v", value, written, err)
			}
			return
		}
		where, err := url.Parse(to.URL)
		if err != nil || where.User != nil || where.Host == "" {
			t.Fatalf("%q became %q, %v", endpoint, to.URL, err)
		}
		if len(fixed) > 0 && where.Scheme != "https" && !plainaddr.IsLoopback(where.Hostname()) {
			t.Errorf("headers go to %q", to.URL)
		}
		sent := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", nil)
		sent.Header = fixed
		var wire bytes.Buffer
		if err := sent.Write(&wire); err != nil {
			t.Fatal(err)
		}
		got, err := http.ReadRequest(bufio.NewReader(&wire))
		if err != nil {
			t.Fatalf("%q: a server cannot read it: %v", written, err)
		}
		for key := range fixed {
			if h := got.Header.Get(key); key != "Host" && key != "User-Agent" && h != strings.TrimSpace(fixed.Get(key)) {
				t.Errorf("%s: %q arrives as %q", key, fixed.Get(key), h)
			}
		}
		if clean := !strings.ContainsAny(name, ",="); clean && fixed.Get(strings.TrimSpace(name)) != value && strings.TrimSpace(name) != "" {
			t.Errorf("%q is read as %q", written, fixed)
		}
	})
}
