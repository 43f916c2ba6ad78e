package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// issuer is an issuer of tokens on loopback.
type issuer struct {
	t   testing.TB
	url string
	now time.Time

	mu      sync.Mutex
	keys    map[string]any // its secret keys, by name
	broken  int            // the status of its answers; 0: they are in order
	says    map[string]any // what its description says instead
	fetches atomic.Int64   // how often its keys were got
	strange atomic.Int64   // requests for what it does not have
}

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &issuer{t: t, now: time.Now().Truncate(time.Second), keys: map[string]any{"rsa": rsaKey(), "ec": curve, "ed": edwards}}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

func (s *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != 0 {
		w.WriteHeader(s.broken)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		said := map[string]any{"issuer": s.url, "jwks_uri": s.url + "/keys"}
		maps.Copy(said, s.says)
		_ = json.NewEncoder(w).Encode(said)
	case "/keys":
		s.fetches.Add(1)
		list := []any{map[string]any{"kty": "oct", "kid": "secret", "k": "c2VjcmV0"}}
		for name, key := range s.keys {
			list = append(list, published(name, key))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": list})
	default:
		s.strange.Add(1)
		http.NotFound(w, r)
	}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func published(name string, key any) map[string]any {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return map[string]any{"kty": "RSA", "kid": name, "use": "sig", "n": b64(k.N.Bytes()), "e": "AQAB"}
	case *ecdsa.PrivateKey:
		point, err := k.PublicKey.Bytes()
		if err != nil {
			panic(err)
		}
		return map[string]any{"kty": "EC", "kid": name, "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}
	case ed25519.PrivateKey:
		return map[string]any{"kty": "OKP", "kid": name, "crv": "Ed25519", "x": b64(k.Public().(ed25519.PublicKey))}
	}
	panic("no key")
}

// claims are those of a good token, with others in their place.
func (s *issuer) claims(other map[string]any) map[string]any {
	c := map[string]any{"iss": s.url, "aud": "https://tools.example/mcp", "sub": "ann", "exp": s.now.Add(time.Minute).Unix(), "iat": s.now.Unix(), "scope": "tools other"}
	for name, v := range other {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return c
}

// sign makes a token. The header is taken as it is, but for alg and kid if it has
// none.
func (s *issuer) sign(alg, kid string, header, claims map[string]any) string {
	s.t.Helper()
	h := map[string]any{"alg": alg, "kid": kid}
	for name, v := range header {
		if h[name] = v; v == nil {
			delete(h, name)
		}
	}
	return s.signText(kid, alg, mustJSON(h), mustJSON(s.claims(claims)))
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func (s *issuer) signText(kid, alg string, header, claims []byte) string {
	s.t.Helper()
	text := b64(header) + "." + b64(claims)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	var err error
	s.mu.Lock()
	key := s.keys[kid]
	s.mu.Unlock()
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if alg == algPS256 {
			sig, err = rsa.SignPSS(rand.Reader, k, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			sig, err = rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		}
	case *ecdsa.PrivateKey:
		r, v, e := ecdsa.Sign(rand.Reader, k, sum[:])
		sig, err = append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...), e
	case ed25519.PrivateKey:
		sig = ed25519.Sign(k, []byte(text))
	case []byte: // a secret that both sides would have
		m := hmac.New(sha256.New, k)
		m.Write([]byte(text))
		sig = m.Sum(nil)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return text + "." + b64(sig)
}

func (s *issuer) verifier(now func() time.Time) *Verifier {
	s.t.Helper()
	if now == nil {
		now = func() time.Time { return s.now }
	}
	v, err := New(Config{Issuer: s.url, Audience: "https://tools.example/mcp", Now: now})
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}
