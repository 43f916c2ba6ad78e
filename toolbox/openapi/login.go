package openapi

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Logins has the tokens that people logged in for.
type Logins interface {
	// Token gives the token for the next request, renewed if it has to be. Secret is that of the
	// client, or empty.
	Token(ctx context.Context, l Login, secret string) (string, error)
	// Renew replaces a token that the API no longer takes.
	Renew(ctx context.Context, l Login, secret, used string) error
}

// Login is where a person logs in for one security scheme.
type Login struct {
	Scheme string
	API    string // the address of the API: the token is for it, and for nobody else
	// The addresses: Discovery, or all of the others but Refresh.
	Authorize, Token, Refresh, Discovery string
	ClientID                             string
	Secret                               string // the name of the client's secret, or empty
	Scopes                               []string
}

// Logins lists the security schemes that a person logs in for.
func (b *Box) Logins() []string {
	var out []string
	for name, c := range b.cfg.Auth {
		if c.Login {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Login says where a person logs in. The document alone cannot send him to another host than
// that of the API.
func (b *Box) Login(scheme string) (Login, error) {
	c, s := b.cfg.Auth[scheme], b.schemes[scheme]
	l := Login{Scheme: scheme, API: b.loginBase(), ClientID: c.ClientID, Secret: c.Secret, Scopes: c.Scopes, Authorize: c.AuthorizeURL, Token: c.TokenURL, Discovery: c.OpenIDURL}
	if len(l.Scopes) == 0 {
		l.Scopes = b.scopes(scheme)
	}
	known := map[string]bool{}
	for _, address := range []string{l.Authorize, l.Token, l.Discovery} {
		if address != "" {
			known[hostOf(address)] = true
		}
	}
	take := func(into *string, said, setting string) error {
		switch {
		case *into != "" || said == "":
		case !b.home[hostOf(said)] && !known[hostOf(said)]:
			return fmt.Errorf("the document has people log in for %s at %s, which is not the host of the API: set openapi.%s.auth.%s.%s to %s if you mean that",
				scheme, text.Clip(text.ShowLine(hostOf(said)), 100), b.cfg.Name, scheme, setting, text.Clip(text.ShowLine(said), 300))
		default:
			*into = said
		}
		return nil
	}
	if l.Discovery == "" && s.Type == "openIdConnect" && l.Token == "" {
		if err := take(&l.Discovery, s.Discovery, "openid_url"); err != nil {
			return l, err
		}
	}
	if l.Discovery != "" {
		l.Authorize, l.Token = "", ""
		return l, nil
	}
	if err := take(&l.Authorize, s.Authorize, "authorization_url"); err != nil {
		return l, err
	}
	if err := take(&l.Token, s.CodeToken, "token_url"); err != nil {
		return l, err
	}
	if l.Authorize == "" || l.Token == "" {
		return l, fmt.Errorf("the document does not say where one logs in for %s: set authorization_url and token_url, or openid_url, under openapi.%s.auth.%s", scheme, b.cfg.Name, scheme)
	}
	// A refresh token goes where the token came from, or nowhere.
	if s.Refresh != "" && hostOf(s.Refresh) == hostOf(l.Token) {
		l.Refresh = s.Refresh
	}
	return l, nil
}

// loginBase is the address of the API that tokens are for.
func (b *Box) loginBase() string {
	for _, o := range b.operations {
		if u, err := url.Parse(o.Base); err == nil && b.home[hostOf(o.Base)] {
			return u.Scheme + "://" + u.Host + "/"
		}
	}
	return ""
}

// scopes are those that the operations of the box ask for.
func (b *Box) scopes(scheme string) []string {
	var out []string
	for _, o := range b.operations {
		for _, r := range o.Security {
			for _, scope := range r[scheme] {
				if !slices.Contains(out, scope) {
					out = append(out, scope)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// loginToken is the token of the person who logged in.
func (b *Box) loginToken(ctx context.Context, scheme, secret string) (string, error) {
	l, err := b.Login(scheme)
	if err != nil {
		return "", err
	}
	missing := &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "a person has to log in to this API: run `toolcrib openapi login " + b.cfg.Name + "`"}
	if b.needs.Logins == nil {
		return "", missing
	}
	token, err := b.needs.Logins.Token(ctx, l, secret)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: text.Clip(text.ShowLine(err.Error()), 500), Err: err}
	case token == "":
		return "", missing
	}
	return token, nil
}

// usesLogin reports whether a person's login was sent.
func (c *call) usesLogin() bool {
	use, _ := c.box.credentials(c.op)
	return c.bearer != "" && slices.ContainsFunc(use, func(name string) bool { return c.box.cfg.Auth[name].Login })
}

// renewLogins replaces the tokens of people that the API did not take. It reports whether there
// is another one to try.
func (c *call) renewLogins(ctx context.Context) bool {
	use, _ := c.box.credentials(c.op)
	again := false
	for _, name := range use {
		cred := c.box.cfg.Auth[name]
		if !cred.Login || c.box.needs.Logins == nil {
			continue
		}
		l, err := c.box.Login(name)
		if err != nil {
			continue
		}
		secret := ""
		if cred.Secret != "" {
			if secret, err = c.box.secret(ctx, c.env, cred.Secret); err != nil {
				continue
			}
		}
		if c.box.needs.Logins.Renew(ctx, l, secret, c.bearer) == nil {
			again = true
		}
	}
	return again
}

// keepFull leaves out what is empty: it is no secret.
func keepFull(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}
