package app

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// newTokenGate opens a gate for tokens by name, each of which is NAME-token, and
// gives how to change them.
func newTokenGate(t *testing.T, names ...string) (url string, set func(names ...string)) {
	t.Helper()
	_, url, set = newTokenApp(t, names...)
	return url, set
}

// newTokenApp gives the program behind such a gate, too.
func newTokenApp(t *testing.T, names ...string) (a *App, url string, set func(names ...string)) {
	t.Helper()
	with := func(names []string) settings.Config {
		cfg := settings.Defaults()
		cfg.Serve.Open = names == nil // who comes without a token comes in then
		cfg.Tokens = map[string]settings.Token{}
		for _, name := range names {
			sum := sha256.Sum256([]byte(name + "-token"))
			cfg.Tokens[name] = settings.Token{SHA256: hex.EncodeToString(sum[:])}
		}
		return cfg
	}
	a, err := Open(t.Context(), with(names), Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(context.Background()) })
	g, err := a.newAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		g.Watch(ctx)
	}()
	web := httptest.NewServer(g)
	t.Cleanup(func() {
		cancel()
		<-watched
		g.Close()
		web.CloseClientConnections()
		web.Close()
	})
	return a, web.URL + "/mcp", func(names ...string) {
		t.Helper()
		if err := a.setPolicy(with(names), nil); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	initializes = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`
	listens     = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}`
)

// reply is the beginning of an answer; its body is closed with the test.
type reply struct {
	status int
	header http.Header
	body   *bufio.Reader
}

func knock(t *testing.T, method, url, body string, h http.Header) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = h.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return reply{resp.StatusCode, resp.Header, bufio.NewReader(resp.Body)}
}

// A token that is taken away is gone with every stream that was opened with it;
// those of others stay.
func TestRevokedTokensStreamsEnd(t *testing.T) {
	url, set := newTokenGate(t, "ci", "ann")
	streams := func(token string) (listening, standing *bufio.Reader) {
		h := http.Header{"Authorization": {"Bearer " + token}}
		began := knock(t, "POST", url, initializes, h)
		modern := h.Clone()
		modern.Set("Mcp-Protocol-Version", "2026-07-28")
		modern.Set("Mcp-Method", "subscriptions/listen")
		h.Set("Mcp-Session-Id", began.header.Get("Mcp-Session-Id"))
		one, two := knock(t, "POST", url, listens, modern), knock(t, "GET", url, "", h)
		if one.status != http.StatusOK || two.status != http.StatusOK {
			t.Fatal(one.status, two.status)
		}
		return one.body, two.body
	}
	ended := func(in *bufio.Reader) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				if _, err := in.ReadString('\n'); err != nil {
					return
				}
			}
		}()
		return done
	}
	a, b := streams("ci-token")
	c, d := streams("ann-token")
	gone, stay := []<-chan struct{}{ended(a), ended(b)}, []<-chan struct{}{ended(c), ended(d)}
	set("ann")
	for i, done := range gone { // nobody sends anything meanwhile
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("stream %d of the token lives on", i)
		}
	}
	for i, done := range stay {
		select {
		case <-done:
			t.Errorf("stream %d of the other token has ended", i)
		case <-time.After(100 * time.Millisecond):
		}
	}
	// One who came when nobody needed a token is nobody now.
	set()
	e := knock(t, "POST", url, initializes, http.Header{})
	if e.status != http.StatusOK {
		t.Fatal(e.status)
	}
	anyone := ended(knock(t, "GET", url, "", http.Header{"Mcp-Session-Id": {e.header.Get("Mcp-Session-Id")}}).body)
	set("ann")
	if resp := knock(t, "POST", url, initializes, http.Header{}); resp.status != http.StatusUnauthorized {
		t.Error(resp.status)
	}
	select {
	case <-anyone:
	case <-time.After(20 * time.Second):
		t.Error("a stream without a token lives on")
	}
}

// TestRevokedTokensCallsEnd: what goes on for a token that is taken away ends, in
// either way of speaking MCP; what goes on for others does not.
func TestRevokedTokensCallsEnd(t *testing.T) {
	a, url, set := newTokenApp(t, "ci", "ann")
	began, ended := make(chan string, 4), make(chan string, 4)
	a.shelving.Boxes = append(a.shelving.Boxes, toolcrib.NewBox("test", toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "wait", Effects: toolcrib.Reads},
		Run: func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			began <- env.Call.Caller.Token
			<-ctx.Done()
			ended <- env.Call.Caller.Token
			return nil, ctx.Err()
		},
	}))
	if _, faults := a.Reload(t.Context()); len(faults) > 0 {
		t.Fatal(faults)
	}
	stop, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	send := func(body string, h http.Header) {
		all.Go(func() {
			req, err := http.NewRequestWithContext(stop, http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header = h
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // the call is what is looked at
				_ = resp.Body.Close()
			}
		})
	}
	for _, token := range []string{"ci-token", "ann-token"} {
		h := http.Header{"Authorization": {"Bearer " + token}}
		modern := h.Clone()
		modern.Set("Mcp-Protocol-Version", "2026-07-28")
		modern.Set("Mcp-Method", "tools/call")
		modern.Set("Mcp-Name", "wait")
		send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, modern)
		session := h.Clone()
		session.Set("Mcp-Session-Id", knock(t, "POST", url, initializes, h).header.Get("Mcp-Session-Id"))
		send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}`, session)
	}
	next := func(from chan string, what string) string {
		select {
		case name := <-from:
			return name
		case <-time.After(time.Minute):
			t.Fatal(what)
			return ""
		}
	}
	for range 4 {
		next(began, "a call did not begin")
	}
	set("ann")
	for range 2 {
		if name := next(ended, "a call of the token goes on"); name != "ci" {
			t.Errorf("a call of %s has ended", name)
		}
	}
	if len(ended) > 0 {
		t.Errorf("a call of %s has ended", <-ended)
	}
}

// How a token is sent.
func TestAuthorizationHeader(t *testing.T) {
	url, _ := newTokenGate(t, "ci", "ann")
	for name, c := range map[string]struct {
		values []string
		want   int
	}{
		"plain":      {[]string{"Bearer ci-token"}, 200},
		"lower case": {[]string{"bearer ci-token"}, 200},
		"upper case": {[]string{"BEARER   ci-token"}, 200},
		"basic":      {[]string{"Basic ci-token"}, 401},
		"bare":       {[]string{"ci-token"}, 401},
		"empty":      {[]string{"Bearer "}, 401},
		"none":       {nil, 401},
		"two":        {[]string{"Bearer ci-token", "Bearer ann-token"}, 401},
		"wrong":      {[]string{"Bearer other"}, 401},
	} {
		h := http.Header{}
		if c.values != nil {
			h["Authorization"] = c.values
		}
		if resp := knock(t, "POST", url, initializes, h); resp.status != c.want {
			t.Errorf("%s: %d", name, resp.status)
		}
	}
}
