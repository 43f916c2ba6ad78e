package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestIssuerOfTheAnswer(t *testing.T) {
	for _, c := range []struct {
		name, iss string // "-": none, "+": the right one
		told      bool
		good      bool
	}{
		{"right", "+", true, true},
		{"right and not announced", "+", false, true},
		{"none and not announced", "-", false, true},
		{"none though announced", "-", true, false},
		{"another", "https://evil.example", true, false},
		{"another and not announced", "https://evil.example", false, false},
		{"with a slash more", "+/", true, false},
		{"in capitals", "HTTP+", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.meta = func(m map[string]any) { m["authorization_response_iss_parameter_supported"] = c.told }
			w.answer = func(v url.Values) {
				iss := strings.Replace(c.iss, "+", w.issuer.URL, 1)
				if c.iss == "HTTP+" {
					iss = strings.Replace(w.issuer.URL, "http", "HTTP", 1)
				}
				v.Set("iss", iss)
				if c.iss == "-" {
					v.Del("iss")
				}
			}
			_, err := w.call(t.Context(), w.handler(nil), "")
			if (err == nil) != c.good || (w.count("token") > 0) != c.good {
				t.Errorf("error %v, %d codes sent", err, w.count("authorization_code"))
			}
		})
	}
}

// TestForeignMetadata: each of these is a server or an issuer that wants to send
// us somewhere, or to be taken for somebody else.
func TestForeignMetadata(t *testing.T) {
	set := func(key string, value any) func(map[string]any) { return func(m map[string]any) { m[key] = value } }
	for _, c := range []struct {
		name     string
		resource func(map[string]any)
		meta     func(map[string]any)
		want     string
	}{
		{"resource elsewhere", set("resource", "https://evil.example/mcp"), nil, "for the resource"},
		{"resource beside", set("resource", "+/other"), nil, "for the resource"},
		{"resource below", set("resource", "+/mcp/deeper"), nil, "for the resource"},
		{"no issuers", set("authorization_servers", []string{}), nil, "names no authorization server"},
		{"issuer in the local network", set("authorization_servers", []string{"https://192.168.1.1"}), nil, "must not send us"},
		{"issuer is the metadata service", set("authorization_servers", []string{"https://169.254.169.254"}), nil, "must not send us"},
		{"issuer by http", set("authorization_servers", []string{"http://issuer.example"}), nil, "is not https"},
		{"issuer with a password", set("authorization_servers", []string{"https://a:b@issuer.example"}), nil, "no plain address"},
		{"issuer is a file", set("authorization_servers", []string{"file:///etc/passwd"}), nil, "no plain address"},
		{"another issuer", nil, set("issuer", "https://issuer.example"), "of the issuer"},
		{"no issuer", nil, set("issuer", ""), "of the issuer"},
		{"no PKCE", nil, set("code_challenge_methods_supported", nil), "PKCE"},
		{"plain PKCE", nil, set("code_challenge_methods_supported", []string{"plain"}), "PKCE"},
		{"script as page", nil, set("authorization_endpoint", "javascript:alert(1)"), "no plain address"},
		{"data as page", nil, set("authorization_endpoint", "data:text/html,x"), "no plain address"},
		{"file as page", nil, set("authorization_endpoint", "file:///bin/sh"), "no plain address"},
		{"program as page", nil, set("authorization_endpoint", "ms-msdt://x/y"), "is not https"},
		{"page by http", nil, set("authorization_endpoint", "http://issuer.example/authorize"), "is not https"},
		{"token endpoint by http", nil, set("token_endpoint", "http://issuer.example/token"), "is not https"},
		{"token endpoint in the network", nil, set("token_endpoint", "https://10.0.0.1/token"), "must not send us"},
		{"token endpoint in disguise", nil, set("token_endpoint", "https://2130706433/token"), "must not send us"},
		{"token endpoint wrapped", nil, set("token_endpoint", "https://[::ffff:10.0.0.1]/token"), "must not send us"},
		{"token endpoint missing", nil, set("token_endpoint", ""), "names no token_endpoint"},
		{"registration in the network", nil, set("registration_endpoint", "https://172.16.0.1/r"), "must not send us"},
		{"revocation in the network", nil, set("revocation_endpoint", "https://100.64.0.1/r"), "must not send us"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.meta = c.meta
			w.resource = func(m map[string]any) {
				if c.resource != nil {
					c.resource(m)
				}
				if r, ok := m["resource"].(string); ok {
					m["resource"] = strings.Replace(r, "+", w.server.URL, 1)
				}
			}
			h := w.handler(func(_ *Config, n *Needs) {
				n.Open = func(_ context.Context, page string) error {
					t.Errorf("%s was shown", page)
					return errors.New("nobody looks at it")
				}
			})
			if _, err := w.call(t.Context(), h, ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
			if w.count("register")+w.count("authorize")+w.count("token") != 0 {
				t.Errorf("it went on: %v", w.counts)
			}
		})
	}
}

// TestRedirectedMetadata: a redirect is held to the same rules as an address.
func TestRedirectedMetadata(t *testing.T) {
	for target, want := range map[string]string{
		"https://169.254.169.254/latest": "must not send us",
		"http://10.1.2.3/":               "is not https",
		"http://issuer.example/":         "is not https",
		"/loop":                          "redirects too often",
		"http://[fe80::1]/":              "is not https",
	} {
		w := newWorld(t)
		mux := http.NewServeMux()
		mux.HandleFunc("/mcp", w.mcp)
		mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, target, http.StatusFound) })
		w.server.Config.Handler = mux
		if _, err := w.call(t.Context(), w.handler(nil), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", target, err)
		}
	}
}

// TestNothingFollowsARedirect: a token endpoint that sends the code, the secret
// and the verifier on to somebody else.
func TestNothingFollowsARedirect(t *testing.T) {
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect, http.StatusFound} {
		w := newWorld(t)
		thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the thief was asked") }))
		t.Cleanup(thief.Close)
		w.token = func(rw http.ResponseWriter, _ url.Values) bool {
			rw.Header().Set("Location", thief.URL)
			rw.WriteHeader(status)
			return true
		}
		if _, err := w.call(t.Context(), w.handler(nil), ""); err == nil || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestAWrongState: an answer that somebody else made up is turned away, and no
// code of it is used.
func TestAWrongState(t *testing.T) {
	w := newWorld(t)
	w.answer = func(v url.Values) { v.Set("state", "made-up") }
	_, err := w.call(t.Context(), w.handler(func(c *Config, _ *Needs) { c.Wait = 300 * time.Millisecond }), "")
	if err == nil || !strings.Contains(err.Error(), "nobody logged in") || !strings.Contains(err.Error(), "turned away") {
		t.Errorf("the error is %v", err)
	}
	if w.count("token") != 0 {
		t.Error("a code was sent")
	}
}

// TestAStolenCode: who sees the answer of the login page on its way cannot use
// it: not at the issuer, without the verifier, and not here, a second time.
func TestAStolenCode(t *testing.T) {
	w := newWorld(t)
	var stolen url.Values
	var before []string
	w.answer = func(v url.Values) { stolen = v }
	sent := 0
	w.token = func(_ http.ResponseWriter, f url.Values) bool {
		if w.codes[f.Get("code")] == nil {
			return false // it asks whether the client is still known
		}
		sent++
		asked := w.codes[stolen.Get("code")]
		verifier := f.Get("code_verifier")
		if len(verifier) < 43 || strings.Contains(asked.Encode()+stolen.Encode(), verifier) {
			t.Errorf("the verifier %q can be guessed, or stood in an address", verifier)
		}
		for _, once := range []string{verifier, asked.Get("state"), asked.Get("code_challenge")} {
			if slices.Contains(before, once) {
				t.Errorf("%q was used before", once)
			}
			before = append(before, once)
		}
		return false
	}
	h := w.handler(nil)
	for range 3 {
		if err := h.Login(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.codes) != 0 || sent != 3 {
		t.Errorf("the codes were sent %d times", sent)
	}
	replay := h.current().Client.Redirect + "?" + stolen.Encode()
	if resp, err := http.Get(replay); err == nil {
		resp.Body.Close()
		t.Error("the door is still open after the login")
	}
	if sent != 3 {
		t.Error("the answer was used twice")
	}
}

// TestAnotherIssuerGetsNothing: a server that was taken over names an issuer of
// the thief, to be shown the configured secret.
func TestAnotherIssuerGetsNothing(t *testing.T) {
	for _, flow := range []string{FlowCode, FlowClient} {
		for _, known := range []bool{true, false} { // the issuer is in the configuration, or was learned
			t.Run(fmt.Sprint(flow, known), func(t *testing.T) {
				w, thief := newWorld(t), newWorld(t)
				w.clients["me"] = w.secret("my-own-secret")
				h := w.handler(func(c *Config, _ *Needs) {
					c.ClientID, c.ClientSecret, c.Flow = "me", "my-own-secret", flow
					if known {
						c.Issuer = w.issuer.URL
					}
				})
				w.works(h, "")
				w.voidTokens()
				w.clock.move(time.Minute)
				w.change(func() { w.issuers = func() []string { return []string{thief.issuer.URL} } })
				if _, err := w.call(t.Context(), h, ""); err == nil || !strings.Contains(err.Error(), "the server names the issuer") {
					t.Errorf("the error is %v", err)
				}
				again := w.handler(func(c *Config, _ *Needs) {
					c.ClientID, c.ClientSecret, c.Flow, c.Issuer = "me", "my-own-secret", flow, h.cfg.Issuer
				})
				if _, err := w.call(t.Context(), again, ""); err == nil || !strings.Contains(err.Error(), "the server names the issuer") {
					t.Errorf("after a restart the error is %v", err)
				}
				if n := thief.count("token") + thief.count("authorize"); n != 0 {
					t.Errorf("the thief was shown something: %v", thief.counts)
				}
			})
		}
	}
}

// TestAMovedIssuer: a client that was got by registration is made anew at the
// new issuer, and the new one sees nothing of the old.
func TestAMovedIssuer(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	old := w.knownClients()[0]
	other.server.Config.Handler = w.server.Config.Handler
	var shown []string
	other.token = func(rw http.ResponseWriter, f url.Values) bool {
		shown = append(shown, f.Encode())
		reply(rw, http.StatusOK, map[string]any{"access_token": "from-the-other", "token_type": "Bearer"})
		return true
	}
	w.voidTokens()
	w.change(func() {
		w.issuers = func() []string { return []string{other.issuer.URL} }
		w.tokens["from-the-other"] = issued{ends: w.clock.Now().Add(time.Hour)}
	})
	other.issuer.Config.Handler.(*http.ServeMux).HandleFunc("GET /authorize/here", func(rw http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(rw, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}, "iss": {other.issuer.URL}}.Encode(), http.StatusFound)
	})
	other.meta = func(m map[string]any) { m["authorization_endpoint"] = other.issuer.URL + "/authorize/here" }
	w.works(h, "")
	if other.count("register") != 1 || len(shown) != 1 || strings.Contains(shown[0], old) || strings.Contains(shown[0], "refresh") {
		t.Errorf("the new issuer was shown %q", shown)
	}
}

func TestAnAskerForEverMoreScopes(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	var last error
	for i := range 10 {
		_, last = w.call(t.Context(), h, fmt.Sprint("scope-", i))
	}
	if n := w.count("authorize"); n != maxLogins || !errors.Is(last, ErrRefused) {
		t.Errorf("%d pages, error %v", n, last)
	}
	w.clock.move(2 * loginWindow)
	w.works(h, "scope-11")
}

func TestAScopeThatIsNeverGiven(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.answer = func(url.Values) {
		for _, q := range w.codes {
			q.Set("scope", "less")
		}
	}
	for range 5 {
		if status, _ := w.call(t.Context(), h, "more"); status != http.StatusForbidden {
			t.Fatalf("status %d", status)
		}
	}
	if n := w.count("authorize"); n != 2 {
		t.Errorf("%d pages; one for the login and one for the scope are all it can take", n)
	}
}

func TestChallengesOfOthers(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	for _, c := range []struct {
		url    string
		status int
		header string
	}{
		{"http://127.0.0.1:1/mcp", 401, "Bearer"},
		{"https://evil.example/mcp", 401, "Bearer"},
		{w.server.URL + "/mcp", 403, "Bearer"},
		{w.server.URL + "/mcp", 403, `Bearer error="invalid_token"`},
		{w.server.URL + "/mcp", 407, `Bearer error="insufficient_scope"`},
		{w.server.URL + "/mcp", 500, "Bearer"},
	} {
		req := must(http.NewRequest(http.MethodPost, c.url, http.NoBody))(t)
		resp := &http.Response{StatusCode: c.status, Header: http.Header{"Www-Authenticate": {c.header}}}
		if err := h.Challenge(t.Context(), req, resp); !errors.Is(err, ErrRefused) {
			t.Errorf("%s %d: the error is %v", c.url, c.status, err)
		}
	}
	if len(w.counts) != 0 {
		t.Errorf("it took %v", w.counts)
	}
}

// TestFloods: more than any metadata or token has, from each of the endpoints.
func TestFloods(t *testing.T) {
	flood := strings.Repeat(" ", maxBody) + "{}"
	w := newWorld(t)
	w.resource = func(m map[string]any) { m["x"] = flood }
	if _, err := w.call(t.Context(), w.handler(nil), ""); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("metadata: %v", err)
	}
	w = newWorld(t)
	w.token = func(rw http.ResponseWriter, _ url.Values) bool {
		reply(rw, http.StatusOK, map[string]any{"access_token": strings.Repeat("x", maxToken+1), "token_type": "Bearer"})
		return true
	}
	if _, err := w.call(t.Context(), w.handler(nil), ""); err == nil || !strings.Contains(err.Error(), "no header can carry") {
		t.Errorf("token: %v", err)
	}
}
