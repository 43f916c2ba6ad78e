package market

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
)

// KeyText writes a public key as settings have it.
func KeyText(key ed25519.PublicKey) string {
	return "ed25519:" + base64.StdEncoding.EncodeToString(key)
}

// ParseKey reads it.
func ParseKey(given string) (ed25519.PublicKey, error) {
	raw, ok := strings.CutPrefix(strings.TrimSpace(given), "ed25519:")
	key, err := base64.StdEncoding.DecodeString(raw)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("a key is written as ed25519: and 44 letters of base64")
	}
	return key, nil
}

// NewKey makes a key to sign with, as a text that ReadKey reads: it is a secret.
func NewKey() (string, error) {
	_, key, err := ed25519.GenerateKey(nil)
	return "ed25519-private:" + hex.EncodeToString(key.Seed()), err
}

// ReadKey reads it.
func ReadKey(secret string) (ed25519.PrivateKey, error) {
	raw, ok := strings.CutPrefix(strings.TrimSpace(secret), "ed25519-private:")
	seed, err := hex.DecodeString(raw)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("this is no key that 'toolcrib market index --new-key' made")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
