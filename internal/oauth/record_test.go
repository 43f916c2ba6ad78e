package oauth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestNewRefuses(t *testing.T) {
	good := Config{Server: "x", URL: "https://a.example/mcp"}
	needs := Needs{HTTP: http.DefaultClient, Store: &memory{}}
	if _, err := New(good, needs); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config, *Needs){
		"no name":                func(c *Config, _ *Needs) { c.Server = "" },
		"no address":             func(c *Config, _ *Needs) { c.URL = "" },
		"http":                   func(c *Config, _ *Needs) { c.URL = "http://a.example/mcp" },
		"no client":              func(_ *Config, n *Needs) { n.HTTP = nil },
		"no store":               func(_ *Config, n *Needs) { n.Store = nil },
		"unknown flow":           func(c *Config, _ *Needs) { c.Flow = "implicit" },
		"no secret":              func(c *Config, _ *Needs) { c.Flow, c.ClientID = FlowClient, "me" },
		"secret of nobody":       func(c *Config, _ *Needs) { c.ClientSecret = "hush" },
		"scope of two words":     func(c *Config, _ *Needs) { c.Scopes = []string{"a b"} },
		"issuer by http":         func(c *Config, _ *Needs) { c.Issuer = "http://a.example" },
		"redirect to the world":  func(c *Config, _ *Needs) { c.Redirect = "http://a.example:1/callback" },
		"redirect to all":        func(c *Config, _ *Needs) { c.Redirect = "http://0.0.0.0:1/callback" },
		"redirect without port":  func(c *Config, _ *Needs) { c.Redirect = "http://127.0.0.1/callback" },
		"redirect by https":      func(c *Config, _ *Needs) { c.Redirect = "https://127.0.0.1:1/callback" },
		"redirect with a query":  func(c *Config, _ *Needs) { c.Redirect = "http://127.0.0.1:1/callback?x" },
		"redirect to the script": func(c *Config, _ *Needs) { c.Redirect = "javascript:alert(1)" },
	} {
		cfg, n := good, needs
		change(&cfg, &n)
		if _, err := New(cfg, n); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestNothingPrintsASecret(t *testing.T) {
	cfg := Config{Server: "x", URL: "https://a.example/mcp", ClientID: "me", ClientSecret: "hush-hush"}
	h := must(New(cfg, Needs{HTTP: http.DefaultClient, Store: &memory{}}))(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if text := fmt.Sprintf(verb+verb, cfg, h); strings.Contains(text, "hush") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestStoreName(t *testing.T) {
	seen := map[string]string{}
	for _, server := range []string{"github", "GitHub", "git-hub_2", "a.b", "x." + strings.Repeat("0", 32), "ü", strings.Repeat("a", 65), "a/b", "../x"} {
		name := storeName("mcp-oauth", server)
		if other, twice := seen[name]; twice || len(name) > 128 || strings.ContainsFunc(name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
		}) {
			t.Errorf("%q is kept as %q, like %q", server, name, other)
		}
		seen[name] = server
	}
}

// TestARecordOfAnotherPlace: what was kept for a server is not given to one of
// the same name elsewhere, nor to an issuer that today's rules refuse.
func TestARecordOfAnotherPlace(t *testing.T) {
	w := newWorld(t)
	w.works(w.handler(nil), "")
	kept := w.store.get("mcp-oauth.test")
	for name, change := range map[string]func(string) string{
		"another address": func(s string) string {
			return strings.Replace(s, `"url":"http://127.0.0.1`, `"url":"http://127.0.0.2`, 1)
		},
		"another resource": func(s string) string { return strings.Replace(s, `"resource":"http`, `"resource":"https`, 1) },
		"a far issuer": func(s string) string {
			return strings.Replace(s, `"issuer":"http://127.0.0.1`, `"issuer":"http://far.example`, 1)
		},
		"a far endpoint": func(s string) string {
			return strings.Replace(s, `"token_endpoint":"http://127.0.0.1`, `"token_endpoint":"http://far.example`, 1)
		},
		"a private revoker": func(s string) string {
			return strings.Replace(s, `"revocation_endpoint":"http://127.0.0.1`, `"revocation_endpoint":"https://10.0.0.1`, 1)
		},
		"a token of two": func(s string) string { return strings.Replace(s, `"access":"`, `"access":"x\r\nHost: evil `, 1) },
		"another client": func(s string) string { return strings.Replace(s, `"from":"registered"`, `"from":"configured"`, 1) },
		"another flow": func(s string) string {
			return strings.Replace(s, `"how":"authorization_code"`, `"how":"client_credentials"`, 1)
		},
	} {
		changed := change(kept)
		if changed == kept {
			t.Fatalf("%s: the test changes nothing of %s", name, kept)
		}
		w.store.put("mcp-oauth.test", changed)
		if token := must(w.handler(nil).Token(t.Context()))(t); token != "" {
			t.Errorf("%s: a token was given out", name)
		}
	}
	w.store.put("mcp-oauth.test", kept)
	if token := must(w.handler(nil).Token(t.Context()))(t); token == "" {
		t.Error("the record that was not changed gives no token")
	}
}

func TestARecordThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{"later": `{"v":2,"secret":"hush"}`, "none": `hush`, "cut": `{"v":1,"grants":[{"access":"hush`, "no version": `{}`} {
		w := newWorld(t)
		w.store.put("mcp-oauth.test", text)
		h := w.handler(nil)
		if _, err := w.call(t.Context(), h, ""); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if w.store.get("mcp-oauth.test") != text {
			t.Errorf("%s: it was written over", name)
		}
		if err := h.Logout(t.Context()); err != nil || w.store.get("mcp-oauth.test") != "" {
			t.Errorf("%s: it cannot be removed: %v", name, err)
		}
		w.works(h, "")
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(`{"v":1,"url":"https://a.example/mcp","grants":[{"issuer":"https://i.example","resource":"https://a.example","client":{"id":"c","method":"none","from":"registered"},"token_endpoint":"https://i.example/t","access":"x","expires":"2026-11-15T12:00:00Z"}]}`))
	f.Add([]byte(`{"v":2}`))
	h := must(New(Config{Server: "x", URL: "https://a.example/mcp"}, Needs{HTTP: http.DefaultClient, Store: &memory{}}))(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecord(data)
		if err != nil {
			return
		}
		for _, g := range h.usable(r).Grants {
			if r.URL != h.cfg.URL || !covers(g.Resource, h.zone.server) || !strings.HasPrefix(strings.ToLower(g.Token), "https://") || g.Access != "" && !isToken(g.Access) {
				t.Errorf("%s gives %+v", data, g)
			}
			g.valid(time.Now())
		}
	})
}

// TestTokenAnswers: what a token endpoint may say, and what it may not.
func TestTokenAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string // in the error; "": it is taken
	}{
		{"least", 200, `{"access_token":"abc","token_type":"Bearer"}`, ""},
		{"created", 201, `{"access_token":"abc","token_type":"bearer"}`, ""},
		{"time as text", 200, `{"access_token":"abc","token_type":"bearer","expires_in":"3600"}`, ""},
		{"no time", 200, `{"access_token":"abc","token_type":"bearer","expires_in":null}`, ""},
		{"time of a fool", 200, `{"access_token":"abc","token_type":"bearer","expires_in":-1e300}`, ""},
		{"no token", 200, `{"token_type":"bearer"}`, "gave no token"},
		{"two lines", 200, `{"access_token":"abc\r\nX: y","token_type":"bearer"}`, "no header can carry"},
		{"two words", 200, `{"access_token":"abc def","token_type":"bearer"}`, "no header can carry"},
		{"another kind", 200, `{"access_token":"abc","token_type":"DPoP"}`, "other than Bearer"},
		{"no kind", 200, `{"access_token":"abc"}`, "other than Bearer"},
		{"error with status 200", 200, `{"error":"invalid_grant"}`, "invalid_grant"},
		{"page", 200, `<html>`, "no token"},
		{"refusal that is a page", 400, `<html>`, "an unknown error"},
		{"error with a text in it", 400, `{"error":"bad code-xyz"}`, "an unknown error"},
		{"list", 200, `[]`, "no token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.clients["me"] = "my-secret"
			w.token = func(rw http.ResponseWriter, _ url.Values) bool {
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(c.status)
				_, _ = rw.Write([]byte(c.body))
				return true
			}
			h := w.handler(func(c *Config, _ *Needs) { c.Flow, c.ClientID, c.ClientSecret = FlowClient, "me", "my-secret" })
			_, err := w.call(t.Context(), h, "")
			if c.want == "" && h.current().Access != "abc" || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestTheFormOfALogin: the vault reads the secrets out of a login to redact each of
// them (internal/vault/keeper/logins.go). Who changes the names of these members
// changes them there too.
func TestTheFormOfALogin(t *testing.T) {
	const want = `{"v":1,"url":"https://mcp.example/mcp","grants":[{"issuer":"https://id.example","resource":"https://mcp.example/mcp",` +
		`"client":{"id":"public-id","secret":"client-s3cret-Qx","method":"none","from":"registered","manage":"https://id.example/reg/1","registration_access_token":"manage-s3cret-Wy"},` +
		`"token_endpoint":"https://id.example/token","access":"access-s3cret-Ez","refresh":"refresh-s3cret-Rt","asked":["read"],"granted":["read"]}],"wanted":["write"]}`
	r, err := parseRecord([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	g := r.Grants[0]
	if g.Access != "access-s3cret-Ez" || g.Refresh != "refresh-s3cret-Rt" || g.Client.Secret != "client-s3cret-Qx" || g.Client.Registration != "manage-s3cret-Wy" {
		t.Errorf("%+v", g)
	}
	if text, err := json.Marshal(r); err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
