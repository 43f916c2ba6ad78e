package server

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
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
)

// over connects the official library's client over HTTP.
func over(t *testing.T, url, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "window", Version: "1"}, opts).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// Everything there is, seen by the official library in both eras, over both
// transports.
func TestOfficialClient(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		s, p := newStore(t, asker())
		web := httptest.NewServer(s.Handler())
		t.Cleanup(web.Close)
		for _, transport := range []string{"stdio", "http"} {
			updated, changed := make(chan string, 500), make(chan struct{}, 500)
			opts := &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return accept(map[string]any{"who": "you"})
				},
				ResourceUpdatedHandler: func(ctx context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
					select {
					case updated <- r.Params.URI:
					case <-t.Context().Done():
					}
				},
				PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) {
					select {
					case changed <- struct{}{}:
					case <-t.Context().Done():
					}
				},
			}
			t.Run(transport, func(t *testing.T) {
				session := (*mcp.ClientSession)(nil)
				if transport == "stdio" {
					session = dial(t, s, version, opts)
				} else {
					session = over(t, web.URL, version, opts)
				}
				officialClient(t, session, p, updated, changed)
			})
		}
	})
}

func officialClient(t *testing.T, session *mcp.ClientSession, p *pantry, updated chan string, changed chan struct{}) {
	ctx := t.Context()
	if got := strings.Join(names(t, session), " "); got != "asker count open wait" {
		t.Errorf("tools %s", got)
	}
	if r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "open"}); err != nil || len(r.Content) != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "asker", Arguments: json.RawMessage(`{"a":{"method":"elicitation/create","params":{"message":"a?","requestedSchema":{"type":"object","properties":{"who":{"type":"string"}}}}}}`)})
	if err != nil || r.IsError || !strings.Contains(fmt.Sprint(r.StructuredContent), "who:you") {
		t.Errorf("%+v, %v", r, err)
	}
	// Asked for as servers do, without parameters.
	if r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "asker", Arguments: json.RawMessage(`{"a":{"method":"roots/list"}}`)}); err != nil || r.IsError || !strings.Contains(fmt.Sprint(r.StructuredContent), "roots:") {
		t.Errorf("%+v, %v", r, err)
	}
	res, err := session.ListResources(ctx, nil)
	if err != nil || len(res.Resources) != 2 || res.Resources[0].URI != "test://a" {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := session.ListResourceTemplates(ctx, nil); err != nil || len(res.ResourceTemplates) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://b"}); err != nil || string(res.Contents[0].Blob) != "\x01\x02" {
		t.Errorf("%+v, %v", res, err)
	}
	_, err = session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://gone"})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != -32002 && e.Code != -32602 {
		t.Errorf("%v", err)
	}
	if res, err := session.ListPrompts(ctx, nil); err != nil || len(res.Prompts) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "asks"}); err != nil || res.Messages[0].Content.(*mcp.TextContent).Text != "hello you" {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := session.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "hello"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "p"}}); err != nil || len(res.Completion.Values) != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := session.Subscribe(ctx, &mcp.SubscribeParams{URI: "test://a"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody subscribed", func() bool { return p.subscribed("test://a") > 0 })
	heard := map[string]bool{}
	for range 200 { // the client may still be opening its streams
		p.tell("notifications/resources/updated", `{"uri":"test://a"}`)
		p.tell("notifications/prompts/list_changed", "")
		select {
		case uri := <-updated:
			heard[uri] = true
		case <-changed:
			heard["prompts"] = true
		case <-time.After(100 * time.Millisecond):
		}
		if heard["test://a"] && heard["prompts"] {
			return
		}
	}
	t.Errorf("the client was told of %v", heard)
}

// Clients that come and go, in every way, leave nothing behind.
func TestNothingIsLeft(t *testing.T) {
	s, p := newStore(t, asker())
	web := httptest.NewServer(s.Handler())
	before := runtime.NumGoroutine()
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	r := &raw{t, web.URL}
	do := func(ctx context.Context, method string, h http.Header, body string) (string, http.Header) {
		resp, err := transport.RoundTrip(r.request(ctx, method, h, body))
		if err != nil {
			return "", nil
		}
		defer resp.Body.Close()
		buf := make([]byte, 4096)
		n, _ := resp.Body.Read(buf) // the beginning of it: some never end
		return string(buf[:n]), resp.Header
	}
	var wg sync.WaitGroup
	var served atomic.Int64
	slots := make(chan struct{}, 16)
	for i := range 200 {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			switch i % 5 {
			case 0: // a session that is left open, with a stream and a subscription
				_, h := do(ctx, "POST", nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
				own := http.Header{headerSession: {h.Get(headerSession)}}
				do(ctx, "POST", own, `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"test://a"}}`)
				do(ctx, "GET", own, "")
			case 1: // a call that waits for its client, who does not come back
				h, body := modern("tools/call", canAll, `,"name":"asker","arguments":`+wish)
				do(ctx, "POST", h, body)
			case 2: // one who listens, and hangs up
				h, body := modern("subscriptions/listen", `{}`, `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://b"]}`)
				do(ctx, "POST", h, body)
			case 3: // a call that is given up
				h, body := modern("tools/call", `{}`, `,"name":"wait"`)
				soon, stop := context.WithTimeout(ctx, time.Duration(i%7)*time.Millisecond)
				defer stop()
				do(soon, "POST", h, body)
			case 4: // a session that is asked something, and ends
				_, h := do(ctx, "POST", nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}}}}`)
				own := http.Header{headerSession: {h.Get(headerSession)}}
				do(ctx, "POST", own, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"asker","arguments":`+wish+`}}`)
				do(ctx, "DELETE", own, "")
			}
			served.Add(1)
		})
	}
	wg.Wait()
	transport.CloseIdleConnections()
	s.Close()
	web.Close()
	s.mu.Lock()
	left := fmt.Sprint(len(s.sessions), len(s.roundsCalls), s.parked)
	s.mu.Unlock()
	if left != "0 0 0" || served.Load() != 200 {
		t.Errorf("sessions, flights and places left: %s; served %d", left, served.Load())
	}
	eventually(t, "subscriptions are left", func() bool { return p.subscribed("test://a") == 0 && p.subscribed("test://b") == 0 })
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// A server over stdio is gone with its client.
func TestStdioLeavesNothing(t *testing.T) {
	c, _ := newCrib(t)
	before := runtime.NumGoroutine()
	for range 50 {
		t.Run("", func(t *testing.T) {
			session, _ := connect(t, c, "", nil)
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "count", Arguments: json.RawMessage(`{"n":1}`)}); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before+2 }) // workers of the crib stay for a while
}

// A client that is only a pipe gets all its answers, also those to what it said
// last, and the end comes soon all the same.
func TestStdioAnswersBeforeItEnds(t *testing.T) {
	c, _ := newCrib(t)
	slow := echo("slow", `true`)
	run := slow.Run
	slow.Run = func(ctx context.Context, env *toolcrib.Env, in json.RawMessage) (*toolcrib.Result, error) {
		time.Sleep(50 * time.Millisecond)
		return run(ctx, env, in)
	}
	load(t, c, append(tools(), slow))
	s := New(Config{Crib: c, Log: quiet()}, toolcrib.Caller{})
	defer s.Close()
	_, listens := modern("subscriptions/listen", `{}`, `,"notifications":{"toolsListChanged":true}`)
	text := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`, listens,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow","arguments":{"a":1}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, // without an end
	}, "\n")
	var out strings.Builder
	if err := s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(text)), &lockedWriter{w: &out}); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for _, id := range []string{`"id":1,"result"`, `"id":3,"result"`, `"id":4,"result"`, "notifications/subscriptions/acknowledged"} {
		if !strings.Contains(out.String(), id) {
			t.Errorf("no %s in %s", id, out.String())
		}
	}
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (l *lockedWriter) Close() error { return nil }
