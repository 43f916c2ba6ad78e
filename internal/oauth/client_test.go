package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestClientCredentials(t *testing.T) {
	for _, methods := range [][]string{nil, {"client_secret_basic"}, {"client_secret_post"}, {"client_secret_post", "client_secret_basic"}} {
		t.Run(fmt.Sprint(methods), func(t *testing.T) {
			w := newWorld(t)
			const id, secret = "id with: odd%", "secret with: odd%+"
			w.clients[id] = w.secret(secret)
			if post := len(methods) == 1 && methods[0] == "client_secret_post"; !post {
				w.clients = map[string]string{url.QueryEscape(id): w.secret(url.QueryEscape(secret))} // as the header has it
			}
			w.meta = func(m map[string]any) {
				m["token_endpoint_auth_methods_supported"] = methods
				delete(m, "code_challenge_methods_supported") // PKCE is for codes
				delete(m, "authorization_endpoint")
			}
			w.scope = "read"
			h := w.handler(func(c *Config, n *Needs) {
				c.Flow, c.ClientID, c.ClientSecret = FlowClient, id, secret
				n.Open, n.Serve = nil, nil
			})
			w.works(h, "read")
			w.works(h, "write") // one more scope needs nobody
			w.clock.move(2 * time.Hour)
			w.works(h, "write")
			if w.count("client_credentials") != 3 || w.count("401") != 1 || w.count("authorize")+w.count("register") != 0 {
				t.Errorf("it took %v", w.counts)
			}
			if strings.Contains(w.store.get(h.name), "secret with") {
				t.Error("the configured secret was written down")
			}
		})
	}
}

func TestClientCredentialsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = w.secret("right-secret")
	h := w.handler(func(c *Config, _ *Needs) {
		c.Flow, c.ClientID, c.ClientSecret = FlowClient, "me", w.secret("wrong-secret")
	})
	if _, err := w.call(t.Context(), h, ""); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("the error is %v", err)
	}
}

func TestAServerThatRefusesEveryToken(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = w.secret("my-secret")
	w.refuse = true
	h := w.handler(func(c *Config, _ *Needs) { c.Flow, c.ClientID, c.ClientSecret = FlowClient, "me", "my-secret" })
	for range 5 {
		if status, _ := w.call(t.Context(), h, ""); status != http.StatusUnauthorized {
			t.Fatalf("status %d", status)
		}
	}
	if n := w.count("token"); n > 5 {
		t.Errorf("%d tokens for 5 calls", n)
	}
}

func pemOf(t *testing.T, key any) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))(t)}))
}

func TestPrivateKeyInPlaceOfASecret(t *testing.T) {
	ec := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	rs := must(rsa.GenerateKey(rand.Reader, 2048))(t)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for alg, key := range map[string]crypto.Signer{"ES256": ec, "RS256": rs, "EdDSA": ed} {
		t.Run(alg, func(t *testing.T) {
			w := newWorld(t)
			var seen []string
			w.token = func(rw http.ResponseWriter, f url.Values) bool {
				seen = append(seen, f.Get("client_assertion"))
				checkAssertion(t, w, alg, key.Public(), f)
				w.tokens["from-assertion"] = issued{ends: w.clock.Now().Add(time.Hour)}
				reply(rw, http.StatusOK, map[string]any{"access_token": "from-assertion", "token_type": "Bearer", "expires_in": "60"})
				return true
			}
			text := pemOf(t, key)
			w.secret(text[40:80])
			h := w.handler(func(c *Config, _ *Needs) { c.Flow, c.ClientID, c.ClientSecret = FlowClient, "me", text })
			w.works(h, "")
			w.clock.move(50 * time.Second)
			w.works(h, "")
			if len(seen) != 2 || seen[0] == seen[1] {
				t.Errorf("%d assertions, or the same twice", len(seen))
			}
		})
	}
}

func checkAssertion(t *testing.T, w *world, alg string, key crypto.PublicKey, f url.Values) {
	t.Helper()
	parts := strings.Split(f.Get("client_assertion"), ".")
	if len(parts) != 3 || f.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || f.Has("client_secret") {
		t.Fatalf("the request is %v", f)
	}
	var head struct{ Alg, Typ string }
	var claims struct {
		Iss, Sub, Aud, Jti string
		Iat, Exp           int64
	}
	for i, v := range []any{&head, &claims} {
		if err := json.Unmarshal(must(base64.RawURLEncoding.DecodeString(parts[i]))(t), v); err != nil {
			t.Fatal(err)
		}
	}
	now := w.clock.Now().Unix()
	if head.Alg != alg || claims.Iss != "me" || claims.Sub != "me" || claims.Aud != w.issuer.URL || claims.Jti == "" || claims.Iat != now || claims.Exp != now+60 {
		t.Errorf("the assertion says %+v %+v", head, claims)
	}
	text, sig := []byte(parts[0]+"."+parts[1]), must(base64.RawURLEncoding.DecodeString(parts[2]))(t)
	sum := sha256.Sum256(text)
	good := false
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		good = len(sig) == 64 && ecdsa.Verify(k, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
	case *rsa.PublicKey:
		good = rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], sig) == nil
	case ed25519.PublicKey:
		good = ed25519.Verify(k, text, sig)
	}
	if !good {
		t.Error("the signature is wrong")
	}
}

func TestKeysThatAreNone(t *testing.T) {
	p384 := must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))(t)
	for name, text := range map[string]string{
		"cut":         "-----BEGIN PRIVATE KEY-----\nAAAA",
		"empty":       "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
		"certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"curve":       pemOf(t, p384),
	} {
		_, err := New(Config{Server: "x", URL: "https://a.example", ClientID: "me", ClientSecret: text}, Needs{HTTP: http.DefaultClient, Store: &memory{}})
		if err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestConfiguredClientLogsIn(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = w.secret("my-secret-word")
	w.meta = func(m map[string]any) { delete(m, "registration_endpoint") }
	h := w.handler(func(c *Config, _ *Needs) { c.ClientID, c.ClientSecret = "me", "my-secret-word" })
	w.works(h, "")
	w.clock.move(2 * time.Hour)
	w.works(h, "")
	if w.count("authorize") != 1 || w.count("refresh_token") != 1 {
		t.Errorf("it took %v", w.counts)
	}
	// Without an ID there is no way in, and the error says what to do.
	if _, err := w.call(t.Context(), w.handler(func(c *Config, _ *Needs) { c.Server = "other" }), ""); err == nil || !strings.Contains(err.Error(), "get a client ID") {
		t.Errorf("the error is %v", err)
	}
	// With another ID in the configuration the login of before is not used.
	other := w.handler(func(c *Config, _ *Needs) { c.ClientID = "somebody-else" })
	if token := must(other.Token(t.Context()))(t); token != "" {
		t.Error("the token of another client was given out")
	}
}

func TestClientDocument(t *testing.T) {
	const doc = "https://toolcrib.example/client.json"
	for _, taken := range []bool{true, false} {
		w := newWorld(t)
		w.clients[doc] = ""
		w.meta = func(m map[string]any) { m["client_id_metadata_document_supported"] = taken }
		h := w.handler(func(c *Config, _ *Needs) { c.ClientID = doc })
		w.works(h, "")
		w.works(w.handler(func(c *Config, n *Needs) { c.ClientID, n.Open = doc, nil }), "") // kept
		if (w.count("register") == 0) != taken {
			t.Errorf("taken %t: it took %v", taken, w.counts)
		}
	}
}

func TestRegistrationForms(t *testing.T) {
	for _, methods := range [][]string{{"client_secret_post"}, {"client_secret_basic"}, {"none", "client_secret_post"}} {
		w := newWorld(t)
		w.meta = func(m map[string]any) { m["token_endpoint_auth_methods_supported"] = methods }
		h := w.handler(nil)
		w.works(h, "")
		if got := h.current().Client.Method; got != methods[0] {
			t.Errorf("%v: the method is %s", methods, got)
		}
	}
}

// TestAnIssuerThatForgotUs: a registration that is gone there is made anew.
func TestAnIssuerThatForgotUs(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	old := w.knownClients()[0]
	w.change(func() {
		w.token = func(rw http.ResponseWriter, f url.Values) bool {
			if f.Get("client_id") == old {
				reply(rw, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
			}
			return f.Get("client_id") == old
		}
	})
	w.clock.move(2 * time.Hour)
	w.works(h, "")
	if w.count("register") != 2 {
		t.Errorf("it took %v", w.counts)
	}
}
