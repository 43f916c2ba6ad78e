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
	if w.stepUp && len(w.scopes) == 0 {
		w.scopes = at.scopes // it does not say which: all that it mentions
	}
	if !w.stepUp && h.renewable(old, w) {
		if err := h.tryRefresh(ctx, old); !errors.Is(err, errSpent) {
			return err
		}
	}
	if h.sameTokenAgain(old, w) {
		return h.notTaken(old, w)
	}
	if w.stepUp {
		h.storeWanted(ctx, without(w.scopes, old.Asked))
	}
	h.mu.Lock()
	h.known = w.stepUp // a token of this client has just been taken, so its issuer has not forgotten it
	h.mu.Unlock()
	return h.begin(ctx, at, h.wanted(at, old, w), false)
}

// notTaken says why another login would not help.
func (h *Handler) notTaken(old grant, w tokenNeed) error {
	if !w.stepUp {
		return fmt.Errorf("%w: %q does not take the token that was issued for it (scopes: %s)", ErrRefused, h.cfg.Server, listScopes(old.Granted))
	}
	missing := without(w.scopes, old.Granted)
	if len(missing) == 0 {
		return fmt.Errorf("%w: %q says that the token lacks scopes, but does not name any that it lacks (it has %s)", ErrRefused, h.cfg.Server, listScopes(old.Granted))
	}
	return fmt.Errorf("%w: %q wants the scope %s, which %s did not grant at the login (it granted %s). Ask whoever runs it for that right, then run `%s`",
		ErrRefused, h.cfg.Server, listScopes(missing), hostOf(old.Issuer), listScopes(old.Granted), h.cfg.Command)
}

// listScopes shows scopes. A server chose their names, so only a few are shown.
func listScopes(scopes []string) string {
	const most = 8
	switch n := len(scopes); {
	case n == 0:
		return "none"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(scopes[:most], " "), n-most)
	}
	return strings.Join(scopes, " ")
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
// that one more right does not cost the others, and those that a request was
// refused for the lack of since then.
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
	all := union(old.Asked, base, h.wantedScopes())
	return all[:min(len(all), maxScopes)]
}

// begin gets a token from scratch.
func (h *Handler) begin(ctx context.Context, at tokenSource, scopes []string, asked bool) error {
	g := grant{Issuer: at.issuer.Issuer, Resource: at.resource, Token: at.issuer.Token, Revoke: at.issuer.Revoke, Asked: scopes}
	var err error
	if h.cfg.Flow == FlowClient {
		if g.Client, err = h.whoWeAre(ctx, at, "", false); err == nil {
			g, err = h.clientToken(ctx, g)
		}
	} else if err = h.mayAsk(asked); err == nil {
		g, err = h.logIn(ctx, at, g)
	}
	if extra := h.wantedScopes(); len(extra) > 0 && isRefusal(err, "invalid_scope") {
		// The server may want what its issuer does not have. That must not end
		// every login from now on.
		h.dropWanted(ctx)
		err = fmt.Errorf("%w; the next login leaves out what the server wanted in addition (%s)", err, listScopes(extra))
	}
	if err != nil {
		return fmt.Errorf("logging in to %q: %w", h.cfg.Server, err)
	}
	h.storeGrant(ctx, g)
	h.needs.Log.InfoContext(ctx, "logged in to a server", "server", h.cfg.Server, "issuer", g.Issuer, "scopes", strings.Join(g.Granted, " "))
	return nil
}

// mayAsk bounds how often a page is put before a person who did not ask for it.
func (h *Handler) mayAsk(asked bool) error {
	if h.needs.Open == nil || h.needs.Serve == nil {
		if h.current().forgotten() {
			return fmt.Errorf("%w again, since %s no longer knows the client that was registered with it: run `%s`, which registers another",
				ErrLogin, hostOf(h.current().Issuer), h.cfg.Command)
		}
		if lacking := h.wantedScopes(); h.current().Access != "" && len(lacking) > 0 {
			return fmt.Errorf("%w again, since the server wants more than the login is good for (scopes: %s): run `%s`",
				ErrLogin, listScopes(lacking), h.cfg.Command)
		}
		return fmt.Errorf("%w: run `%s`", ErrLogin, h.cfg.Command)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.needs.Now()
	h.logins = slices.DeleteFunc(h.logins, func(t time.Time) bool { return now.Sub(t) > loginWindow })
	if !asked && len(h.logins) >= maxLogins {
		return fmt.Errorf("%w: it asked for a login %d times within %s; run `%s` to try again", ErrRefused, maxLogins, loginWindow, h.cfg.Command)
	}
	h.logins = append(h.logins, now)
	return nil
}
