package oidc

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"

	"github.com/toolcrib/toolcrib/internal/text"
)

// publicKey is one key of the issuer: what it is called, and for what it is.
type publicKey struct {
	kid, alg string // empty: it has none, it is for every way that fits
	key      crypto.PublicKey
}

// fits reports whether a key is for a way of signing. What a key is decides, so
// that a token cannot have it used as something else.
func (k publicKey) fits(alg string) bool {
	if k.alg != "" && k.alg != alg && !(k.alg == "Ed25519" && alg == algEdDSA) {
		return false
	}
	switch k.key.(type) {
	case *rsa.PublicKey:
		return alg == algRS256 || alg == algPS256
	case *ecdsa.PublicKey:
		return alg == algES256
	case ed25519.PublicKey:
		return alg == algEdDSA
	}
	return false
}

func (k publicKey) verify(t *token) bool {
	sum := sha256.Sum256(t.signed)
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		if t.alg == algPS256 {
			return rsa.VerifyPSS(key, crypto.SHA256, sum[:], t.signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
		}
		return t.alg == algRS256 && rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], t.signature) == nil
	case *ecdsa.PublicKey:
		if t.alg != algES256 || len(t.signature) != 64 {
			return false
		}
		r, s := new(big.Int).SetBytes(t.signature[:32]), new(big.Int).SetBytes(t.signature[32:])
		return ecdsa.Verify(key, sum[:], r, s)
	case ed25519.PublicKey:
		return t.alg == algEdDSA && ed25519.Verify(key, t.signed, t.signature)
	}
	return false
}

// readKeys reads a set of keys. Those that are not for signing, or of a kind that
// is not taken, are left out.
func readKeys(text []byte) ([]publicKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("its keys cannot be read: %w", err)
	}
	var out []publicKey
	for _, one := range set.Keys {
		if k, ok := readKey(one); ok {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it publishes no key for signatures by RS256, PS256, ES256 or EdDSA")
	}
	return out, nil
}

func readKey(text json.RawMessage) (publicKey, bool) {
	var j struct {
		Kty, Kid, Use, Alg, Crv string
		N, E, X, Y              string
		Ops                     []string `json:"key_ops"`
	}
	if json.Unmarshal(text, &j) != nil || j.Use != "" && j.Use != "sig" {
		return publicKey{}, false
	}
	for _, op := range j.Ops {
		if op != "verify" {
			return publicKey{}, false
		}
	}
	k := publicKey{kid: j.Kid, alg: j.Alg}
	switch {
	case j.Kty == "RSA":
		n, e := number(j.N), number(j.E)
		if n.BitLen() < 2048 || n.BitLen() > 8192 || e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0 {
			return publicKey{}, false
		}
		k.key = &rsa.PublicKey{N: n, E: int(e.Int64())}
	case j.Kty == "EC" && j.Crv == "P-256":
		x, y := decoded(j.X), decoded(j.Y)
		if len(x) != 32 || len(y) != 32 {
			return publicKey{}, false
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		if err != nil {
			return publicKey{}, false
		}
		k.key = key
	case j.Kty == "OKP" && j.Crv == "Ed25519":
		x := decoded(j.X)
		if len(x) != ed25519.PublicKeySize {
			return publicKey{}, false
		}
		k.key = ed25519.PublicKey(x)
	default:
		return publicKey{}, false
	}
	return k, true
}

func number(text string) *big.Int { return new(big.Int).SetBytes(decoded(text)) }

// decoded is empty for what is not base64url.
func decoded(text string) []byte {
	out, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return out
}

// maxDocument bounds what is read of an issuer's answers.
const maxDocument = 1 << 20

// fetchKeys asks the issuer where its keys are, and gets them.
func (v *Verifier) fetchKeys(ctx context.Context) ([]publicKey, error) {
	var first error
	for _, at := range wellKnown(v.cfg.Issuer) {
		body, err := v.get(ctx, at)
		if err != nil {
			first = cmp.Or(first, err) // the usual place is the one to look at
			continue
		}
		var said struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
		}
		if err := json.Unmarshal(body, &said); err != nil {
			return nil, fmt.Errorf("reading %s: %w", at, err)
		}
		if said.Issuer != v.cfg.Issuer {
			return nil, fmt.Errorf("%s is of the issuer %q: write serve.oidc.issuer exactly so", at, text.Clip(said.Issuer, 200))
		}
		if err := checkURL(said.Keys, v.cfg.Issuer); err != nil {
			return nil, fmt.Errorf("the address of its keys %w", err)
		}
		if body, err = v.get(ctx, said.Keys); err != nil {
			return nil, err
		}
		return readKeys(body)
	}
	return nil, first
}

func (v *Verifier) get(ctx context.Context, at string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := v.client().Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read as far as it counts
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with status %d", at, resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("%s is larger than %d bytes", at, maxDocument)
	}
	return text, err
}

// client follows only such redirects that could have been asked for themselves.
func (v *Verifier) client() *http.Client {
	c := *v.cfg.HTTP
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 3 {
			return errors.New("too many redirects")
		}
		return checkURL(r.URL.String(), v.cfg.Issuer)
	}
	return &c
}
