package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// peer is a server of the official library.
type peer struct {
	*sdk.Server
	cancelled chan string // calls that were, by tool
}

func newPeer() *peer {
	p := &peer{cancelled: make(chan string, 16)}
	p.Server = sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, &sdk.ServerOptions{
		Instructions:       "be kind",
		PageSize:           2,
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	loose := json.RawMessage(`{"type":"object"}`)
	text := func(s string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
	}
	p.AddTool(&sdk.Tool{Name: "echo", InputSchema: loose}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(string(req.Params.Arguments)), nil
	})
	p.AddTool(&sdk.Tool{Name: "steps", InputSchema: loose}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for i := range 3 {
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1), Total: 3}); err != nil {
				return nil, err
			}
		}
		return text("done"), nil
	})
	p.AddTool(&sdk.Tool{Name: "wait", InputSchema: loose}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		select {
		case <-ctx.Done():
			p.cancelled <- "wait"
			return nil, ctx.Err()
		case <-time.After(time.Minute):
			return text("too late"), nil
		}
	})
	p.AddTool(&sdk.Tool{Name: "hello", InputSchema: loose}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if a, ok := req.Params.InputResponses["who"].(*sdk.ElicitResult); ok {
			return text(fmt.Sprintf("hello %v %s", a.Content["name"], req.Params.RequestState)), nil
		}
		return &sdk.CallToolResult{RequestState: `a "state"`, InputRequests: sdk.InputRequestMap{
			"who": &sdk.ElicitParams{Message: "who?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}},
		}}, nil
	})
	p.AddTool(&sdk.Tool{Name: "region", InputSchema: json.RawMessage(`{"type":"object","properties":{"where":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`)},
		func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return text(req.Extra.Header.Get("Mcp-Param-Region") + "," + req.Extra.Header.Get("Mcp-Param-N")), nil
		})
	p.AddResource(&sdk.Resource{URI: "mem:a", Name: "a"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "mem:a", Text: "A"}}}, nil
	})
	return p
}

// program runs the server behind a pair of pipes, as a program would.
func (p *peer) program(t testing.TB) Stdio {
	return Stdio{Start: func(context.Context) (Process, error) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer outW.Close()
			_ = p.Run(ctx, &sdk.IOTransport{Reader: inR, Writer: outW})
		}()
		return Process{Stdin: inW, Stdout: outR, Done: done, Kill: cancel}, nil
	}}
}

// web serves it over HTTP.
func (p *peer) web(t testing.TB, opts *sdk.StreamableHTTPOptions) HTTP {
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.Server }, opts)
	return serve(t, h)
}

func (p *peer) sse(t testing.TB) HTTP {
	h := serve(t, sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return p.Server }, nil))
	return h
}

func serve(t testing.TB, h http.Handler) HTTP {
	s := httptest.NewServer(h)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		s.CloseClientConnections()
		s.Close()
	})
	return HTTP{URL: s.URL, Client: client}
}

// heard gathers what a session hears.
type heard struct {
	mu   sync.Mutex
	all  []string
	news chan string
}

func newHeard() *heard { return &heard{news: make(chan string, 64)} }

func (h *heard) changed(method string, params json.RawMessage) {
	h.mu.Lock()
	h.all = append(h.all, method+" "+string(params))
	h.mu.Unlock()
	select {
	case h.news <- method:
	default:
	}
}

func (h *heard) wait(t *testing.T, method string) {
	t.Helper()
	for {
		select {
		case m := <-h.news:
			if m == method {
				return
			}
		case <-time.After(20 * time.Second):
			h.mu.Lock()
			all := strings.Join(h.all, "; ")
			h.mu.Unlock()
			t.Fatalf("no %s came, only %s", method, all)
		}
	}
}

const canBeAsked = `{"elicitation":{"form":{}},"sampling":{},"roots":{}}`

func open(t testing.TB, cfg Config) *Session {
	t.Helper()
	if cfg.Info == nil {
		cfg.Info = json.RawMessage(`{"name":"test","version":"1"}`)
	}
	if cfg.Capabilities == nil {
		cfg.Capabilities = json.RawMessage(canBeAsked)
	}
	s, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func call(t testing.TB, s *Session, tool, arguments string) string {
	t.Helper()
	result, err := s.Do(t.Context(), Call{Method: "tools/call", Params: json.RawMessage(`{"name":"` + tool + `","arguments":` + arguments + `}`)})
	if err != nil {
		t.Fatal(err)
	}
	return textOf(t, result)
}

func textOf(t testing.TB, result json.RawMessage) string {
	t.Helper()
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(result, &r); err != nil || len(r.Content) != 1 {
		t.Fatalf("%s: %v", result, err)
	}
	return r.Content[0].Text
}

// leaks checks at the end of a test that no goroutine of it is left.
func leaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		var now int
		for range 200 {
			if now = runtime.NumGoroutine(); now <= before {
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", before, now, buf[:runtime.Stack(buf, true)])
	})
}

// oldHTTP answers what is modern as a server does that never heard of it.
func oldHTTP(h http.Handler, status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") == mcp.Modern {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// The same journey over every transport, in both eras.
func TestJourney(t *testing.T) {
	streamable := func(p *peer, opts *sdk.StreamableHTTPOptions) http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.Server }, opts)
	}
	ways := []struct {
		name    string
		version string // as cached
		way     func(t *testing.T, p *peer) Transport
		want    string
	}{
		{"stdio modern", "", func(t *testing.T, p *peer) Transport { return p.program(t) }, mcp.Modern},
		{"stdio legacy", mcp.Legacy, func(t *testing.T, p *peer) Transport { return p.program(t) }, mcp.Legacy},
		{"http modern", "", func(t *testing.T, p *peer) Transport {
			return p.web(t, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
		}, mcp.Modern},
		{"http modern json", mcp.Modern, func(t *testing.T, p *peer) Transport {
			return p.web(t, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, PropagateRequestCancellation: true})
		}, mcp.Modern},
		{"http legacy cached", mcp.Legacy, func(t *testing.T, p *peer) Transport { return p.web(t, nil) }, mcp.Legacy},
		{"http legacy 400", "", func(t *testing.T, p *peer) Transport {
			return serve(t, oldHTTP(streamable(p, nil), 400, "Bad Request: unsupported version"))
		}, mcp.Legacy},
		{"http legacy 404", "", func(t *testing.T, p *peer) Transport { return serve(t, oldHTTP(streamable(p, nil), 404, "")) }, mcp.Legacy},
		{"http legacy error", "", func(t *testing.T, p *peer) Transport {
			return serve(t, oldHTTP(streamable(p, nil), 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}`))
		}, mcp.Legacy},
		{"http legacy supported", "", func(t *testing.T, p *peer) Transport {
			return serve(t, oldHTTP(streamable(p, nil), 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}`))
		}, mcp.Legacy},
		{"sse", "", func(t *testing.T, p *peer) Transport { h := p.sse(t); h.SSE = true; return h }, mcp.Legacy},
		{"sse found", "", func(t *testing.T, p *peer) Transport { return p.sse(t) }, mcp.Legacy},
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			leaks(t)
			p := newPeer()
			h := newHeard()
			s := open(t, Config{Transport: w.way(t, p), Version: w.version, Changed: h.changed})
			if got := s.Version(); got != w.want {
				t.Fatalf("version %s, want %s", got, w.want)
			}
			journey(t, s, p, h, strings.HasPrefix(w.name, "http modern json"))
		})
	}
}

func journey(t *testing.T, s *Session, p *peer, h *heard, oneAnswer bool) {
	capabilities, info, instructions := s.Server()
	if !strings.Contains(string(capabilities), "tools") || !strings.Contains(string(info), "peer") || instructions != "be kind" {
		t.Errorf("the server says %s %s %q", capabilities, info, instructions)
	}
	if got := call(t, s, "echo", `{"a":"ä\n"}`); got != `{"a":"ä\n"}` {
		t.Errorf("echo: %s", got)
	}
	// A list of several pages.
	var names []string
	_, err := s.List(t.Context(), "tools/list", "tools", func(item json.RawMessage) error {
		names = append(names, string(jsontext.Lookup(item, "name")))
		return nil
	})
	if got := strings.Join(names, " "); err != nil || got != `"echo" "hello" "region" "steps" "wait"` {
		t.Errorf("list: %s, %v", got, err)
	}
	// An error of the server.
	_, err = s.Do(t.Context(), Call{Method: "tools/call", Params: json.RawMessage(`{"name":"none"}`)})
	if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != mcp.CodeInvalidParams {
		t.Errorf("an unknown tool: %v", err)
	}
	if result, err := s.Do(t.Context(), Call{Method: "resources/read", Params: json.RawMessage(`{"uri":"mem:a"}`)}); err != nil || !strings.Contains(string(result), `"A"`) {
		t.Errorf("resource: %s %v", result, err)
	}
	if !oneAnswer { // which cannot carry any progress
		progress(t, s)
	}
	// A question.
	asked := 0
	result, err := s.Do(t.Context(), Call{Method: "tools/call", Params: json.RawMessage(`{"name":"hello","arguments":{}}`), Capabilities: json.RawMessage(canBeAsked),
		Ask: func(_ context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
			asked++
			answers := map[string]json.RawMessage{}
			for key, r := range requests {
				if r.Method != mcp.MethodElicit || !strings.Contains(string(r.Params), "who?") {
					return nil, fmt.Errorf("asked %s %s", r.Method, r.Params)
				}
				answers[key] = json.RawMessage(`{"action":"accept","content":{"name":"Ann"}}`)
			}
			return answers, nil
		}})
	if err != nil || asked != 1 || textOf(t, result) != `hello Ann a "state"` {
		t.Errorf("a question: %s %v, asked %d times", result, err, asked)
	}
	if _, err = s.Do(t.Context(), Call{Method: "tools/call", Params: json.RawMessage(`{"name":"hello","arguments":{}}`), Capabilities: json.RawMessage(canBeAsked)}); err == nil {
		t.Error("a question to nobody was answered")
	}
	// A call that is given up is given up there too.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		time.Sleep(100 * time.Millisecond)
		cancel()
	}()
	if _, err = s.Do(ctx, Call{Method: "tools/call", Params: json.RawMessage(`{"name":"wait","arguments":{}}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	select {
	case <-p.cancelled:
	case <-time.After(20 * time.Second):
		t.Error("the server was not told of the end of a call")
	}
	// Changes of lists.
	if err := s.Listen(t.Context(), []string{"mem:a"}); err != nil {
		t.Fatalf("listening: %v", err)
	}
	for range 50 { // the standing stream of a legacy server begins when it does
		p.AddTool(&sdk.Tool{Name: "new", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
		select {
		case m := <-h.news:
			if m != mcp.NotifyTools {
				t.Fatalf("heard %s", m)
			}
		case <-time.After(200 * time.Millisecond):
			continue
		}
		break
	}
	if err := p.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "mem:a"}); err != nil {
		t.Fatal(err)
	}
	h.wait(t, mcp.NotifyResource)
	if err := s.Listen(t.Context(), nil); err != nil {
		t.Fatalf("listening to less: %v", err)
	}
	select {
	case <-s.Done():
		t.Errorf("the session has ended: %v", s.Err())
	default:
	}
}

func progress(t *testing.T, s *Session) {
	var mu sync.Mutex
	steps, sent := 0, 0
	result, err := s.Do(t.Context(), Call{Method: "tools/call", Params: json.RawMessage(`{"name":"steps","arguments":{},"_meta":{"progressToken":"theirs","a.b/c":1}}`),
		Sent: func() { sent++ },
		Progress: func(json.RawMessage) {
			mu.Lock()
			defer mu.Unlock()
			steps++
		}})
	mu.Lock()
	defer mu.Unlock()
	if err != nil || textOf(t, result) != "done" || sent != 1 || steps != 3 {
		t.Errorf("progress: %s %v, sent %d, %d steps", result, err, sent, steps)
	}
}
