package mcphub

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// noTokens is a store in which nobody has logged in.
type noTokens struct{}

func (noTokens) Load(context.Context, string) ([]byte, error) { return nil, nil }
func (noTokens) Save(context.Context, string, []byte) error   { return nil }
func (noTokens) Delete(context.Context, string) error         { return nil }

// TestRefusedHeader: a server that does not take the credential of its settings is
// not logged in to behind a person's back; what to do is said.
func TestRefusedHeader(t *testing.T) {
	asked := 0
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusNotFound)
	}))
	defer issuer.Close()
	for value, want := range map[string]string{
		"Bearer ${secret:forge-key}": "toolcrib secret set forge-key",
		"Bearer abc":                 "mcp_servers.forge.headers",
		"${secret:":                  "mcp_servers.forge.headers",
	} {
		b := &Box{name: "forge", server: Server{URL: issuer.URL, Headers: map[string]string{"authorization": value}}, hub: &Hub{needs: Needs{
			Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Login: Login{Tokens: noTokens{}, HTTP: func(string, string) *http.Client { return issuer.Client() }},
		}}}
		a, err := b.authorizer(t.Context(), issuer.URL, b.hub.expander())
		if err != nil {
			t.Fatal(err)
		}
		if token, err := a.Token(t.Context()); token != "" || err != nil {
			t.Errorf("%q, %v", token, err)
		}
		for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
			req := httptest.NewRequest(http.MethodPost, issuer.URL, nil)
			err = a.Challenge(t.Context(), req, &http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": {`Bearer resource_metadata="` + issuer.URL + `/meta"`}}, Body: http.NoBody})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "toolcrib hub login forge") {
				t.Errorf("%s, status %d: %v", value, status, err)
			}
		}
	}
	if asked > 0 {
		t.Errorf("%d requests were made to log in", asked)
	}
}
