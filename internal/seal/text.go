package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
)

// text is a sealed file. Body stays what it was, to be read by people.
type text struct {
	Sealed int             `json:"sealed"` // the version of this form
	Of     string          `json:"of"`     // what it is sealed as
	N      uint64          `json:"n"`      // how often that was sealed
	Mac    string          `json:"mac"`
	Body   json.RawMessage `json:"body"`
}

const version = 1

// mac covers everything but itself, each part behind its length.
func (t *text) mac(k Key) string {
	mac := hmac.New(sha256.New, k)
	var n [8]byte
	for _, part := range [][]byte{[]byte("toolcrib sealed 1"), []byte(t.Of), binary.BigEndian.AppendUint64(nil, t.N), t.Body} {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		mac.Write(n[:])
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// sealed writes a body, which is JSON, under a name and a number.
func sealed(k Key, of string, n uint64, body []byte) ([]byte, error) {
	var plain bytes.Buffer
	if err := json.Compact(&plain, body); err != nil { // as it will be read back
		return nil, err
	}
	t := text{Sealed: version, Of: of, N: n, Body: plain.Bytes()}
	t.Mac = t.mac(k)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// The ways in which a text is not what it should be.
var (
	errUnsealed = errors.New("it has no seal")
	errChanged  = errors.New("its seal is wrong: it was changed, or sealed with another key")
)

// parse reads a sealed text and checks its seal.
func parse(k Key, of string, file []byte) (*text, error) {
	var t text
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil || t.Sealed == 0 {
		return nil, errUnsealed
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errChanged
	}
	if t.Sealed != version || t.Of != of || !hmac.Equal([]byte(t.mac(k)), []byte(t.Mac)) {
		return nil, errChanged
	}
	return &t, nil
}
