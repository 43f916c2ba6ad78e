package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

type in struct {
	N int `json:"n" doc:"A number."`
}

func tools() []toolcrib.Tool {
	count := toolcrib.Define(toolcrib.Spec{Name: "count", Description: "Counts.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, i in) (in, error) { return i, nil })
	raw := func(name, schema string, run func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error)) toolcrib.Tool {
		return toolcrib.Tool{Spec: toolcrib.Spec{Name: name, Input: json.RawMessage(schema), Effects: toolcrib.Pure}, Run: run}
	}
	return []toolcrib.Tool{
		count,
		raw("open", `true`, func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return &toolcrib.Result{Content: []toolcrib.Content{
				{Type: "text", Text: "hi"}, {Type: "image", Data: []byte{1}, MIME: "image/png"}, {Type: "audio", Data: []byte{2}, MIME: "audio/wav"},
				{Type: "link", URI: "file:///a", Name: "a"}, {Type: "resource", URI: "file:///b", Text: "b"},
			}}, nil
		}),
		raw("wait", `{"properties":{}}`, func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		// A contract the library refuses to show.
		raw("odd", `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Text("x"), nil
		}),
	}
}

func newCrib(t *testing.T) (*toolcrib.Crib, *[]toolcrib.Tool) {
	t.Helper()
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{},
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Log: quiet(),
	}
	list := tools()
	load(t, c, list)
	return c, &list
}

func load(t testing.TB, c *toolcrib.Crib, list []toolcrib.Tool) {
	t.Helper()
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("test", list...)}}); faults != nil {
		t.Fatal(faults)
	}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// dial connects the official library's client to a server over stdio, in the
// era of a version; empty: the newest.
func dial(t *testing.T, s *Server, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return dialAs(t, s, "window", version, opts)
}

func dialAs(t *testing.T, s *Server, name, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(served)
		_ = s.ServeStdio(ctx, fromClient, toClient)
	}()
	var how *mcp.ClientSessionOptions
	if version != "" {
		how = &mcp.ClientSessionOptions{ProtocolVersion: version}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, opts).
		Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		<-served
	})
	return session
}

func connect(t *testing.T, c *toolcrib.Crib, version string, changed func()) (*mcp.ClientSession, *Server) {
	t.Helper()
	s := New(Config{Crib: c, Version: "1", Log: quiet()}, toolcrib.Caller{Subject: "ann", Frontend: "mcp"})
	t.Cleanup(s.Close)
	return dial(t, s, version, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			if changed != nil {
				changed()
			}
		},
	}), s
}

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal(what)
}

func names(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	var out []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tool.Name)
	}
	return out
}

func TestContentAndRefusals(t *testing.T) { versions(t, testContentAndRefusals) }

func testContentAndRefusals(t *testing.T, version string) {
	c, _ := newCrib(t)
	session, _ := connect(t, c, version, nil)
	if got := names(t, session); !slices.Equal(got, []string{"count", "open", "wait"}) {
		t.Errorf("tools %v: a tool that cannot be shown must not take others with it", got)
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "open"})
	if err != nil || len(r.Content) != 5 || r.IsError {
		t.Errorf("contents: %+v, %v", r, err)
	}
	r, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "count", Arguments: json.RawMessage(`{"m":1}`)})
	if err != nil || !r.IsError || r.Meta["toolcrib/code"] != "invalid" || r.Meta["toolcrib/bad"] == nil {
		t.Errorf("refusal: %+v, %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait"}); err == nil {
		t.Error("a cancelled call came back")
	}
}

func TestListFollowsTheCatalog(t *testing.T) { versions(t, testListFollowsTheCatalog) }

func testListFollowsTheCatalog(t *testing.T, version string) {
	c, list := newCrib(t)
	told := make(chan struct{}, 10)
	session, s := connect(t, c, version, func() { told <- struct{}{} })
	names(t, session)
	eventually(t, "the client does not listen", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for l := range s.listeners {
			if l.wants("notifications/tools/list_changed", "") {
				return true
			}
		}
		return false
	})
	more := (*list)[0]
	more.Name = "more"
	load(t, c, append((*list)[1:2:2], more))
	select {
	case <-told:
	case <-time.After(20 * time.Second):
		t.Fatal("the client was not told")
	}
	if got := names(t, session); !slices.Equal(got, []string{"more", "open"}) {
		t.Errorf("tools %v", got)
	}
}

func TestHTTP(t *testing.T) {
	c, _ := newCrib(t)
	s := New(Config{Crib: c, Version: "1", Log: quiet()}, toolcrib.Caller{Subject: "loopback", Frontend: "mcp-http"})
	defer s.Close()
	web := httptest.NewServer(httpapi.Names{}.Guard(s.Handler()))
	defer web.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "count", Arguments: json.RawMessage(`{"n":5}`)})
	if err != nil || r.IsError {
		t.Errorf("call: %+v, %v", r, err)
	}
	// A page of another site in somebody's browser.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign page got %s", resp.Status)
	}
	// A name that was made to point at this machine (DNS rebinding), and an address
	// that is another one's.
	req.Header = http.Header{"Content-Type": {"application/json"}}
	for _, host := range []string{"evil.example", "192.0.2.7:80", "localhost.evil.example"} {
		req.Host = host
		req.Body = io.NopCloser(strings.NewReader(`{}`))
		again, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		again.Body.Close()
		if again.StatusCode != http.StatusForbidden {
			t.Errorf("a server on loopback that is called %s got %s", host, again.Status)
		}
	}
}

// Every code has a form on this wire.
func TestEveryCodeReachesTheModel(t *testing.T) {
	c, _ := newCrib(t)
	_, s := connect(t, c, "", nil)
	v := &clientRequest{client: &client{modern: true}}
	refused := func(err error) (text, code string, bad bool) {
		var r struct {
			Content []struct{ Text string }
			Meta    map[string]any `json:"_meta"`
			IsError bool
		}
		if err := json.Unmarshal(s.refusal(v, err), &r); err != nil {
			t.Fatal(err)
		}
		code, _ = r.Meta["toolcrib/code"].(string)
		return r.Content[0].Text, code, r.IsError
	}
	for _, code := range cribtest.Codes() {
		if text, got, bad := refused(&toolcrib.Error{Code: code, Message: "because"}); text != string(code)+": because" || !bad || got != string(code) {
			t.Errorf("%s: %s %s %v", code, text, got, bad)
		}
	}
	if text, code, _ := refused(io.ErrUnexpectedEOF); code != "internal" || strings.Contains(text, "EOF") {
		t.Errorf("a foreign error: %s %s", code, text)
	}
}
