package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
)

// doorway is a gate with what it stands before.
type doorway struct {
	t   *testing.T
	app *App
	url string
	dir string // what tools may change
}

func newDoorway(t *testing.T, change func(*settings.Config)) *doorway {
	t.Helper()
	cfg := settings.Defaults()
	cfg.Desk.Unattended = "leave"
	if change != nil {
		change(&cfg)
	}
	d := &doorway{t: t, dir: t.TempDir()}
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: d.dir, Home: t.TempDir(), Subject: "ann"})
	if err != nil {
		t.Fatal(err)
	}
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
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	d.app, d.url = a, web.URL+"/mcp"
	return d
}

func (d *doorway) token() string {
	d.t.Helper()
	token, err := httpapi.OwnToken(d.app.state)
	if err != nil {
		d.t.Fatal(err)
	}
	return token
}

// TestOwnTokenIsNeeded: by default nobody comes in but with the token that only
// the account of the server can read, and it is nowhere but in the header.
func TestOwnTokenIsNeeded(t *testing.T) {
	d := newDoorway(t, nil)
	token := d.token()
	for name, c := range map[string]struct {
		query string
		sent  []string
		want  int
	}{
		"own":       {"", []string{"Bearer " + token}, 200},
		"none":      {"", nil, 401},
		"empty":     {"", []string{""}, 401},
		"half":      {"", []string{"Bearer " + token[:len(token)-1]}, 401},
		"more":      {"", []string{"Bearer " + token + "x"}, 401},
		"in a URL":  {"?token=" + token + "&access_token=" + token, nil, 401},
		"basic":     {"", []string{"Basic " + token}, 401},
		"two":       {"", []string{"Bearer " + token, "Bearer " + token}, 401},
		"two words": {"", []string{"Bearer " + token + " " + token}, 401},
	} {
		h := http.Header{}
		if c.sent != nil {
			h["Authorization"] = c.sent
		}
		if resp := knock(t, "POST", d.url+c.query, initializes, h); resp.status != c.want {
			t.Errorf("%s: %d", name, resp.status)
		}
	}
	// Another token ends what was begun with this one.
	h := http.Header{"Authorization": {"Bearer " + token}}
	began := knock(t, "POST", d.url, initializes, h)
	h.Set("Mcp-Session-Id", began.header.Get("Mcp-Session-Id"))
	stream := knock(t, "GET", d.url, "", h)
	if stream.status != http.StatusOK {
		t.Fatal(stream.status)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := stream.body.ReadString('\n'); err != nil {
				return
			}
		}
	}()
	fresh, err := httpapi.NewOwnToken(d.app.state)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("a stream of the token before lives on")
	}
	if resp := knock(t, "POST", d.url, initializes, http.Header{"Authorization": {"Bearer " + token}}); resp.status != http.StatusUnauthorized {
		t.Errorf("the token before: %d", resp.status)
	}
	if resp := knock(t, "POST", d.url, initializes, http.Header{"Authorization": {"Bearer " + fresh}}); resp.status != http.StatusOK {
		t.Errorf("the new token: %d", resp.status)
	}
}

// TestWhoMayAnswer: what a client over HTTP may answer to its own calls goes by
// its token: none but those of people, and nothing that outlasts the
// conversation unless the settings say so. (The client here speaks the version
// that has no conversations.)
func TestWhoMayAnswer(t *testing.T) {
	people := func(approvesFor string) func(*settings.Config) {
		return func(c *settings.Config) {
			c.Tokens = map[string]settings.Token{"t": {SHA256: sumOf("t"), Approves: true, ApprovesFor: approvesFor}}
		}
	}
	for name, c := range map[string]struct {
		token string
		set   func(*settings.Config)
		want  []string // the answers that are offered; nil: it is not asked
	}{
		"own":      {"", nil, []string{"once", "deny", "why", "edit"}},
		"open":     {"-", func(c *settings.Config) { c.Serve.Open = true }, nil},
		"token":    {"t", func(c *settings.Config) { c.Tokens = map[string]settings.Token{"t": {SHA256: sumOf("t")}} }, nil},
		"approves": {"t", people(""), []string{"once", "deny", "why", "edit"}},
		"once":     {"t", people("once"), []string{"once", "deny", "why", "edit"}},
		"project":  {"t", people("project"), []string{"once", "project", "deny", "why", "edit"}},
		"always":   {"t", people("always"), []string{"once", "project", "always", "deny", "why", "edit"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoorway(t, c.set)
			token := c.token
			if token == "" {
				token = d.token()
			}
			texts := map[string]string{"once": "allow it once", "session": "allow it in this session", "project": "allow it in /", "always": "allow it everywhere", "deny": "deny it", "why": "deny it, ", "edit": "change"}
			var offered []string
			asked := 0
			says := func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked++
				offered = nil
				longest := ""
				schema := r.Params.RequestedSchema.(map[string]any)["properties"].(map[string]any)["answer"].(map[string]any)
				for _, o := range schema["enum"].([]any) {
					if strings.HasPrefix(o.(string), "allow") {
						longest = o.(string)
					}
					for word, begins := range texts {
						if strings.HasPrefix(o.(string), begins) && (word != "deny" || o == begins) {
							offered = append(offered, word)
						}
					}
				}
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": longest}}, nil
			}
			client := &http.Client{}
			if token != "-" {
				client.Transport = bearer(token)
			}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: says}).
				Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: d.url, HTTPClient: client, MaxRetries: -1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": "x.txt", "content": "x"}})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(offered)
			slices.Sort(c.want)
			if !slices.Equal(offered, c.want) {
				t.Errorf("offered %q, want %q", offered, c.want)
			}
			_, missing := os.Stat(filepath.Join(d.dir, "x.txt"))
			grants, err := d.app.Desk.Grants(t.Context(), desk.GrantFilter{})
			if err != nil {
				t.Fatal(err)
			}
			allows, lasts := c.want != nil, slices.Contains(c.want, "project")
			if r.IsError == allows || (missing == nil) != allows || (len(grants) > 0) != lasts {
				t.Errorf("asked %d times; failed: %v, written: %v, remembered: %+v", asked, r.IsError, missing == nil, grants)
			}
			records, err := d.app.Journal.List(t.Context(), store.Filter{})
			if who := map[string]string{"own": "ann", "open": "anyone"}[name]; err != nil || who != "" && records[0].Caller.Subject != who {
				t.Errorf("%+v, %v", records, err)
			}
		})
	}
}
