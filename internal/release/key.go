package release

import (
	"bytes"
	"crypto/ed25519"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// trusted is the public key of the releases, in the form of minisign. It is part
// of the program: no flag, setting or variable puts another in its place.
//
//go:embed toolcrib.pub
var trusted string

// A Key is a public key of minisign: an ed25519 key and its number.
type Key struct {
	number [8]byte
	public ed25519.PublicKey
}

// Trusted is the key that this program was built with.
func Trusted() (Key, error) {
	key, err := ParseKey([]byte(trusted))
	if err != nil {
		return Key{}, fmt.Errorf("this program was built without a key for releases (%w): get a release by hand, and check it as docs/install.md says", err)
	}
	return key, nil
}

// ParseKey reads a public key: the file that minisign writes, or its second line.
func ParseKey(file []byte) (Key, error) {
	raw, err := payload(file, 2+8+ed25519.PublicKeySize)
	if err != nil {
		return Key{}, fmt.Errorf("reading a public key: %w", err)
	}
	key := Key{public: ed25519.PublicKey(raw[10:])}
	copy(key.number[:], raw[2:10])
	return key, nil
}

// Text is the key as one line, as "minisign -P" wants it.
func (k Key) Text() string {
	raw := append([]byte("Ed"), k.number[:]...)
	return base64.StdEncoding.EncodeToString(append(raw, k.public...))
}

// File is the key as the file that ParseKey reads.
func (k Key) File() []byte {
	return fmt.Appendf(nil, "untrusted comment: public key of the releases of Toolcrib\n%s\n", k.Text())
}

// Equal reports whether two keys are the same one.
func (k Key) Equal(other Key) bool {
	return k.number == other.number && k.public.Equal(other.public)
}

// payload decodes the one line of a key that is no comment, and holds it to its
// length and kind.
func payload(file []byte, length int) ([]byte, error) {
	if len(file) > 4096 {
		return nil, errors.New("it is longer than a key")
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if len(lines) == 2 && strings.HasPrefix(lines[0], "untrusted comment:") {
		lines = lines[1:]
	}
	if len(lines) != 1 {
		return nil, errors.New("it is not a key of minisign: want a line of comment and one of base64")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(lines[0]))
	if err != nil || len(raw) != length || !bytes.HasPrefix(raw, []byte("Ed")) {
		return nil, errors.New("it is not a key of minisign")
	}
	return raw, nil
}
