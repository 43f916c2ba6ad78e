package httpauth

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi/oidc"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// issuer reads the settings of people who log in elsewhere; nil: there are none.
func issuer(cfg settings.OIDC, before *httpapi.Access) (*httpapi.Issuer, error) {
	if cfg.Issuer == "" {
		return nil, nil
	}
	audience := cmp.Or(cfg.Audience, cfg.Resource)
	if audience == "" {
		return nil, errors.New("serve.oidc: set resource to the address of this server, such as https://tools.example.com/mcp, or audience to what the issuer's tokens are for: a token for another service would be taken else")
	}
	if u, err := url.Parse(cfg.Resource); cfg.Resource != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" || u.RawQuery != "") {
		return nil, fmt.Errorf("serve.oidc.resource: %q is not an address such as https://tools.example.com/mcp", cfg.Resource)
	}
	if len(cfg.Access) == 0 {
		return nil, errors.New("serve.oidc.access is empty, so that nobody could do anything: name a scope or a group and a profile, such as {has: tools, profile: coding}")
	}
	v, err := verifier(oidc.Config{Issuer: cfg.Issuer, Audience: audience}, before)
	if err != nil {
		return nil, fmt.Errorf("serve.oidc: %w", err)
	}
	out := &httpapi.Issuer{
		Verifier: v, URL: cfg.Issuer, Resource: cfg.Resource, Person: cfg.Person, Claim: cfg.Claim, ID: fmt.Sprintf("%+v", cfg),
	}
	seen := map[string]bool{}
	for _, e := range cfg.Access {
		if e.Has == "" || seen[e.Has] {
			return nil, fmt.Errorf("serve.oidc.access: an entry has no scope or group, or that of another (has: %q)", e.Has)
		}
		seen[e.Has] = true
		approves, err := approvesFor("serve.oidc.access ("+e.Has+")", e.Approves, e.ApprovesFor)
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, httpapi.Entry{Has: e.Has, Holder: httpapi.Holder{
			Caller:   toolcrib.Caller{Token: settings.OIDCToken(e.Has), Agent: e.Agent, Organisation: e.Organisation},
			Approves: approves, Watches: e.Watches,
		}})
	}
	return out, nil
}

// verifier checks the tokens of an issuer: the one of before, if it does the same.
func verifier(cfg oidc.Config, before *httpapi.Access) (*oidc.Verifier, error) {
	if before != nil && before.Issuer != nil && before.Issuer.Verifier.Is(cfg.Issuer, cfg.Audience) {
		return before.Issuer.Verifier, nil
	}
	return oidc.New(cfg)
}
