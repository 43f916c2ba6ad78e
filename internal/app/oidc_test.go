package app

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/httpauth"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
)

// newIssuer is an issuer on loopback, and how it signs tokens.
func newIssuer(t *testing.T) (url string, sign func(claims map[string]any) string) {
	t.Helper()
	public, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": b64(public)}}})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": url, "jwks_uri": url + "/keys"})
	}))
	t.Cleanup(web.Close)
	url = web.URL
	return url, func(claims map[string]any) string {
		all := map[string]any{"iss": url, "aud": "https://tools.example/mcp", "exp": time.Now().Add(time.Hour).Unix()}
		maps.Copy(all, claims)
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		signed := b64([]byte(`{"alg":"EdDSA","kid":"k"}`)) + "." + b64(text)
		return signed + "." + b64(ed25519.Sign(secret, []byte(signed)))
	}
}

// TestPeopleOfAnIssuer: people who log in elsewhere are who their token says, with
// the profile of their scope, and reach nothing of each other.
func TestPeopleOfAnIssuer(t *testing.T) {
	issuer, sign := newIssuer(t)
	d := newDoorway(t, func(c *settings.Config) {
		c.Serve.OIDC.Issuer, c.Serve.OIDC.Resource = issuer, "https://tools.example/mcp"
		c.Serve.OIDC.Access = []settings.OIDCEntry{{Has: "write", Profile: "coding"}, {Has: "read", Profile: "minimal"}}
	})
	ann := sign(map[string]any{"sub": "ann", "scope": "openid write read"})
	bob := sign(map[string]any{"sub": "bob", "scope": "read"})
	tools := func(token string) (names []string) {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: d.url, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_time", Arguments: map[string]any{}}); err != nil || r.IsError {
			t.Logf("%+v, %v", r, err)
		}
		return names
	}
	if of := tools(ann); !slices.Contains(of, "write_file") {
		t.Errorf("ann has %q", of)
	}
	if of := tools(bob); slices.Contains(of, "write_file") || !slices.Contains(of, "read_file") {
		t.Errorf("bob has %q", of)
	}
	records, err := d.app.Journal.List(t.Context(), store.Filter{Subject: "oidc:bob"})
	if err != nil || len(records) != 1 || records[0].Caller.Token != "oidc:read" || records[0].Caller.Frontend != "mcp-http" {
		t.Errorf("%+v, %v", records, err)
	}

	// A session is the person's who began it, whatever token they have later.
	head := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	began := knock(t, "POST", d.url, initializes, head(ann))
	in := func(token string) int {
		h := head(token)
		h.Set("Mcp-Session-Id", began.header.Get("Mcp-Session-Id"))
		return knock(t, "POST", d.url, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, h).status
	}
	if status := in(sign(map[string]any{"sub": "ann", "scope": "write", "jti": "renewed"})); status != http.StatusOK {
		t.Errorf("ann, with another token: %d", status)
	}
	for who, token := range map[string]string{
		"bob": bob, "bob with ann's scope": sign(map[string]any{"sub": "bob", "scope": "write"}), "ann with less": sign(map[string]any{"sub": "ann", "scope": "read"}),
		"the account itself": d.token(),
	} {
		if status := in(token); status != http.StatusNotFound {
			t.Errorf("%s in ann's session: %d", who, status)
		}
	}

	metadata := strings.TrimSuffix(d.url, "/mcp") + "/.well-known/oauth-protected-resource"
	for name, c := range map[string]struct {
		token  string
		status int
		says   string // in the challenge
	}{
		"none":         {"", 401, `resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`},
		"unknown":      {"abc", 401, `error="invalid_token"`},
		"expired":      {sign(map[string]any{"sub": "ann", "scope": "write", "exp": time.Now().Add(-time.Hour).Unix()}), 401, "expired"},
		"for others":   {sign(map[string]any{"sub": "ann", "scope": "write", "aud": "other"}), 401, "aud"},
		"no scope":     {sign(map[string]any{"sub": "ann", "scope": "openid"}), 403, `error="insufficient_scope"`},
		"nobody":       {sign(map[string]any{"scope": "write"}), 401, "sub"},
		"an empty sub": {sign(map[string]any{"sub": " ", "scope": "write"}), 401, "sub"},
		"a long sub":   {sign(map[string]any{"sub": strings.Repeat("a", 201), "scope": "write"}), 401, "sub"},
		"hidden":       {sign(map[string]any{"sub": "ann\u200b", "scope": "write"}), 401, "sub"},
		"a number":     {sign(map[string]any{"sub": 7, "scope": "write"}), 401, "sub"},
	} {
		h := http.Header{}
		if c.token != "" {
			h = head(c.token)
		}
		r := knock(t, "POST", d.url, initializes, h)
		if said := r.header.Get("WWW-Authenticate"); r.status != c.status || !strings.Contains(said, c.says) || !strings.Contains(said, "resource_metadata=") {
			t.Errorf("%s: %d %s", name, r.status, said)
		}
	}
	for _, at := range []string{metadata, metadata + "/mcp"} {
		r := knock(t, "GET", at, "", http.Header{})
		var said struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		if err := json.NewDecoder(r.body).Decode(&said); err != nil || r.status != 200 || said.Resource != "https://tools.example/mcp" || !slices.Equal(said.Servers, []string{issuer}) || !slices.Equal(said.Scopes, []string{"write", "read"}) {
			t.Errorf("%s: %d %+v, %v", at, r.status, said, err)
		}
	}
	// What the settings no longer say ends what goes on.
	h := head(ann)
	h.Set("Mcp-Session-Id", began.header.Get("Mcp-Session-Id"))
	stream := knock(t, "GET", d.url, "", h)
	cfg := settings.Defaults()
	if err := d.app.setPolicy(cfg, nil); err != nil {
		t.Fatal(err)
	}
	if r := knock(t, "POST", d.url, initializes, head(ann)); r.status != 401 {
		t.Errorf("without an issuer: %d", r.status)
	}
	for {
		if _, err := stream.body.ReadString('\n'); err != nil {
			break // it has ended
		}
	}
	if r := knock(t, "GET", metadata, "", http.Header{}); r.status != 404 {
		t.Errorf("without an issuer: %d", r.status)
	}
}

// TestIssuerIsDown: nobody comes in by a token that cannot be checked, and it is
// told why; tokens of ours go on to count.
func TestIssuerIsDown(t *testing.T) {
	_, sign := newIssuer(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	d := newDoorway(t, func(c *settings.Config) {
		c.Serve.OIDC.Issuer, c.Serve.OIDC.Audience = gone.URL, "a"
		c.Serve.OIDC.Access = []settings.OIDCEntry{{Has: "*"}}
	})
	token := sign(map[string]any{"iss": gone.URL, "aud": "a", "sub": "ann"})
	for range 2 {
		r := knock(t, "POST", d.url, initializes, http.Header{"Authorization": {"Bearer " + token}})
		text, err := r.body.ReadString('\n')
		if err != nil || r.status != 503 || !strings.Contains(text, "cannot be asked for its keys") || strings.Contains(text, gone.URL) {
			t.Errorf("%d %s, %v", r.status, text, err)
		}
	}
	if r := knock(t, "POST", d.url, initializes, http.Header{"Authorization": {"Bearer " + d.token()}}); r.status != 200 {
		t.Errorf("our own token: %d", r.status)
	}
}

// TestSettingsKeepKeys: when the settings change while the issuer is down, people
// still come in by the keys that it had.
func TestSettingsKeepKeys(t *testing.T) {
	issuer, sign := newIssuer(t)
	var cfg settings.Config
	d := newDoorway(t, func(c *settings.Config) {
		c.Serve.OIDC.Issuer, c.Serve.OIDC.Resource = issuer, "https://tools.example/mcp"
		c.Serve.OIDC.Access = []settings.OIDCEntry{{Has: "*"}}
		cfg = *c
	})
	before := d.app.policy.guests.Load()
	cfg.Tokens = map[string]settings.Token{"new": {SHA256: sumOf("new")}}
	if err := d.app.setPolicy(cfg, nil); err != nil {
		t.Fatal(err)
	}
	if now := d.app.policy.guests.Load(); now == before || now.Issuer.Verifier != before.Issuer.Verifier {
		t.Error("the issuer's keys are forgotten")
	}
	if r := knock(t, "POST", d.url, initializes, http.Header{"Authorization": {"Bearer " + sign(map[string]any{"sub": "ann"})}}); r.status != 200 {
		t.Errorf("status %d", r.status)
	}
}

// TestListeningEndsWithTheToken: what listens by POST does not outlive its token for
// as long as a call may.
func TestListeningEndsWithTheToken(t *testing.T) {
	issuer, sign := newIssuer(t)
	d := newDoorway(t, func(c *settings.Config) {
		c.Serve.OIDC.Issuer, c.Serve.OIDC.Resource = issuer, "https://tools.example/mcp"
		c.Serve.OIDC.Access = []settings.OIDCEntry{{Has: "*"}}
	})
	// Its token expired some seconds ago and counts for half a minute, for clocks
	// that differ. On a slow machine that has passed before it is looked at.
	for ago := 28 * time.Second; ; ago -= 5 * time.Second {
		token := sign(map[string]any{"sub": "ann", "exp": time.Now().Add(-ago).Unix()})
		r := knock(t, "POST", d.url, listens, http.Header{"Authorization": {"Bearer " + token}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}})
		if r.status == http.StatusUnauthorized {
			continue
		}
		if r.status != http.StatusOK {
			t.Fatal(r.status)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				if _, err := r.body.ReadString('\n'); err != nil {
					return
				}
			}
		}()
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			t.Error("the stream goes on")
		}
		return
	}
}

// TestCheckServe: what serve would refuse, and an issuer that does not answer, are
// found before anybody wants to come in.
func TestCheckServe(t *testing.T) {
	issuer, _ := newIssuer(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		change func(*settings.Serve)
		says   string
	}{
		"nothing":        {func(*settings.Serve) {}, ""},
		"an issuer":      {func(s *settings.Serve) { s.OIDC.Issuer = issuer }, ""},
		"a dead issuer":  {func(s *settings.Serve) { s.OIDC.Issuer = gone.URL }, "cannot be asked for its keys"},
		"no key":         {func(s *settings.Serve) { s.TLS.Cert = "cert.pem" }, "serve.tls.key"},
		"no such files":  {func(s *settings.Serve) { s.TLS.Cert, s.TLS.Key = "no.pem", "no.key" }, "no.pem"},
		"other machines": {func(s *settings.Serve) { s.Listen, s.Remote = "0.0.0.0:7717", true }, "serve.tls"},
	} {
		cfg := settings.Defaults()
		cfg.Serve.OIDC.Audience, cfg.Serve.OIDC.Access = "tools", []settings.OIDCEntry{{Has: "*"}}
		c.change(&cfg.Serve)
		a := &App{}
		guests, err := httpauth.AccessOf(&settings.Layers{User: cfg}, cfg, "ann", nil)
		if err != nil {
			t.Fatal(err)
		}
		a.policy.guests.Store(guests)
		if err := a.CheckServe(t.Context(), cfg.Serve); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
