package oauth

import (
	"context"
	"crypto/rand"
	"slices"
)

// An authorization server may lose the clients that were registered with it: one
// that keeps them in memory does so at every restart. It shows the person an error
// then and sends no answer back, so that has to be found out before.

// isUnknown reports whether an issuer does not know a client. Some say the one
// and some the other.
func isUnknown(err error) bool { return isRefusal(err, "invalid_client", "unauthorized_client") }

// isForgotten asks the issuer whether it still knows a registered client, with a
// code that it never gave: it looks at who asks before it looks at the code. What
// it says otherwise, or if it says nothing, the client counts as known.
func (h *Handler) isForgotten(ctx context.Context, at tokenSource, known client, redirect string) bool {
	h.mu.Lock()
	sure := h.known
	h.known = false
	h.mu.Unlock()
	if sure {
		return false
	}
	g := grant{Issuer: at.issuer.Issuer, Resource: at.resource, Token: at.issuer.Token, Client: known}
	_, err := h.askToken(ctx, g, codeForm(rand.Text(), redirect, rand.Text()+rand.Text()))
	return isUnknown(err)
}

// isNew reports whether a client is not one of those that were kept.
func (h *Handler) isNew(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !slices.ContainsFunc(h.rec.Grants, func(g grant) bool { return g.Client.ID == id })
}

// tellForgotten says why there is another registration.
func (h *Handler) tellForgotten(ctx context.Context, issuer string) {
	h.mu.Lock()
	h.again = true
	h.mu.Unlock()
	h.needs.Log.WarnContext(ctx, "the authorization server no longer knows the client that was registered with it; another is registered now", "server", h.cfg.Server, "issuer", issuer)
}

// forgetClient takes a client that its issuer has forgotten out of what is kept,
// with what it was given. What was asked for stays: the next login asks for it
// again.
func (h *Handler) forgetClient(ctx context.Context, old grant) {
	h.mu.Lock()
	grants := slices.Clone(h.rec.Grants)
	for i, g := range grants {
		if g.Issuer == old.Issuer && g.Client.ID == old.Client.ID {
			grants[i].Client, grants[i].Access, grants[i].Refresh = client{}, "", ""
		}
	}
	h.rec.Grants = grants
	r := h.rec
	h.mu.Unlock()
	if r.Version == recordVersion {
		h.save(ctx, r)
	}
}

// forgotten reports whether the client of a grant is gone.
func (g grant) forgotten() bool { return g.Issuer != "" && g.Client == client{} }
