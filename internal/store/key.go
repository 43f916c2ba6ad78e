package store

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// The files of the key directory. The keys are plain PEM, so that a
// checkpoint can be checked with other tools, too.
const (
	privateFile    = "private.pem"
	publicFile     = "public.pem"
	sealFile       = "seal.pem"
	checkpointFile = "checkpoint.json"
	keysLockFile   = "lock"
	suspectPattern = "suspect-*.json"
)

// keyName is how a public key stands in checkpoints and entries.
func keyName(public ed25519.PublicKey) string {
	return base64.StdEncoding.EncodeToString(public)
}

// makeKey makes the key pair, the secret of the seals and a checkpoint of the empty
// journal. The private half is written last: where it is, the others were as
// well, so that a key without a checkpoint is suspicious for ever.
func makeKey(dir string, now time.Time) (ed25519.PrivateKey, sealKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, sealKey{}, fmt.Errorf("making the journal's key: %w", err)
	}
	if err := writePublic(dir, public); err != nil {
		return nil, sealKey{}, err
	}
	seal, err := makeSeal(dir, 0)
	if err != nil {
		return nil, sealKey{}, err
	}
	born, err := newCheckpoint(private, head{}, now).encode()
	if err == nil {
		err = durable.ReplaceLocked(filepath.Join(dir, checkpointFile), born, 0o600)
	}
	if err != nil {
		return nil, sealKey{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, sealKey{}, fmt.Errorf("writing the journal's key: %w", err)
	}
	if err := durable.ReplaceLocked(filepath.Join(dir, privateFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		return nil, sealKey{}, err
	}
	return private, seal, nil
}

func writePublic(dir string, public ed25519.PublicKey) error {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return fmt.Errorf("writing the journal's public key: %w", err)
	}
	return durable.ReplaceLocked(filepath.Join(dir, publicFile), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600)
}

// loadKey reads the private key; the error is os.ErrNotExist if there is none.
func loadKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, privateFile)
	key, err := readKey[ed25519.PrivateKey](path, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, err
	}
	return key, narrow(path, 0o600)
}

// loadPublic reads the public key, which is all that verifying needs.
func loadPublic(dir string) (ed25519.PublicKey, error) {
	return readKey[ed25519.PublicKey](filepath.Join(dir, publicFile), "PUBLIC KEY", x509.ParsePKIXPublicKey)
}

func readKey[K any](path, want string, parse func([]byte) (any, error)) (key K, err error) {
	block, err := readPEM(path, want)
	if err != nil {
		return key, err
	}
	parsed, err := parse(block.Bytes)
	if err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(K)
	if !ok {
		return key, fmt.Errorf("%s: want an ed25519 key, got %T", path, parsed)
	}
	return key, nil
}

func readPEM(path, want string) (*pem.Block, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != want {
		return nil, fmt.Errorf("%s: no %s in it", path, want)
	}
	return block, nil
}

// readSecret is readPEM for a secret of the seals.
func readSecret(path, want string) (*pem.Block, error) {
	b, err := readPEM(path, want)
	if err == nil && len(b.Bytes) != secretBytes {
		err = fmt.Errorf("%s: it has %d bytes and not %d", path, len(b.Bytes), secretBytes)
	}
	return b, err
}

// sign gives the signature of a statement as it stands in JSON.
func sign(key ed25519.PrivateKey, statement []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(key, statement))
}

// signed reports whether sig is the key's signature of a statement.
func signed(key ed25519.PublicKey, statement []byte, sig string) bool {
	raw, err := base64.StdEncoding.DecodeString(sig)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, statement, raw)
}
