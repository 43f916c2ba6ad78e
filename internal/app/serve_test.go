package app

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
)

// serveLoopback serves a crib over HTTP until stop is called, or the test ends.
func serveLoopback(t *testing.T, a *App) (base string, stop func()) {
	t.Helper()
	ln, err := httpapi.Listen(t.Context(), httpapi.Listening{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, ln, "test") }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return "http://" + ln.Addr().String(), stop
}

// ownBearer shows the token of the person whose machine this is.
func ownBearer(t *testing.T, a *App) bearer {
	t.Helper()
	token, err := httpapi.OwnToken(a.state)
	if err != nil {
		t.Fatal(err)
	}
	return bearer(token)
}

// A server is opened, used by a real client, asked for its health, and ended;
// what the client did is in the journal afterwards.
func TestServe(t *testing.T) {
	a, err := Open(t.Context(), settings.Defaults(), Needs{State: t.TempDir()})
	if err != nil || a.Faults != nil {
		t.Fatal(err, a.Faults)
	}
	base, stop := serveLoopback(t, a)
	own := &http.Client{Transport: ownBearer(t, a)}
	for _, c := range []struct {
		client *http.Client
		told   bool
	}{{own, true}, {http.DefaultClient, false}} { // what there is, is told to those who have a token
		resp, err := c.client.Get(base + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		var health struct {
			Status string
			Tools  int
		}
		if err := json.NewDecoder(resp.Body).Decode(&health); err != nil || health.Status != "ok" || (health.Tools > 0) != c.told {
			t.Errorf("health %+v, %v", health, err)
		}
		if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("health is told as %q", kind)
		}
		_ = resp.Body.Close()
	}
	for _, path := range []string{"/healthz", "/mcp"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "rebound.example"
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s under a foreign name: %s", path, resp.Status)
		}
	}

	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp", HTTPClient: own}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "evaluate_expression", Arguments: map[string]any{"expression": "6*7"}})
	if err != nil || r.IsError {
		t.Errorf("call: %+v, %v", r, err)
	}
	_ = session.Close()
	stop()
	records, err := a.Journal.List(t.Context(), store.Filter{})
	if err != nil || len(records) != 1 || records[0].Caller.Frontend != "mcp-http" || records[0].Caller.Subject != "local" || records[0].Outcome != "done" {
		t.Errorf("journal: %+v, %v", records, err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTwoCribsInOneProcess(t *testing.T) {
	for range 2 {
		a, err := Open(t.Context(), settings.Defaults(), Needs{State: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}
