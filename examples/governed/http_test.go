package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/governed"
	"github.com/toolcrib/toolcrib/mcpserver"
)

type sendIn struct {
	Name string `json:"name"`
}

type sendOut struct {
	Text string `json:"text"`
}

// withToken shows a token with every request.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

// TestHTTPApprovesNothing: who has the token calls, and does not answer for itself.
func TestHTTPApprovesNothing(t *testing.T) {
	ran := false
	send := toolcrib.Define(toolcrib.Spec{Name: "send", Description: "Sends.", Effects: toolcrib.Writes},
		func(context.Context, *toolcrib.Env, sendIn) (sendOut, error) { ran = true; return sendOut{}, nil })
	crib, err := governed.Open(t.Context(), governed.Config{State: t.TempDir(), Dir: t.TempDir(), Toolboxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", send)}})
	if err != nil {
		t.Fatal(err)
	}
	defer crib.Close()
	s := mcpserver.New(crib.Crib, mcpserver.Config{Token: "open sesame, open sesame"})
	defer s.Close()
	web := httptest.NewServer(s)
	defer web.Close()
	asked := false
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = true
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow it once"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: &http.Client{Transport: withToken("open sesame, open sesame")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "send", Arguments: sendIn{"Ada"}})
	if err != nil || !r.IsError || ran || asked {
		t.Errorf("%+v, %v; ran %v, asked %v", r, err, ran, asked)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}
