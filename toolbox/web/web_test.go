package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/httpclient"
)

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		box, err := Open(t.Context(), Config{})
		if err != nil {
			t.Fatal(err)
		}
		return box
	})
}

// tools opens a box and gives its tools by name.
func tools(t testing.TB, cfg Config) map[string]toolcrib.Tool {
	t.Helper()
	box, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	list, err := box.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]toolcrib.Tool{}
	for _, tool := range list {
		if tool.Group != "web" {
			t.Errorf("%s is of the group %q", tool.Name, tool.Group)
		}
		byName[tool.Name] = tool
	}
	return byName
}

// local is an Env that reaches the servers of a test.
func local(t testing.TB) *toolcrib.Env {
	t.Helper()
	client := httpclient.New([]string{"127.0.0.1"}, httpclient.Options{})
	t.Cleanup(client.CloseIdleConnections)
	return &toolcrib.Env{HTTP: client, Emit: func(toolcrib.Event) {}}
}

func serve(t testing.TB, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// call runs a tool with typed input and output.
func call[Out any](t testing.TB, tool toolcrib.Tool, env *toolcrib.Env, in any) (out Out, failed string, err error) {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := tool.Run(ctx, env, input)
	if refusal, ok := toolcrib.AsError(err); ok {
		return out, "", refusal
	}
	if err != nil {
		return out, err.Error(), nil // as the crib does it
	}
	if got.Value != nil {
		if err := json.Unmarshal(got.Value, &out); err != nil {
			t.Fatal(err)
		}
	}
	if got.Failed {
		failed = got.String()
		for _, c := range got.Content {
			failed = c.Text
		}
	}
	return out, failed, nil
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Engine: "altavista"}, "unknown search engine"},
		{Config{Engine: SearXNG}, "needs its address"},
		{Config{Engine: SearXNG, Endpoint: "search.example"}, "no address"},
		{Config{Engine: SearXNG, Endpoint: "ftp://search.example"}, "no address"},
		{Config{Engine: SearXNG, Endpoint: "https://me:pw@search.example"}, "no address"},
		{Config{Engine: Brave, Endpoint: "http://search.example"}, "without encryption"},
		{Config{Engine: Brave, Endpoint: "http://127.0.0.1.example"}, "without encryption"},
		{Config{Engine: SearXNG, Endpoint: "http://10.0.0.1", Secret: "x"}, "without encryption"},
		{Config{MaxBody: -1}, "negative"},
	} {
		if _, err := Open(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.cfg, err, c.want)
		}
	}
	for _, cfg := range []Config{
		{}, {Engine: Brave}, {Engine: Tavily}, {Engine: SearXNG, Endpoint: "http://10.0.0.1"}, {Engine: Brave, Endpoint: "http://127.0.0.1:1"},
	} {
		if _, err := Open(t.Context(), cfg); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// Whoever may reach no host is told which setting gives one.
func TestNothingGranted(t *testing.T) {
	box := tools(t, Config{})
	for name, in := range map[string]any{
		"web_fetch":  map[string]string{"url": "https://Example.com/x?y"},
		"web_search": map[string]any{"query": "q", "max_results": 5},
	} {
		_, _, err := call[map[string]any](t, box[name], &toolcrib.Env{}, in)
		if toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "grant.hosts") || !strings.Contains(err.Error(), ".com") {
			t.Errorf("%s without a client: %v", name, err)
		}
		_, _, err = call[map[string]any](t, box[name], local(t), in)
		if toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "grant.hosts") {
			t.Errorf("%s without the host: %v", name, err)
		}
	}
}

// Through a whole crib: a host that is granted is reached, its neighbour is not.
func TestThroughACrib(t *testing.T) {
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://127.0.0.2:1/secret", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("<title>Hi</title><p>hello"))
	})
	box, err := Open(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads | toolcrib.Network)},
		Journal: toolcrib.NoJournal{},
		Grant:   toolcrib.Grant{Hosts: []string{"127.0.0.1"}},
	}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); faults != nil {
		t.Fatal(faults)
	}
	out, err := toolcrib.Invoke[fetchOut](t.Context(), crib, "web_fetch", fetchIn{URL: home})
	if err != nil || out.Text != "hello" || out.Title != "Hi" {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = toolcrib.Invoke[fetchOut](t.Context(), crib, "web_fetch", fetchIn{URL: home + "/away"})
	if err != nil || out.Next != "http://127.0.0.2:1/secret" || out.Text != "" {
		t.Errorf("redirected to another host: %+v, %v", out, err)
	}
	_, err = toolcrib.Invoke[fetchOut](t.Context(), crib, "web_fetch", fetchIn{URL: out.Next})
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("a host that was not granted: %v", err)
	}
}

func TestEffects(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want toolcrib.Effects
	}{
		{Config{}, toolcrib.Reads | toolcrib.Network},
		{Config{Engine: Brave}, toolcrib.Reads | toolcrib.Network | toolcrib.UsesSecrets},
		{Config{Engine: SearXNG, Endpoint: "https://s.example"}, toolcrib.Reads | toolcrib.Network},
		{Config{Engine: SearXNG, Endpoint: "https://s.example", Secret: "k"}, toolcrib.Reads | toolcrib.Network | toolcrib.UsesSecrets},
	} {
		box := tools(t, c.cfg)
		if got := box["web_search"].Effects; got != c.want {
			t.Errorf("%+v: web_search %v, want %v", c.cfg, got, c.want)
		}
		if got := box["web_fetch"].Effects; got != toolcrib.Reads|toolcrib.Network {
			t.Errorf("%+v: web_fetch %v", c.cfg, got)
		}
	}
}
