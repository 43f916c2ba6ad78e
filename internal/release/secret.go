package release

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
)

// The secret key of minisign: kinds (6), salt (32), two limits (16), and then the
// number (8), the key (64) and a checksum (32). Only keys without a password are
// read, as "minisign -G -W" makes them: where a release is made, nobody types.
const (
	secretLength = 6 + 32 + 16 + 8 + ed25519.PrivateKeySize + 32
	secretNumber = 6 + 32 + 16
)

// A Secret signs releases.
type Secret struct {
	number  [8]byte
	private ed25519.PrivateKey
}

// NewSecret makes a key.
func NewSecret() (Secret, error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return Secret{}, err
	}
	s := Secret{private: private}
	_, err = rand.Read(s.number[:])
	return s, err
}

// ParseSecret reads a secret key of minisign that has no password.
func ParseSecret(file []byte) (Secret, error) {
	raw, err := payload(file, secretLength)
	if err != nil {
		return Secret{}, fmt.Errorf("reading the secret key: %w", err)
	}
	if raw[2] != 0 || raw[3] != 0 {
		return Secret{}, errors.New("reading the secret key: it has a password. Make one without ('minisign -G -W'), and keep it where only the release can read it")
	}
	s := Secret{private: ed25519.PrivateKey(raw[secretNumber+8 : secretNumber+8+ed25519.PrivateKeySize])}
	copy(s.number[:], raw[secretNumber:])
	if whole := ed25519.NewKeyFromSeed(s.private.Seed()); !whole.Equal(s.private) {
		return Secret{}, errors.New("reading the secret key: its halves do not belong together")
	}
	return s, nil
}

// File is the key as ParseSecret and minisign read it. The checksum is empty, as it
// is in keys without a password that minisign makes.
func (s Secret) File() []byte {
	raw := make([]byte, secretLength)
	copy(raw, "Ed\x00\x00B2")
	copy(raw[secretNumber:], s.number[:])
	copy(raw[secretNumber+8:], s.private)
	return fmt.Appendf(nil, "untrusted comment: SECRET key of the releases of Toolcrib\n%s\n", base64.StdEncoding.EncodeToString(raw))
}

// Public is the half that people check signatures with.
func (s Secret) Public() Key {
	return Key{number: s.number, public: s.private.Public().(ed25519.PublicKey)} // ed25519 says so
}
