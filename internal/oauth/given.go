package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Endpoints are the addresses of an authorization server where they are known beforehand:
// a person, or the document of an API, says them. The server itself is asked nothing then, and
// no resource is named: such an issuer knows one API.
type Endpoints struct {
	Authorize, Token string
	Refresh          string // empty: Token
	// Discovery is the address of an OpenID Connect discovery document, which says the others.
	Discovery string
}

// isGiven reports whether the endpoints are known beforehand.
func (h *Handler) isGiven() bool { return h.cfg.Given != Endpoints{} }

// place is what a login belongs to. With other endpoints it is another login.
func (h *Handler) place() string {
	if !h.isGiven() {
		return h.cfg.URL
	}
	g := h.cfg.Given
	return strings.Join([]string{h.cfg.URL, g.Authorize, g.Token, g.Refresh, g.Discovery}, " ")
}

// checkGiven refuses endpoints that nothing may be sent to.
func (h *Handler) checkGiven() error {
	g := h.cfg.Given
	if h.isGiven() && g.Discovery == "" && (g.Token == "" || g.Authorize == "" && h.cfg.Flow == FlowCode) {
		return errors.New("where one logs in, or where tokens come from, is not known")
	}
	for _, address := range []string{g.Authorize, g.Token, g.Refresh, g.Discovery} {
		if address == "" {
			continue
		}
		if _, err := h.zone.check(address); err != nil {
			return err
		}
	}
	return nil
}

// given is where tokens come from, by what is known beforehand.
func (h *Handler) given(ctx context.Context) (tokenSource, error) {
	g := h.cfg.Given
	at := tokenSource{resource: h.resource(), told: true}
	if g.Discovery == "" {
		u, err := url.Parse(g.Token)
		if err != nil {
			return at, errors.New("the token endpoint is no address")
		}
		origin := url.URL{Scheme: u.Scheme, Host: u.Host}
		at.issuer = issuerMeta{Issuer: origin.String(), Authorize: g.Authorize, Token: g.Token, nameless: true}
		return at, nil
	}
	var m issuerMeta
	if err := h.web.getJSON(ctx, g.Discovery, &m); err != nil {
		return at, fmt.Errorf("reading the discovery document of %s: %w", hostOf(g.Discovery), err)
	}
	if err := h.checkDiscovered(m); err != nil {
		return at, fmt.Errorf("the discovery document of %s: %w", hostOf(g.Discovery), err)
	}
	at.issuer = m
	return at, nil
}

// checkDiscovered holds a discovery document against the address that it was read from. Many
// issuers take PKCE and do not say so; one that says it takes only others is refused.
func (h *Handler) checkDiscovered(m issuerMeta) error {
	const end = "/.well-known/openid-configuration"
	from, ok := strings.CutSuffix(h.cfg.Given.Discovery, end)
	if !ok {
		u, err := url.Parse(h.cfg.Given.Discovery)
		issuer, bad := url.Parse(m.Issuer)
		if err != nil || bad != nil || !sameOrigin(u, issuer) {
			return fmt.Errorf("it is of the issuer %.200q, which lies elsewhere", m.Issuer)
		}
		from = m.Issuer
	}
	if len(m.Challenges) == 0 {
		m.Challenges = []string{"S256"}
	}
	return h.checkIssuer(m, from)
}

// Renew replaces a token that the server no longer takes, if that needs nobody.
func (h *Handler) Renew(ctx context.Context, used string) error {
	for {
		g := h.current()
		if g.Access != used && g.valid(h.needs.Now()) {
			return nil // somebody else was quicker
		}
		mine, err := h.joinWork(ctx, func(ctx context.Context) error { return h.renewUsed(ctx, used) })
		if err != nil || mine {
			return err
		}
	}
}

func (h *Handler) renewUsed(ctx context.Context, used string) error {
	if err := h.load(ctx); err != nil {
		return err
	}
	g := h.current()
	err := errSpent
	switch {
	case g.Access != used && g.valid(h.needs.Now()):
		return nil
	case g.Refresh != "" && !h.isDead(g.Refresh):
		err = h.tryRefresh(ctx, g)
	}
	if errors.Is(err, errSpent) {
		h.dropTokens(g)
		return fmt.Errorf("%w again: run `%s`", ErrLogin, h.cfg.Command)
	}
	return err
}
