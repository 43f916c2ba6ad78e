package vault

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"filippo.io/age"
)

const (
	keyPrefix     = "AGE-SECRET-KEY-"
	minPassphrase = 12
	maxKeyText    = 64 << 10

	// scryptWork is the library's own default: about a second and 256 MiB. It is
	// spent once per process and key, since the passphrase opens a random key
	// and that one opens the store.
	scryptWork = 18
	// maxScryptWork bounds what an edited store can make us spend.
	maxScryptWork = 20
)

// key opens and closes a store.
type key struct {
	id        string // what a store says of the key it wants
	text      string
	identity  age.Identity
	recipient age.Recipient
	wrapped   []byte // the key encrypted with a passphrase, if it was made under one
}

// NewKey makes a key, for a variable or for a program that keeps keys. It is
// one that quantum computers do not break.
func NewKey() (string, error) {
	made, err := age.GenerateHybridIdentity()
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	return made.String(), nil
}

func newKey() (*key, error) {
	text, err := NewKey()
	if err != nil {
		return nil, err
	}
	return parseKey(text)
}

// parseKey takes the text of an age key. The library's errors are not passed
// on: they may quote pieces of the text.
func parseKey(text string) (*key, error) {
	k := &key{}
	var public string
	if strings.HasPrefix(text, keyPrefix+"PQ-1") {
		identity, err := age.ParseHybridIdentity(text)
		if err != nil {
			return nil, wrongKey("the text is no age key: it is cut or mistyped")
		}
		k.identity, k.recipient = identity, identity.Recipient()
		k.text, public = identity.String(), identity.Recipient().String()
	} else {
		identity, err := age.ParseX25519Identity(text)
		if err != nil {
			return nil, wrongKey("the text is no age key: it is cut, mistyped or of a kind that is not known")
		}
		k.identity, k.recipient = identity, identity.Recipient()
		k.text, public = identity.String(), identity.Recipient().String()
	}
	sum := sha256.Sum256([]byte("toolcrib vault key\n" + public))
	k.id = hex.EncodeToString(sum[:8])
	return k, nil
}

// tag binds the header and the content of a store to the private key.
func (k *key) tag(header, content []byte) ([]byte, error) {
	secret, err := hkdf.Key(sha256.New, []byte(k.text), nil, "toolcrib vault 1 tag", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of the tag: %w", err)
	}
	h := hmac.New(sha256.New, secret)
	h.Write(header) // it ends with a newline and has no other: the border is plain
	h.Write(content)
	return h.Sum(nil), nil
}

// spoken is what a source of keys said: a key, or else a passphrase.
type spoken struct {
	key        *key
	passphrase string
}

// parseSpoken tells a key from a passphrase. A key may stand in the form that
// age-keygen writes, with lines of comment.
func parseSpoken(text string) (spoken, error) {
	if strings.Contains(text, keyPrefix) {
		var found []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				found = append(found, line)
			}
		}
		if len(found) != 1 {
			return spoken{}, wrongKey("expected one key and nothing else, got %d lines", len(found))
		}
		k, err := parseKey(found[0])
		return spoken{key: k}, err
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if text == "" {
		return spoken{}, wrongKey("it is empty")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return spoken{}, wrongKey("it is neither one age key nor a passphrase of one line")
	}
	return spoken{passphrase: text}, nil
}

// wrap makes a new random key and encrypts it with a passphrase.
func wrap(passphrase string, work int) (*key, error) {
	if n := len([]rune(passphrase)); n < minPassphrase {
		return nil, wrongKey("the passphrase for a new store has %d characters; take %d or more", n, minPassphrase)
	}
	k, err := newKey()
	if err != nil {
		return nil, err
	}
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("taking the passphrase: %w", err)
	}
	recipient.SetWorkFactor(work)
	k.wrapped, err = encrypt([]byte(k.text), recipient)
	return k, err
}

// unwrap gets back what wrap made.
func unwrap(wrapped []byte, passphrase string) (*key, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("taking the passphrase: %w", err)
	}
	identity.SetMaxWorkFactor(maxScryptWork)
	text, err := decrypt(wrapped, identity)
	if errors.Is(err, age.ErrIncorrectIdentity) {
		return nil, wrongKey("the passphrase does not open this store (or its first lines were edited)")
	}
	if err != nil {
		return nil, damaged("its passphrase entry cannot be read")
	}
	k, err := parseKey(string(text))
	if err != nil {
		return nil, damaged("its passphrase entry holds no key")
	}
	k.wrapped = wrapped
	return k, nil
}

func encrypt(plain []byte, to ...age.Recipient) ([]byte, error) {
	var b bytes.Buffer
	w, err := age.Encrypt(&b, to...)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encrypting: %w", err)
	}
	return b.Bytes(), nil
}

// decrypt gives nothing unless all of it is authentic. Its errors are for
// telling apart, not for showing: the library's may quote the file.
func decrypt(data []byte, with age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(data), with)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
