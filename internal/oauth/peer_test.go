package oauth

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// TestAServerOfTheSDK: the official SDK guards the server, and we get in.
func TestAServerOfTheSDK(t *testing.T) {
	w := newWorld(t)
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		i, ok := w.tokens[token]
		if !ok {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Scopes: parseScopes(i.scope), Expiration: i.ends, UserID: i.client}, nil
	}
	place := w.server.URL + "/.well-known/oauth-protected-resource/mcp"
	mux := http.NewServeMux()
	mux.Handle("/mcp", auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: place, Scopes: []string{"read", "write"}})(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	mux.Handle("/.well-known/oauth-protected-resource/mcp", auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: w.server.URL + "/mcp", AuthorizationServers: []string{w.issuer.URL}, ScopesSupported: []string{"read", "write"}}))
	w.server.Config.Handler = mux
	w.life = 100 * 365 * 24 * 3600 / 2 // the SDK looks at the real clock
	h := w.handler(nil)
	w.works(h, "")
	w.works(h, "")
	if w.count("authorize") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

// TestAServerOfTheFirstRevision has no metadata of its own, and its issuer lies
// at its own address or where the configuration says.
func TestAServerOfTheFirstRevision(t *testing.T) {
	for _, told := range []bool{true, false} {
		w := newWorld(t)
		both := http.NewServeMux()
		both.HandleFunc("/mcp", w.mcp)
		if !told {
			both.Handle("/", w.issuer.Config.Handler)
			w.meta = func(m map[string]any) { m["issuer"] = w.server.URL }
			w.answer = func(v url.Values) { v.Set("iss", w.server.URL) }
		}
		w.server.Config.Handler = both
		h := w.handler(func(c *Config, _ *Needs) {
			if told {
				c.Issuer = w.issuer.URL
			}
		})
		w.works(h, "")
		if err := h.Login(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
