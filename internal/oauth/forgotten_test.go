package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// forgetClients is what a restart does to an issuer that keeps its clients in
// memory: it knows neither them nor what it gave them.
func (w *world) forgetClients() {
	w.change(func() {
		clear(w.clients)
		clear(w.renewal)
		clear(w.tokens)
	})
}

// TestAForgottenClientAtALogin: an issuer that does not know a client shows an
// error and never answers. The person must not be sent there.
func TestAForgottenClientAtALogin(t *testing.T) {
	for _, methods := range [][]string{{"none"}, {"client_secret_basic"}, {"client_secret_post"}} {
		w := newWorld(t)
		w.scope = "read"
		w.meta = func(m map[string]any) { m["token_endpoint_auth_methods_supported"] = methods }
		if err := w.handler(nil).Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.forgetClients()
		h := w.handler(nil)
		if err := h.Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.works(h, "read")
		if w.count("register") != 2 || w.count("authorize") != 2 {
			t.Errorf("it took %v", w.counts)
		}
		if s, err := h.Status(t.Context()); err != nil || !s.Again {
			t.Errorf("the status is %+v, %v", s, err)
		}
		if !strings.Contains(w.logs.String(), "no longer knows the client") {
			t.Errorf("the log is %s", w.logs)
		}
	}
}

// TestAForgottenClientAtARenewal: without a person the error says what happened,
// and the login keeps its scopes.
func TestAForgottenClientAtARenewal(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	if err := w.handler(func(c *Config, _ *Needs) { c.Scopes = []string{"read", "write"} }).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	served := w.handler(nobody)
	w.works(served, "write")
	w.forgetClients()
	w.clock.move(2 * time.Hour)
	for range 2 {
		if _, err := w.call(t.Context(), served, "write"); !errors.Is(err, ErrLogin) || !strings.Contains(err.Error(), "no longer knows the client") {
			t.Fatalf("the error is %v", err)
		}
	}
	if err := w.handler(nil).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.works(served, "write")
	if w.count("register") != 2 || w.count("authorize") != 2 {
		t.Errorf("it took %v", w.counts)
	}
}

// TestAForgottenClientAtThePage: the issuer loses its clients while the person
// logs in, or says so only then.
func TestAForgottenClientAtThePage(t *testing.T) {
	for _, how := range []string{"page", "token"} {
		w := newWorld(t)
		if err := w.handler(nil).Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		old := w.knownClients()[0]
		w.change(func() {
			w.answer = func(v url.Values) {
				if how == "page" && w.lastPage.Get("client_id") == old {
					v.Del("code")
					v.Set("error", "unauthorized_client")
				}
			}
			w.token = func(rw http.ResponseWriter, f url.Values) bool {
				bad := how == "token" && f.Get("client_id") == old && w.codes[f.Get("code")] != nil
				if bad {
					reply(rw, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
				}
				return bad
			}
		})
		h := w.handler(nil)
		if err := h.Login(t.Context()); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		w.works(h, "")
		if w.count("register") != 2 || w.count("authorize") != 3 {
			t.Errorf("%s: it took %v", how, w.counts)
		}
	}
}

// TestAnIssuerThatKnowsNobody makes us register once more, and not for ever.
func TestAnIssuerThatKnowsNobody(t *testing.T) {
	w := newWorld(t)
	if err := w.handler(nil).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.change(func() {
		w.token = func(rw http.ResponseWriter, _ url.Values) bool {
			reply(rw, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
			return true
		}
	})
	if err := w.handler(nil).Login(t.Context()); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("the error is %v", err)
	}
	if w.count("register") != 2 || w.count("authorize") != 2 {
		t.Errorf("it took %v", w.counts)
	}
}

// TestLogoutRemovesTheRegistration where the issuer lets us.
func TestLogoutRemovesTheRegistration(t *testing.T) {
	for _, gone := range []bool{false, true} {
		w := newWorld(t)
		w.manages = true
		h := w.handler(nil)
		w.works(h, "")
		if !strings.Contains(w.store.get(h.name), "manage-") {
			t.Error("the token of the registration is not kept")
		}
		if gone {
			w.change(func() { clear(w.clients) })
		}
		if err := h.Logout(t.Context()); err != nil {
			t.Errorf("gone %t: %v", gone, err)
		}
		if w.count("unregister") != 1 || len(w.knownClients()) != 0 {
			t.Errorf("gone %t: it took %v, and there are %v", gone, w.counts, w.knownClients())
		}
	}
}

// TestARegistrationThatLeadsElsewhere: its token goes nowhere that the server
// must not send us to.
func TestARegistrationThatLeadsElsewhere(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	for _, at := range []string{"http://169.254.169.254/x", "http://example.com/x", "file:///etc/passwd", "https://u:p@example.com/"} {
		r := h.usable(record{Version: recordVersion, URL: h.cfg.URL, Grants: []grant{{Issuer: w.issuer.URL, Token: w.issuer.URL + "/token", Resource: h.cfg.URL,
			Client: client{ID: "x", From: registered, Manage: at, Registration: "secret"}}}})
		if len(r.Grants) != 1 || r.Grants[0].Client.Manage != "" || r.Grants[0].Client.Registration != "" {
			t.Errorf("%s: %+v", at, r.Grants)
		}
	}
}

// TestLogoutFromAnIssuerThatRevokesNoAccessTokens, as those do whose tokens say
// everything themselves.
func TestLogoutFromAnIssuerThatRevokesNoAccessTokens(t *testing.T) {
	w := newWorld(t)
	w.unrevoked = true
	h := w.handler(nil)
	w.works(h, "")
	if err := h.Logout(t.Context()); err != nil {
		t.Error(err)
	}
	if len(w.renewal) != 0 {
		t.Error("the refresh token is still good")
	}
}
