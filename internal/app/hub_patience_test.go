package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// greeted counts how often a server was started for somebody, which is what a
// conversation begins with.
type greeted struct {
	mu    sync.Mutex
	times map[string]int
}

func (g *greeted) of(server string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.times[server]
}

// before stands before a server and counts.
func (g *greeted) before(t *testing.T, name, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var asked struct {
			Method string `json:"method"`
		}
		if json.Unmarshal(body, &asked) == nil && (asked.Method == mcp.MethodResourcesList || asked.Method == mcp.MethodPromptsList) {
			g.mu.Lock()
			g.times[name]++
			g.mu.Unlock()
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// TestReadingAsksNoOther: who reads something of one server does not wait for the
// others, which are neither started nor asked, unless nobody is known to have it.
func TestReadingAsksNoOther(t *testing.T) {
	g := &greeted{times: map[string]int{}}
	cfg := settings.Defaults()
	cfg.Mode, cfg.Hub.Wait = "yolo", time.Minute
	cfg.MCPServers = map[string]settings.MCPServer{
		"a": {Instance: "person", URL: g.before(t, "a", sdkServer(t, "a", []string{"review", "both"}, []string{"memo://a", "memo://both"}, ""))},
		"b": {Instance: "person", URL: g.before(t, "b", sdkServer(t, "b", []string{"a__review", "both"}, []string{"memo://b", "memo://both"}, ""))},
		"c": {Instance: "person", URL: g.before(t, "c", sdkServer(t, "c", []string{"other"}, []string{"memo://c"}, ""))},
	}
	a := openWith(t, cfg, t.TempDir())
	shelf := a.MCP("test").Shelf
	before := map[string]int{"a": g.of("a"), "b": g.of("b"), "c": g.of("c")} // what they offer everybody
	const read, prompt = mcp.MethodResourcesRead, mcp.MethodPromptsGet
	for _, c := range []struct{ subject, method, name, tool, asked, fails string }{
		// The address says which server; whoever reads starts it.
		{"ann", read, "toolcrib:///a/memo://a", "a__mcp_read_resource", "", ""},
		// The name says which server, but another may be called so: that one is asked.
		{"ann", prompt, "a__review", "a__mcp_get_prompt", "a", ""},
		// Known by now, and no other is asked.
		{"ann", read, "memo://a", "a__mcp_read_resource", "a", ""},
		{"ann", prompt, "review", "a__mcp_get_prompt", "a", ""},
		// Nobody is known to have it: now all are asked.
		{"ann", read, "memo://b", "b__mcp_read_resource", "abc", ""},
		// And what two are known to have is refused.
		{"ann", read, "memo://both", "", "abc", "several servers"},
		{"ann", prompt, "both", "", "abc", "several servers"},
		{"ann", prompt, "a__review", "a__mcp_get_prompt", "abc", ""},
		// What is known of ann is not known to bob: his own are asked.
		{"bob", prompt, "b__both", "b__mcp_get_prompt", "abcb", ""},
		{"bob", prompt, "review", "a__mcp_get_prompt", "abcabc", ""},
	} {
		params := map[string]string{"uri": c.name}
		if c.method == prompt {
			params = map[string]string{"name": c.name}
		}
		text, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		tool, _, ok, err := shelf.Reading(t.Context(), toolcrib.Caller{Subject: c.subject}, c.method, text)
		if tool != c.tool || ok != (c.fails == "") || (err == nil) != ok || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s reads %s by %q (%v), want %q", c.subject, c.name, tool, err, c.tool)
		}
		for server, first := range before {
			// Each asks for resources and for prompts.
			if n, want := g.of(server)-first, 2*strings.Count(c.asked, server); n != want {
				t.Errorf("after %s of %s %s was asked %d times, want %d", c.name, c.subject, server, n, want)
			}
		}
	}
}
