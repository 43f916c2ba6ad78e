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
	"errors"
	"fmt"
	"time"
)

// parseKey reads a private key in PEM form. The errors do not repeat it.
func parseKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("the private key is no PEM text")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		return nil, errors.New("the private key is of an unknown form; PKCS #8 is the common one")
	}
	if err != nil {
		return nil, errors.New("the private key cannot be read")
	}
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	case *rsa.PrivateKey:
		if k.N.BitLen() >= 2048 {
			return k, nil
		}
	case ed25519.PrivateKey:
		return k, nil
	}
	return nil, errors.New("the private key is neither P-256, Ed25519 nor RSA of 2048 bits and more")
}

// assertion is a signed statement that we are the client (RFC 7523). It names
// the issuer as its only reader and is good for a minute, so it is of no use to
// anybody else.
func (h *Handler) assertion(g grant) (string, error) {
	alg := "ES256"
	switch h.key.(type) {
	case *rsa.PrivateKey:
		alg = "RS256"
	case ed25519.PrivateKey:
		alg = "EdDSA"
	case nil:
		return "", errors.New("there is no private key to sign with")
	}
	now := h.needs.Now()
	head, err := json.Marshal(map[string]string{"alg": alg, "typ": "JWT"})
	if err != nil {
		return "", fmt.Errorf("writing an assertion: %w", err)
	}
	claims, err := json.Marshal(map[string]any{
		"iss": g.Client.ID, "sub": g.Client.ID, "aud": g.Issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("writing an assertion: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sig, err := sign(h.key, []byte(text))
	if err != nil {
		return "", fmt.Errorf("signing an assertion: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig), nil
}

func sign(key crypto.Signer, text []byte) ([]byte, error) {
	sum := sha256.Sum256(text)
	switch k := key.(type) {
	case *ecdsa.PrivateKey: // a signature in a JWT is two numbers of fixed size
		r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
		if err != nil {
			return nil, err
		}
		sig := make([]byte, 64)
		r.FillBytes(sig[:32])
		s.FillBytes(sig[32:])
		return sig, nil
	case ed25519.PrivateKey:
		return k.Sign(rand.Reader, text, crypto.Hash(0))
	}
	return key.Sign(rand.Reader, sum[:], crypto.SHA256)
}
