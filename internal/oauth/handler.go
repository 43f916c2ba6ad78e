package oauth

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	// ErrLogin says that a person has to log in and cannot be asked here.
	ErrLogin = errors.New("a person has to log in")
	// ErrRefused says that the server does not take what it was given, and that
	// asking again would change nothing.
	ErrRefused = errors.New("the server refuses the login")

	errSpent = errors.New("the refresh token is no longer taken")
)

// Handler has the tokens for one server. It is for many goroutines at once.
type Handler struct {
	cfg      Config
	needs    Needs
	name     string // in the store
	zone     zone
	web      *web
	redirect *url.URL
	key      crypto.Signer // nil: the secret is no key

	mu          sync.Mutex
	loaded      bool
	unsaved     bool // memory has more than the store
	rec         record
	flight      *sharedWork
	dead        string // the access token that was refused last
	deadRefresh string
	again       bool        // the issuer had forgotten us, and knows us again
	known       bool        // the issuer is known to know our client
	logins      []time.Time // pages shown of late
}

// Format keeps tokens out of whatever a Handler is printed into.
func (h *Handler) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "oauth for %q", h.cfg.Server) }

// Token gives the token for the next request to the server, renewed if it has
// to be. It is empty if there is none yet: the server will say what it wants.
func (h *Handler) Token(ctx context.Context) (string, error) {
	if token, ok := h.ready(); ok {
		return token, nil
	}
	if _, err := h.joinWork(ctx, h.renew); err != nil {
		return "", err
	}
	token, _ := h.ready()
	return token, nil
}

// ready is the way without any work.
func (h *Handler) ready() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.loaded:
		return "", false
	case len(h.rec.Grants) == 0 || h.rec.Grants[0].Access == "":
		return "", true
	case h.rec.Grants[0].valid(h.needs.Now()):
		return h.rec.Grants[0].Access, true
	}
	return "", false
}

// renew replaces a token that is over, if that needs nobody.
func (h *Handler) renew(ctx context.Context) error {
	if err := h.load(ctx); err != nil {
		return err
	}
	g := h.current()
	var err error
	switch {
	case g.Access == "" || g.valid(h.needs.Now()):
		return nil
	case h.cfg.Flow == FlowClient:
		var fresh grant
		if fresh, err = h.clientToken(ctx, g); err == nil {
			h.storeGrant(ctx, fresh)
			return nil
		}
		if _, refused := errors.AsType[*refusal](err); refused {
			err = errSpent // the server will say what it wants
		}
	case g.Refresh == "" || h.isDead(g.Refresh):
		err = errSpent
	default:
		err = h.tryRefresh(ctx, g)
	}
	if errors.Is(err, errSpent) {
		h.dropTokens(g)
		return nil
	}
	return err
}

// tryRefresh renews a grant, or says errSpent.
func (h *Handler) tryRefresh(ctx context.Context, g grant) error {
	fresh, err := h.refresh(ctx, g)
	if isOver(err) {
		// Another process may have used the token before us and kept the next one.
		if err := h.load(ctx); err != nil {
			return err
		}
		other := h.grantOf(g.Issuer, g.Resource)
		switch {
		case other.Refresh == "" || other.Refresh == g.Refresh:
			return h.markSpent(ctx, g, err)
		case other.valid(h.needs.Now()):
			return nil
		}
		g = other
		fresh, err = h.refresh(ctx, g)
	}
	switch {
	case isOver(err):
		return h.markSpent(ctx, g, err)
	case err != nil:
		return err
	}
	h.storeGrant(ctx, fresh)
	return nil
}

// isOver reports whether an authorization server will never take a refresh
// token again. All else may pass.
func isOver(err error) bool {
	return isRefusal(err, "invalid_grant") || isUnknown(err)
}

func (h *Handler) isDead(refresh string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return refresh == h.deadRefresh
}

// markSpent notes that a refresh token is of no more use, for the reason that
// the issuer gave.
func (h *Handler) markSpent(ctx context.Context, g grant, why error) error {
	if g.Client.From == registered && isUnknown(why) {
		h.forgetClient(ctx, g)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deadRefresh = g.Refresh
	return errSpent
}

// dropTokens takes the tokens out of a grant, in memory only: another process may
// write better ones at any moment. What stays says whose client we are.
func (h *Handler) dropTokens(g grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	grants := slices.Clone(h.rec.Grants)
	for i := range grants {
		if grants[i].Issuer == g.Issuer && grants[i].Resource == g.Resource && grants[i].Access == g.Access {
			grants[i].Access, grants[i].Refresh = "", ""
		}
	}
	h.rec.Grants = grants
}

// tokenNeed is what a refused request needs.
type tokenNeed struct {
	demand
	used   string // the token it carried
	stepUp bool   // it was good, but not for this
}

// Challenge deals with a refusal: a 401, or a 403 that names scopes. Nil means
// that there is another token and the request is worth one more try. It reads
// the head of the response only; the body stays the caller's.
func (h *Handler) Challenge(ctx context.Context, req *http.Request, resp *http.Response) error {
	if !sameOrigin(req.URL, h.zone.server) {
		return fmt.Errorf("%w: the request went to %s and not to the server %q", ErrRefused, req.URL.Host, h.cfg.Server)
	}
	w := tokenNeed{demand: parseDemand(resp.Header)}
	if scheme, token, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		w.used = strings.TrimSpace(token)
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		h.mu.Lock()
		if w.used != "" {
			h.dead = w.used
		}
		h.mu.Unlock()
	case resp.StatusCode == http.StatusForbidden && w.fault == "insufficient_scope":
		w.stepUp = true
	default:
		return fmt.Errorf("%w: the server %q answered with status %d and asks for no scope", ErrRefused, h.cfg.Server, resp.StatusCode)
	}
	for !h.satisfied(w) {
		mine, err := h.joinWork(ctx, func(ctx context.Context) error { return h.authorize(ctx, w) })
		if err != nil {
			return err
		}
		if mine {
			return nil
		}
	}
	return nil
}

// satisfied reports whether there is a token that the refused request has not
// tried and that may be good for it.
func (h *Handler) satisfied(w tokenNeed) bool {
	g := h.current()
	h.mu.Lock()
	dead := h.dead
	h.mu.Unlock()
	return g.valid(h.needs.Now()) && g.Access != w.used && g.Access != dead && (!w.stepUp || subset(w.scopes, union(g.Asked, g.Granted)))
}
