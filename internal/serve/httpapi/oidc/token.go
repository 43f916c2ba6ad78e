package oidc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
)

// maxToken bounds what is read of a token: more than any issuer makes that means
// it to fit into a header.
const maxToken = 16 << 10

// token is a token in its parts. Nothing of it is true because it stands there.
type token struct {
	alg, kid  string
	signed    []byte // what the signature is of
	payload   []byte
	signature []byte
}

// The ways of signing that are taken. None needs a secret that we would share with
// the issuer, so that a public key cannot be passed off as one.
const (
	algRS256 = "RS256"
	algPS256 = "PS256"
	algES256 = "ES256"
	algEdDSA = "EdDSA"
)

// parse takes a token apart.
func parse(jwt string) (*token, error) {
	if len(jwt) > maxToken {
		return nil, fmt.Errorf("it has more than %d bytes", maxToken)
	}
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return nil, errors.New("it is not a signed JSON Web Token")
	}
	t := &token{signed: []byte(parts[0] + "." + parts[1])}
	var header []byte
	for i, to := range []*[]byte{&header, &t.payload, &t.signature} {
		var err error
		if *to, err = base64.RawURLEncoding.Strict().DecodeString(parts[i]); err != nil || strings.ContainsAny(parts[i], "\r\n") {
			return nil, errors.New("it is not a signed JSON Web Token: it is not in base64url")
		}
	}
	fields, err := object(header)
	if err != nil {
		return nil, errors.New("its header cannot be read")
	}
	if t.alg, err = textOf(fields["alg"]); err != nil || !slices.Contains([]string{algRS256, algPS256, algES256, algEdDSA}, t.alg) {
		return nil, fmt.Errorf("it is signed by %q; taken are %s, %s, %s and %s", text.Clip(t.alg, 20), algRS256, algPS256, algES256, algEdDSA)
	}
	if t.kid, err = optionalText(fields["kid"]); err != nil {
		return nil, errors.New("the name of its key (kid) cannot be read")
	}
	if fields["crit"] != nil { // it wants something understood that we do not know
		return nil, errors.New("its header has crit")
	}
	typ, err := optionalText(fields["typ"])
	switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
	case "", "jwt", "at+jwt":
	default:
		err = errors.New("another type")
	}
	if err != nil {
		return nil, errors.New("it is not an access token (typ)")
	}
	return t, nil
}

// object reads a JSON object. The names of its fields are those that stand there,
// in their own case, each once.
func object(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("no object")
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if _, twice := fields[name.(string)]; twice {
			return nil, errors.New("a field is there twice")
		}
		fields[name.(string)] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than an object")
	}
	return fields, nil
}

func textOf(value json.RawMessage) (string, error) {
	var text *string
	if err := json.Unmarshal(value, &text); err != nil || text == nil {
		return "", errors.New("no text")
	}
	return *text, nil
}

// optionalText is empty for what is not there.
func optionalText(value json.RawMessage) (string, error) {
	if value == nil {
		return "", nil
	}
	return textOf(value)
}

// Claims is what a token says.
type Claims struct {
	Issuer   string
	Audience []string
	Expires  time.Time
	begins   time.Time
	fields   map[string]json.RawMessage
}

// Text gives a claim that is a text.
func (c *Claims) Text(name string) (string, bool) {
	text, err := textOf(c.fields[name])
	return text, err == nil
}

// Words gives a claim that is a list of texts, or a text. Only scopes are written as
// several words in one text (RFC 6749, 3.3); the name of a group may have blanks.
func (c *Claims) Words(name string) []string {
	var list []string
	if json.Unmarshal(c.fields[name], &list) == nil {
		return list
	}
	text, _ := c.Text(name)
	switch {
	case name == "scope" || name == "scp":
		return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' })
	case text == "":
		return nil
	}
	return []string{text}
}

// True reports whether a claim is there and says yes. Some issuers write it as a text.
func (c *Claims) True(name string) bool {
	value := string(c.fields[name])
	return value == "true" || value == `"true"`
}

func (c *Claims) isFor(audience string) bool { return slices.Contains(c.Audience, audience) }

func readClaims(payload []byte) (*Claims, error) {
	fields, err := object(payload)
	if err != nil {
		return nil, errors.New("its claims cannot be read")
	}
	c := &Claims{fields: fields}
	if c.Issuer, err = textOf(fields["iss"]); err != nil {
		return nil, errors.New("it does not say who issued it (iss)")
	}
	if one, err := textOf(fields["aud"]); err == nil {
		c.Audience = []string{one}
	} else if err := json.Unmarshal(fields["aud"], &c.Audience); err != nil {
		return nil, errors.New("it does not say for whom it is (aud)")
	}
	if c.Expires, err = timeOf(fields["exp"]); err != nil {
		return nil, errors.New("its exp is no time")
	}
	for _, name := range []string{"nbf", "iat"} {
		at, err := timeOf(fields[name])
		if err != nil {
			return nil, fmt.Errorf("its %s is no time", name)
		}
		if at.After(c.begins) {
			c.begins = at
		}
	}
	return c, nil
}

// timeOf reads seconds since 1970; zero for what is not there.
func timeOf(value json.RawMessage) (time.Time, error) {
	if value == nil {
		return time.Time{}, nil
	}
	var seconds *float64
	if err := json.Unmarshal(value, &seconds); err != nil || seconds == nil {
		return time.Time{}, errors.New("no number")
	}
	if *seconds < 1 || *seconds > 1<<37 { // some four thousand years
		return time.Time{}, errors.New("no time")
	}
	return time.Unix(int64(math.Floor(*seconds)), 0), nil
}
