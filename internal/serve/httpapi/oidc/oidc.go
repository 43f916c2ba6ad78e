// Package oidc checks the tokens of one OpenID Connect issuer: JSON Web Tokens,
// signed by keys that the issuer publishes. Only internal/serve/httpapi and
// internal/httpauth import it.
//
// Its one invariant: a token says nothing before its signature was checked with a
// key that came from the issuer's own address. What its header says about keys is
// used to choose among those, never to find others.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
)

// Config is an issuer and what its tokens have to say.
type Config struct {
	Issuer   string
	Audience string
	HTTP     *http.Client     // nil: one with a time limit
	Now      func() time.Time // nil: time.Now
}

// leeway is how much clocks may differ.
const leeway = 30 * time.Second

// ErrIssuer is why a token could not be checked: it may be good.
var ErrIssuer = errors.New("the issuer of tokens cannot be asked for its keys")

// Verifier checks tokens. It is for any number of goroutines.
type Verifier struct {
	cfg  Config
	keys keySet
}

// New makes a verifier. The issuer is asked when the first token comes.
func New(cfg Config) (*Verifier, error) {
	if err := checkURL(cfg.Issuer, ""); err != nil {
		return nil, fmt.Errorf("the issuer %w", err)
	}
	if cfg.Audience == "" {
		return nil, errors.New("the audience is missing: a token for another service would be taken")
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	v := &Verifier{cfg: cfg}
	v.keys.fetch = v.fetchKeys
	v.keys.now = cfg.Now
	return v, nil
}

// Is reports whether it checks the tokens of this issuer for this audience.
func (v *Verifier) Is(issuer, audience string) bool {
	return v.cfg.Issuer == issuer && v.cfg.Audience == audience
}

// Try asks the issuer for its keys, for people who want to know whether it answers.
func (v *Verifier) Try(ctx context.Context) error {
	if _, err := v.fetchKeys(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrIssuer, err)
	}
	return nil
}

// checkURL refuses addresses over which somebody else could answer. Without TLS
// only this machine is asked; what an issuer elsewhere names must not lead here.
func checkURL(text, issuer string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" && issuer == "" {
		return fmt.Errorf("%q is not an address such as https://login.example.com", text)
	}
	if u.Scheme == "https" || u.Scheme == "http" && plainaddr.IsLoopback(u.Hostname()) && (issuer == "" || loopbackURL(issuer)) {
		return nil
	}
	return fmt.Errorf("%q has to begin with https:// (http:// only for this machine)", text)
}

func loopbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && plainaddr.IsLoopback(u.Hostname())
}

// Verify checks a token and gives what it says. An error that is [ErrIssuer] says
// that it could not be checked; every other, that it is refused, and why.
func (v *Verifier) Verify(ctx context.Context, token string) (*Claims, error) {
	t, err := parse(token)
	if err != nil {
		return nil, err
	}
	// Nothing of it is believed yet: this only spares the issuer questions about
	// tokens that would be refused anyway.
	claims, err := readClaims(t.payload)
	if err != nil {
		return nil, err
	}
	if err := v.check(claims); err != nil {
		return nil, err
	}
	keys, err := v.keys.choose(ctx, t.alg, t.kid)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.verify(t) {
			return claims, nil
		}
	}
	return nil, errors.New("its signature is not one of the issuer's")
}

// check holds the claims against what they have to be.
func (v *Verifier) check(c *Claims) error {
	now := v.cfg.Now()
	switch {
	case c.Issuer != v.cfg.Issuer:
		return fmt.Errorf("it is of another issuer than %s", v.cfg.Issuer)
	case !c.isFor(v.cfg.Audience):
		return fmt.Errorf("it is not for this server: its audience (aud) has to have %s", v.cfg.Audience)
	case c.Expires.IsZero():
		return errors.New("it does not say when it expires (exp)")
	case !now.Before(c.Expires.Add(leeway)):
		return errors.New("it has expired")
	case now.Add(leeway).Before(c.begins):
		return errors.New("it is not valid yet (nbf, iat)")
	}
	return nil
}

// wellKnown are the places of an issuer's description.
func wellKnown(issuer string) []string {
	base := strings.TrimSuffix(issuer, "/")
	list := []string{base + "/.well-known/openid-configuration"}
	if u, err := url.Parse(base); err == nil { // RFC 8414 puts it before the path
		path := u.Path
		u.Path = "/.well-known/oauth-authorization-server" + path
		list = append(list, u.String())
	}
	return list
}
