package setup

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// Sizes of a Fernet token: version, time, initial vector, and the tag at the end.
const (
	fernetVersion = 0x80
	fernetHead    = 1 + 8 + aes.BlockSize
	fernetKey     = 32
	mostToken     = 16 << 20
)

var errFernet = errors.New("it cannot be opened with its key: one of the two is damaged, or not of the other")

// openFernet opens a token of the Fernet format, with which AgenticX closes its
// credentials: AES-128-CBC, with an HMAC-SHA256 over everything before it. When the
// token was made is not looked at.
func openFernet(key, token string) ([]byte, error) {
	secret, err := fernetText(key)
	if err != nil || len(secret) != fernetKey {
		return nil, errors.New("its key is not one: 32 bytes in base64 were expected")
	}
	if len(token) > mostToken {
		return nil, errors.New("it is larger than any that is read here")
	}
	data, err := fernetText(token)
	if err != nil || len(data) < fernetHead+aes.BlockSize+sha256.Size || data[0] != fernetVersion {
		return nil, errFernet
	}
	body, tag := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	sum := hmac.New(sha256.New, secret[:fernetKey/2])
	sum.Write(body)
	if !hmac.Equal(sum.Sum(nil), tag) {
		return nil, errFernet
	}
	block, err := aes.NewCipher(secret[fernetKey/2:])
	if err != nil {
		return nil, err
	}
	text := append([]byte(nil), body[fernetHead:]...)
	if len(text)%aes.BlockSize != 0 {
		return nil, errFernet
	}
	cipher.NewCBCDecrypter(block, body[fernetHead-aes.BlockSize:fernetHead]).CryptBlocks(text, text)
	// The tag was right, so that what is wrong from here on was written wrong.
	pad := int(text[len(text)-1])
	if pad < 1 || pad > aes.BlockSize {
		return nil, errFernet
	}
	for _, b := range text[len(text)-pad:] {
		if int(b) != pad {
			return nil, errFernet
		}
	}
	return text[:len(text)-pad], nil
}

// fernetText reads base64 for addresses, with or without its padding.
func fernetText(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(s), "="))
}
