package oauth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	maxLogins   = 3 // pages shown to a person without being asked for, within:
	loginWindow = 10 * time.Minute
	justNow     = 10 * time.Second
)

// authorize gets a token that fulfils a wish, by the quietest way there is.
func (h *Handler) authorize(ctx context.Context, w tokenNeed) error {
	if err := h.load(ctx); err != nil {
		return err
	}
	if h.satisfied(w) {
		return nil // somebody logged in from elsewhere
	}
	at, err := h.discover(ctx, w.metadata)
	if err != nil {
		return fmt.Errorf("finding out how to log in to %q: %w", h.cfg.Server, err)
	}
	old := h.grantOf(at.issuer.Issuer, at.resource)
	if !w.stepUp && h.renewable(old, w) {
		if err := h.tryRefresh(ctx, old); !errors.Is(err, errSpent) {
			return err
		}
	}
	if h.sameTokenAgain(old, w) {
		return fmt.Errorf("%w: %q does not take the token that was issued for it (scopes asked for: %s)",
			ErrRefused, h.cfg.Server, strings.Join(old.Asked, " "))
	}
	return h.begin(ctx, at, h.wanted(at, old, w), false)
}

// sameTokenAgain reports whether asking again would give the same token again.
func (h *Handler) sameTokenAgain(old grant, w tokenNeed) bool {
	if old.Access == "" || old.Access != w.used {
		return false
	}
	if w.stepUp {
		return subset(w.scopes, old.Asked)
	}
	return old.How != "refresh_token" && h.needs.Now().Sub(old.Got) < justNow
}

// renewable reports whether a refresh token is worth trying. If the token it
// gave a moment ago is refused, the next one would be too.
func (h *Handler) renewable(old grant, w tokenNeed) bool {
	again := old.How == "refresh_token" && old.Access == w.used && h.needs.Now().Sub(old.Got) < justNow
	return h.cfg.Flow == FlowCode && old.Refresh != "" && !h.isDead(old.Refresh) && !again
}

// wanted is the scopes to ask for: those of the configuration, else those of
// the refusal, else those the server mentions; and always those of before, so
// that one more right does not cost the others.
func (h *Handler) wanted(at tokenSource, old grant, w tokenNeed) []string {
	base := h.cfg.Scopes
	if len(base) == 0 {
		base = w.scopes
	}
	if len(base) == 0 {
		base = at.scopes
	}
	if w.stepUp {
		base = union(base, w.scopes)
	}
	if h.cfg.Flow == FlowCode && len(h.cfg.Scopes) == 0 && slices.Contains(at.issuer.Scopes, "offline_access") {
		base = union(base, []string{"offline_access"})
	}
	all := union(old.Asked, base)
	return all[:min(len(all), maxScopes)]
}

// begin gets a token from scratch.
func (h *Handler) begin(ctx context.Context, at tokenSource, scopes []string, asked bool) error {
	g := grant{Issuer: at.issuer.Issuer, Resource: at.resource, Token: at.issuer.Token, Revoke: at.issuer.Revoke, Asked: scopes}
	var err error
	if h.cfg.Flow == FlowClient {
		if g.Client, err = h.whoWeAre(ctx, at, ""); err == nil {
			g, err = h.clientToken(ctx, g)
		}
	} else if err = h.mayAsk(asked); err == nil {
		g, err = h.logIn(ctx, at, g)
	}
	if err != nil {
		return fmt.Errorf("logging in to %q: %w", h.cfg.Server, err)
	}
	h.storeGrant(ctx, g)
	h.needs.Log.InfoContext(ctx, "logged in to an MCP server", "server", h.cfg.Server, "issuer", g.Issuer, "scopes", strings.Join(g.Granted, " "))
	return nil
}

// mayAsk bounds how often a page is put before a person who did not ask for it.
func (h *Handler) mayAsk(asked bool) error {
	if h.needs.Open == nil || h.needs.Serve == nil {
		return fmt.Errorf("%w: run `toolcrib hub login %s`", ErrLogin, h.cfg.Server)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.needs.Now()
	h.logins = slices.DeleteFunc(h.logins, func(t time.Time) bool { return now.Sub(t) > loginWindow })
	if !asked && len(h.logins) >= maxLogins {
		return fmt.Errorf("%w: it asked for a login %d times within %s; run `toolcrib hub login %s` to try again", ErrRefused, maxLogins, loginWindow, h.cfg.Server)
	}
	h.logins = append(h.logins, now)
	return nil
}
