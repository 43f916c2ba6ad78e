package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxToken = 16 << 10
	// early is how long before its end a token is no longer used: a request is
	// some time on its way, and clocks differ.
	early = 30 * time.Second
)

// refusal is an error that an authorization server answered with. Of its text
// only the code is kept: the rest may repeat what was sent.
type refusal struct {
	host   string
	code   string
	status int
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s refused with %s (status %d)", r.host, r.code, r.status)
}

// pageFault is an error that a login page answered with.
type pageFault struct{ code string }

func (p *pageFault) Error() string { return "the login page answered with " + p.code }

// isRefusal reports whether an authorization server refused with one of the codes.
func isRefusal(err error, codes ...string) bool {
	if p, ok := errors.AsType[*pageFault](err); ok {
		return slices.Contains(codes, p.code)
	}
	r, ok := errors.AsType[*refusal](err)
	return ok && slices.Contains(codes, r.code)
}

// codeWord is an error code as it can be shown: one of somebody else's words.
func codeWord(code string) string {
	if code == "" || len(code) > 40 || strings.ContainsFunc(code, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
		return "an unknown error"
	}
	return code
}

// seconds is a time span that some servers write as a number and some as a text.
type seconds int64

// UnmarshalJSON takes 3600, "3600" and 3600.0; what is none of them is no time
// span, and the token is good until it is refused.
func (s *seconds) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err == nil && f > 0 && f < 100*365*24*3600 {
		*s = seconds(f)
	}
	return nil
}

type tokenAnswer struct {
	Access  string  `json:"access_token"`
	Type    string  `json:"token_type"`
	Expires seconds `json:"expires_in"`
	Refresh string  `json:"refresh_token"`
	Scope   *string `json:"scope"`
	Error   string  `json:"error"`
}

// askToken sends one request to the token endpoint of a grant and gives the
// grant with what it was answered.
func (h *Handler) askToken(ctx context.Context, g grant, form url.Values) (grant, error) {
	if !h.isGiven() {
		form.Set("resource", g.Resource)
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	if err := h.identify(g, form, header); err != nil {
		return g, err
	}
	status, body, err := h.web.post(ctx, g.Token, header, []byte(form.Encode()))
	if err != nil {
		return g, err
	}
	host := hostOf(g.Token)
	var a tokenAnswer
	if err := json.Unmarshal(body, &a); err != nil && status == http.StatusOK {
		return g, fmt.Errorf("%s answered with what is no token", host)
	}
	switch {
	case status >= 500:
		return g, fmt.Errorf("%s answered with status %d", host, status)
	case a.Error != "" || status != http.StatusOK && status != http.StatusCreated:
		return g, &refusal{host, codeWord(a.Error), status}
	case !isToken(a.Access):
		return g, fmt.Errorf("%s gave no token, or one that no header can carry", host)
	case !strings.EqualFold(a.Type, "Bearer"):
		return g, fmt.Errorf("%s gave a token of a kind other than Bearer", host)
	case a.Refresh != "" && len(a.Refresh) > maxToken:
		return g, fmt.Errorf("%s gave a refresh token of more than %d bytes", host, maxToken)
	}
	now := h.needs.Now()
	g.Access, g.How, g.Got, g.Expires = a.Access, form.Get("grant_type"), now, time.Time{}
	if a.Expires > 0 {
		g.Expires = now.Add(time.Duration(a.Expires) * time.Second)
	}
	if a.Refresh != "" {
		g.Refresh = a.Refresh // the old one is void if the server rotates them
	}
	g.Granted = g.Asked
	if a.Scope != nil {
		g.Granted = parseScopes(*a.Scope)
	}
	return g, nil
}

// identify says in a request who we are, in the way that the issuer takes.
func (h *Handler) identify(g grant, form url.Values, header http.Header) error {
	secret := g.Client.Secret
	if g.Client.From == configured {
		secret = h.cfg.ClientSecret
	}
	switch g.Client.Method {
	case "client_secret_basic":
		// RFC 6749 §2.3.1: both are form-encoded before they are joined.
		r := http.Request{Header: header}
		r.SetBasicAuth(url.QueryEscape(g.Client.ID), url.QueryEscape(secret))
		return nil
	case "private_key_jwt":
		assertion, err := h.assertion(g)
		if err != nil {
			return err
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	case "client_secret_post":
		form.Set("client_secret", secret)
	}
	form.Set("client_id", g.Client.ID)
	return nil
}

// refresh renews the token of a grant. It is not given up with the caller: the
// old refresh token may be void the moment the request is read.
func (h *Handler) refresh(ctx context.Context, g grant) (grant, error) {
	at := g
	at.Token = cmp.Or(h.cfg.Given.Refresh, g.Token)
	fresh, err := h.askToken(context.WithoutCancel(ctx), at, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}})
	fresh.Token = g.Token
	if err != nil {
		return g, fmt.Errorf("renewing the token for %q: %w", h.cfg.Server, err)
	}
	if fresh.Granted == nil {
		fresh.Granted = g.Granted
	}
	return fresh, nil
}

// clientToken gets a token for the program itself.
func (h *Handler) clientToken(ctx context.Context, g grant) (grant, error) {
	form := url.Values{"grant_type": {FlowClient}}
	if len(g.Asked) > 0 {
		form.Set("scope", strings.Join(g.Asked, " "))
	}
	fresh, err := h.askToken(ctx, g, form)
	if err != nil {
		return g, fmt.Errorf("getting a token for %q: %w", h.cfg.Server, err)
	}
	fresh.Refresh = "" // the credentials are there at any time, and are not worn out
	return fresh, nil
}

// valid reports whether a token can still be used.
func (g grant) valid(now time.Time) bool {
	return g.Access != "" && (g.Expires.IsZero() || now.Add(g.early()).Before(g.Expires))
}

// early is shorter for tokens that are short themselves.
func (g grant) early() time.Duration { return min(early, g.Expires.Sub(g.Got)/4) }

// isToken reports whether a token fits into a header as one word.
func isToken(t string) bool {
	return t != "" && len(t) <= maxToken && !strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' })
}
