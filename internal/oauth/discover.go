package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// resourceMeta is what a server says about itself (RFC 9728).
type resourceMeta struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// issuerMeta is what an authorization server says about itself (RFC 8414).
type issuerMeta struct {
	Issuer      string   `json:"issuer"`
	Authorize   string   `json:"authorization_endpoint"`
	Token       string   `json:"token_endpoint"`
	Register    string   `json:"registration_endpoint"`
	Revoke      string   `json:"revocation_endpoint"`
	Scopes      []string `json:"scopes_supported"`
	Methods     []string `json:"token_endpoint_auth_methods_supported"`
	Challenges  []string `json:"code_challenge_methods_supported"`
	Documents   bool     `json:"client_id_metadata_document_supported"`
	NamesItself bool     `json:"authorization_response_iss_parameter_supported"`

	nameless bool // its name is not known, only its addresses
}

// tokenSource is all that is known about where tokens for the server come from.
type tokenSource struct {
	resource string
	scopes   []string // that the server mentions
	issuer   issuerMeta
	told     bool // the server has metadata of its own
}

// discover asks the server and its authorization server. Of several the
// configured one is taken, then the one in use, then the first.
func (h *Handler) discover(ctx context.Context, metadata string) (tokenSource, error) {
	if h.isGiven() {
		return h.given(ctx)
	}
	meta, err := h.resourceMeta(ctx, metadata)
	if err != nil {
		return tokenSource{}, fmt.Errorf("looking for the metadata of the server: %w", err)
	}
	g := tokenSource{resource: meta.Resource, scopes: parseScopes(strings.Join(meta.Scopes, " ")), told: meta.Resource != ""}
	if !g.told {
		// The revision of March 2025: the server is its own authorization server,
		// or the configuration knows better.
		u := url.URL{Scheme: h.zone.server.Scheme, Host: h.zone.server.Host}
		g.resource, meta.Servers = h.resource(), []string{cmp.Or(h.cfg.Issuer, u.String())}
	}
	if len(meta.Servers) == 0 {
		return tokenSource{}, errors.New("the metadata of the server names no authorization server")
	}
	named := func(issuer string) bool {
		return issuer != "" && slices.ContainsFunc(meta.Servers, func(s string) bool { return sameIssuer(s, issuer) })
	}
	issuer := meta.Servers[0]
	switch used := h.current().Issuer; {
	case named(h.cfg.Issuer):
		issuer = h.cfg.Issuer
	case h.cfg.Issuer != "":
		return tokenSource{}, fmt.Errorf("the server names the issuer %.200q; the configuration wants %q", issuer, h.cfg.Issuer)
	case named(used):
		issuer = used
	}
	if g.issuer, err = h.issuerMeta(ctx, issuer, !g.told); err != nil {
		return tokenSource{}, fmt.Errorf("looking for the metadata of the authorization server: %w", err)
	}
	return g, nil
}

// resource is the address of the server as a resource has it: without a fragment,
// and small letters where their size means nothing.
func (h *Handler) resource() string {
	u := *h.zone.server
	u.Host = strings.ToLower(u.Host)
	return u.String()
}

// resourceMeta gives the metadata of the server, or none if it has none. One
// that is there and wrong is an error: the next place would be a guess.
func (h *Handler) resourceMeta(ctx context.Context, told string) (resourceMeta, error) {
	for _, place := range resourcePlaces(told, h.zone.server) {
		var m resourceMeta
		err := h.web.getJSON(ctx, place, &m)
		switch {
		case errors.Is(err, errNotThere):
			continue
		case err != nil:
			return m, err
		case !covers(m.Resource, h.zone.server):
			return m, fmt.Errorf("it is for the resource %.200q and not for %q", m.Resource, h.resource())
		}
		return m, nil
	}
	return resourceMeta{}, nil
}

func resourcePlaces(told string, server *url.URL) []string {
	var places []string
	if told != "" {
		places = append(places, told)
	}
	at := url.URL{Scheme: server.Scheme, Host: server.Host, Path: "/.well-known/oauth-protected-resource"}
	root := at.String()
	if path := strings.Trim(server.Path, "/"); path != "" {
		at.Path += "/" + path
		at.RawQuery = server.RawQuery
		places = append(places, at.String())
	}
	return append(places, root)
}

func (h *Handler) issuerMeta(ctx context.Context, issuer string, maySpare bool) (issuerMeta, error) {
	u, err := h.zone.check(issuer)
	if err != nil {
		return issuerMeta{}, err
	}
	for _, place := range issuerPlaces(u) {
		var m issuerMeta
		err := h.web.getJSON(ctx, place, &m)
		if errors.Is(err, errNotThere) {
			continue
		}
		if err == nil {
			err = h.checkIssuer(m, issuer)
		}
		return m, err
	}
	if !maySpare {
		return issuerMeta{}, fmt.Errorf("%s has none", u.Host)
	}
	base := strings.TrimSuffix(issuer, "/")
	return issuerMeta{Issuer: issuer, Authorize: base + "/authorize", Token: base + "/token", Register: base + "/register"}, nil
}

func issuerPlaces(issuer *url.URL) []string {
	const oauth, oidc = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	at := func(path string) string {
		u := url.URL{Scheme: issuer.Scheme, Host: issuer.Host, Path: path}
		return u.String()
	}
	path := strings.Trim(issuer.Path, "/")
	if path == "" {
		return []string{at(oauth), at(oidc)}
	}
	return []string{at(oauth + "/" + path), at(oidc + "/" + path), at("/" + path + oidc)}
}

// checkIssuer holds the metadata against the issuer it was looked for under, and
// every address in it against the zone.
func (h *Handler) checkIssuer(m issuerMeta, issuer string) error {
	if !sameIssuer(m.Issuer, issuer) {
		return fmt.Errorf("it is of the issuer %.200q and not of %q", m.Issuer, issuer)
	}
	needed := []struct{ name, address string }{{"token_endpoint", m.Token}}
	if h.cfg.Flow == FlowCode {
		needed = append(needed, struct{ name, address string }{"authorization_endpoint", m.Authorize})
		if !slices.Contains(m.Challenges, "S256") {
			return fmt.Errorf("%s does not offer PKCE with S256, without which a code could be stolen", hostOf(issuer))
		}
	}
	for _, e := range needed {
		if e.address == "" {
			return fmt.Errorf("it names no %s", e.name)
		}
	}
	for _, e := range append(needed, struct{ name, address string }{"registration_endpoint", m.Register},
		struct{ name, address string }{"revocation_endpoint", m.Revoke}) {
		if e.address == "" {
			continue
		}
		if _, err := h.zone.check(e.address); err != nil {
			return fmt.Errorf("its %s: %w", e.name, err)
		}
	}
	return nil
}

// sameIssuer compares the issuer that the server named with the one of the
// metadata. One slash at the end is forgiven, since a common library adds it;
// the issuer in an answer is compared byte by byte.
func sameIssuer(a, b string) bool {
	return a != "" && strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}
