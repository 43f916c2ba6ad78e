package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// logIn sends a person to the login page and takes the answer: the
// authorization code flow with PKCE.
func (h *Handler) logIn(ctx context.Context, at tokenSource, g grant) (grant, error) {
	fresh, err := h.logInOnce(ctx, at, g, false)
	if fresh.Client.From == registered && isUnknown(err) && !h.isNew(fresh.Client.ID) {
		// Once: an issuer that does not know the client it has just made would
		// have us make them for ever.
		h.tellForgotten(ctx, at.issuer.Issuer)
		fresh, err = h.logInOnce(ctx, at, g, true)
	}
	return fresh, err
}

// logInOnce is one showing of the page; anew: as a client that is registered now.
func (h *Handler) logInOnce(ctx context.Context, at tokenSource, g grant, anew bool) (grant, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.cfg.Wait, fmt.Errorf("nobody logged in within %s", h.cfg.Wait))
	defer cancel()
	// Both are one-time words of more than 200 bits that nobody else has.
	state, verifier := rand.Text()+rand.Text(), rand.Text()+rand.Text()
	back := newCallback(h.redirect.Path, state)
	redirect, stop, err := h.listen(ctx, at, back)
	if err != nil {
		return g, err
	}
	defer stop()
	if g.Client, err = h.whoWeAre(ctx, at, redirect, anew); err != nil {
		return g, err
	}
	page, err := h.page(at.issuer.Authorize, g, redirect, state, verifier)
	if err != nil {
		return g, err
	}
	got, err := h.show(ctx, page, back)
	if err != nil {
		return g, err
	}
	if err := checkAnswer(got, at.issuer); err != nil {
		return g, err
	}
	return h.askToken(ctx, g, codeForm(got.code, redirect, verifier))
}

func codeForm(code, redirect, verifier string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}}
}

// listen opens the door for the answer. A registered client comes back to the
// port it was registered with, if that is free.
func (h *Handler) listen(ctx context.Context, at tokenSource, back *callback) (redirect string, stop func(), err error) {
	u := *h.redirect
	if known := h.grantOf(at.issuer.Issuer, at.resource).Client; u.Port() == "0" && known.From == registered {
		if k, err := url.Parse(known.Redirect); err == nil && k.Hostname() == u.Hostname() && k.Port() != "" {
			if _, stop, err := h.needs.Serve(ctx, k.Host, back); err == nil {
				return known.Redirect, stop, nil
			}
		}
	}
	addr, stop, err := h.needs.Serve(ctx, u.Host, back)
	if err != nil {
		if u.Port() != "0" {
			return "", nil, fmt.Errorf("port %s of this machine, where the login page is to send its answer, cannot be had: %w. "+
				"If another program has it, end that, or take another port (oauth.redirect_port, or `%s --port N`)", u.Port(), err, h.cfg.Command)
		}
		return "", nil, fmt.Errorf("waiting for the answer of the login page at %s: %w", u.Host, err)
	}
	if u.Port() == "0" {
		u.Host = u.Host[:len(u.Host)-1] + addr[strings.LastIndexByte(addr, ':')+1:]
	}
	return u.String(), stop, nil
}

// page is the address that the person is sent to.
func (h *Handler) page(endpoint string, g grant, redirect, state, verifier string) (string, error) {
	u, err := h.zone.check(endpoint) // https, or http on loopback: nothing that a browser or a shell would run
	if err != nil {
		return "", fmt.Errorf("the login page: %w", err)
	}
	sum := sha256.Sum256([]byte(verifier))
	q := u.Query()
	q.Set("response_type", "code")
	q.Set("client_id", g.Client.ID)
	q.Set("redirect_uri", redirect)
	q.Set("state", state)
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
	q.Set("code_challenge_method", "S256")
	if !h.isGiven() {
		q.Set("resource", g.Resource)
	}
	if len(g.Asked) > 0 {
		q.Set("scope", strings.Join(g.Asked, " "))
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// show opens the page and waits for its answer.
func (h *Handler) show(ctx context.Context, page string, back *callback) (answer, error) {
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		if err := h.needs.Open(opening, page); err != nil {
			failed <- err
		}
	}()
	select {
	case a := <-back.first:
		return a, nil
	case err := <-failed:
		select {
		case a := <-back.first: // whoever opened it failed only after the login
			return a, nil
		default:
		}
		return answer{}, fmt.Errorf("showing the login page: %w", err)
	case <-ctx.Done():
		err := cmp.Or(context.Cause(ctx), ctx.Err())
		if n := back.refused.Load(); n > 0 {
			err = fmt.Errorf("%w (%d answers that belonged to no login were turned away)", err, n)
		}
		return answer{}, err
	}
}

// checkAnswer holds the answer against the issuer that was asked (RFC 9207),
// byte by byte: else the code of one issuer could be taken to another.
func checkAnswer(a answer, issuer issuerMeta) error {
	switch {
	case a.issuer != "" && !issuer.nameless && a.issuer != issuer.Issuer:
		return fmt.Errorf("the answer of the login page is of the issuer %.200q and not of %q", a.issuer, issuer.Issuer)
	case a.issuer == "" && issuer.NamesItself:
		return fmt.Errorf("the answer of the login page does not name its issuer, which %q always does", issuer.Issuer)
	case a.fault == "access_denied":
		return errors.New("the person at the login page said no")
	case a.fault != "":
		return &pageFault{codeWord(a.fault)}
	case a.code == "" || len(a.code) > maxToken:
		return errors.New("the login page answered without a code")
	}
	return nil
}
