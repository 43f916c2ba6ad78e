package mcpserver_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/mcpserver"
)

type greetIn struct {
	Name string `json:"name"`
}

type greetOut struct {
	Text string `json:"text"`
}

func parrot() (*toolcrib.Crib, *cribtest.Memory) {
	greet := toolcrib.Define(toolcrib.Spec{Name: "greet", Description: "Greets.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in greetIn) (greetOut, error) {
			return greetOut{"Good day, " + in.Name}, nil
		})
	forbidden := toolcrib.Define(toolcrib.Spec{Name: "forbidden", Description: "Changes something.", Effects: toolcrib.Writes},
		func(context.Context, *toolcrib.Env, greetIn) (greetOut, error) { panic("it ran") })
	journal := &cribtest.Memory{}
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Journal: journal}
	crib.Catalog.Load(context.Background(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", greet, forbidden)}})
	return crib, journal
}

// visit makes two calls as the official client does.
func visit(t *testing.T, transport mcp.Transport) {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "greet", Arguments: greetIn{"Ada"}})
	if err != nil || r.IsError {
		t.Errorf("greet: %+v, %v", r, err)
	}
	r, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "forbidden", Arguments: greetIn{"Ada"}})
	if err != nil || !r.IsError {
		t.Errorf("forbidden: %+v, %v", r, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

func TestServe(t *testing.T) {
	crib, journal := parrot()
	s := mcpserver.New(crib, mcpserver.Config{Caller: toolcrib.Caller{Subject: "ann"}})
	defer s.Close()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), fromClient, toClient) }()
	visit(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer})
	if err := <-ended; err != nil {
		t.Errorf("serving ended with %v", err)
	}
	records := journal.Records()
	if len(records) != 2 || records[0].Caller.Subject != "ann" || records[0].Caller.Frontend != "mcp" || records[0].Caller.Session == "" {
		t.Errorf("recorded: %+v", records)
	}
}

// withToken shows a token with every request.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTP(t *testing.T) {
	crib, journal := parrot()
	s := mcpserver.New(crib, mcpserver.Config{Token: "open sesame, open sesame"})
	defer s.Close()
	web := httptest.NewServer(s)
	defer web.Close()
	visit(t, &mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: &http.Client{Transport: withToken("open sesame, open sesame")}})
	if n := len(journal.Records()); n != 2 {
		t.Errorf("%d records", n)
	}
}

// TestNoToken: whoever does not show the token is told nothing, and where there
// is none, nobody is served.
func TestNoToken(t *testing.T) {
	crib, journal := parrot()
	for _, c := range []struct {
		token string
		shown []string
	}{
		{"open sesame, open sesame", nil}, {"short", []string{"Bearer short"}}, {"open sesame, open sesame", []string{"Bearer open sesame, open sesam"}}, {"open sesame, open sesame", []string{"open sesame, open sesame"}},
		{"open sesame, open sesame", []string{"Basic open sesame, open sesame"}}, {"open sesame, open sesame", []string{"Bearer open sesame, open sesame", "Bearer x"}},
		{"", nil}, {"", []string{"Bearer "}}, {"", []string{"Bearer x"}},
	} {
		s := mcpserver.New(crib, mcpserver.Config{Token: c.token})
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", http.NoBody)
		for _, v := range c.shown {
			r.Header.Add("Authorization", v)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		s.Close()
		if w.Code != http.StatusUnauthorized {
			t.Errorf("token %q, shown %q: %d", c.token, c.shown, w.Code)
		}
	}
	if n := len(journal.Records()); n != 0 {
		t.Errorf("%d records", n)
	}
}

// TestSessionsApart: each stream is a session of its own, so that what a person
// allows in one holds for no other; requests over HTTP have none that they share.
func TestSessionsApart(t *testing.T) {
	crib, journal := parrot()
	s := mcpserver.New(crib, mcpserver.Config{Token: "open sesame, open sesame"})
	for range 2 {
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(t.Context(), fromClient, toClient) }()
		visit(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer})
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	records := journal.Records()
	if len(records) != 4 || records[0].Caller.Session == records[2].Caller.Session {
		t.Errorf("recorded: %+v", records)
	}
	s.Close()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", http.NoBody)
	r.Header.Set("Authorization", "bearer open sesame, open sesame")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("after Close: %d", w.Code)
	}
}
