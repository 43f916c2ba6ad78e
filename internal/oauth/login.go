package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Login logs in because a person wants it, whatever is kept from before.
func (h *Handler) Login(ctx context.Context) error {
	return h.runAlone(ctx, func(ctx context.Context) error {
		if err := h.load(ctx); err != nil {
			return err
		}
		if h.isGiven() {
			at, err := h.given(ctx)
			if err != nil {
				return fmt.Errorf("finding out how to log in to %q: %w", h.cfg.Server, err)
			}
			return h.begin(ctx, at, h.wanted(at, grant{}, tokenNeed{}), true)
		}
		status, header, err := h.probe(ctx)
		if err != nil {
			return fmt.Errorf("asking %q what it wants: %w", h.cfg.Server, err)
		}
		w := tokenNeed{demand: parseDemand(header)}
		at, err := h.discover(ctx, w.metadata)
		if err != nil {
			return fmt.Errorf("finding out how to log in to %q: %w", h.cfg.Server, err)
		}
		if !at.told && status != http.StatusUnauthorized {
			return fmt.Errorf("the server %q asks for no login", h.cfg.Server)
		}
		return h.begin(ctx, at, h.wanted(at, h.grantOf(at.issuer.Issuer, at.resource), w), true)
	})
}

// probe asks the server without a token, to be refused.
func (h *Handler) probe(ctx context.Context) (int, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, oneAnswer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.cfg.URL, http.NoBody)
	if err != nil {
		return 0, nil, errors.New("it is no address")
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := h.web.client.Do(req)
	if err != nil {
		return 0, nil, withoutURL(err)
	}
	// The body may be a stream without an end, and what it says is not asked for.
	return resp.StatusCode, resp.Header, resp.Body.Close()
}

// Logout forgets the login, here and, if the issuer takes that, there. What is
// kept here is gone even if an error says that the issuer could not be told.
func (h *Handler) Logout(ctx context.Context) error {
	return h.runAlone(ctx, func(ctx context.Context) error {
		loadErr := h.load(ctx) // what cannot be read is deleted all the same
		h.mu.Lock()
		grants := h.rec.Grants
		h.rec, h.loaded, h.unsaved, h.logins = record{}, true, false, nil
		h.mu.Unlock()
		if err := h.needs.Store.Delete(ctx, h.name); err != nil {
			return fmt.Errorf("deleting the login for %q: %w", h.cfg.Server, errors.Join(err, loadErr))
		}
		var failed []error
		for _, g := range grants {
			failed = append(failed, h.revoke(ctx, g), h.unregister(ctx, g.Client))
		}
		if err := errors.Join(failed...); err != nil {
			return fmt.Errorf("the login for %q is deleted here, but its issuer could not be told: %w", h.cfg.Server, err)
		}
		return nil
	})
}

// revoke tells an issuer that its tokens are void (RFC 7009).
func (h *Handler) revoke(ctx context.Context, g grant) error {
	for hint, token := range map[string]string{"refresh_token": g.Refresh, "access_token": g.Access} {
		if token == "" || g.Revoke == "" {
			continue
		}
		form := url.Values{"token": {token}, "token_type_hint": {hint}}
		header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
		if err := h.identify(g, form, header); err != nil {
			return err
		}
		status, body, err := h.web.post(ctx, g.Revoke, header, []byte(form.Encode()))
		if err != nil {
			return err
		}
		var said tokenAnswer
		if json.Unmarshal(body, &said) == nil && said.Error == "unsupported_token_type" {
			continue // one that the issuer keeps no account of ends by itself
		}
		if status >= 300 {
			return fmt.Errorf("%s answered with status %d", hostOf(g.Revoke), status)
		}
	}
	return nil
}

// unregister removes a client that was registered for this login (RFC 7592). One
// that is gone already is as good.
func (h *Handler) unregister(ctx context.Context, c client) error {
	if c.Manage == "" || c.Registration == "" {
		return nil
	}
	status, _, _, err := h.web.do(ctx, http.MethodDelete, c.Manage, http.Header{"Authorization": {"Bearer " + c.Registration}}, nil)
	switch {
	case err != nil:
		return err
	case status >= 300 && status != http.StatusUnauthorized && status != http.StatusNotFound:
		return fmt.Errorf("%s answered with status %d when it was asked to remove the client", hostOf(c.Manage), status)
	}
	return nil
}

// Status tells about a login what is no secret.
type Status struct {
	LoggedIn  bool // there is a token, though it may be over
	Issuer    string
	Resource  string
	ClientID  string
	Scopes    []string  // that were given
	Since     time.Time // of the token
	Expires   time.Time // of the token; zero: not known
	Renewable bool      // it is renewed without a person
	Again     bool      // the issuer had forgotten the client, and another was registered
}

// Status reads what is kept. It asks neither the server nor the issuer, and
// does not wait for a login that is under way.
func (h *Handler) Status(ctx context.Context) (Status, error) {
	h.mu.Lock()
	r, ahead, again := h.rec, h.unsaved, h.again
	h.mu.Unlock()
	if !ahead {
		var err error
		if r, err = h.stored(ctx); err != nil {
			return Status{}, err
		}
	}
	if len(r.Grants) == 0 {
		return Status{}, nil
	}
	g := r.Grants[0]
	return Status{LoggedIn: g.Access != "", Issuer: g.Issuer, Resource: g.Resource, ClientID: g.Client.ID, Scopes: slices.Clone(g.Granted),
		Since: g.Got, Expires: g.Expires, Renewable: g.Refresh != "" || g.Access != "" && h.cfg.Flow == FlowClient, Again: again}, nil
}
