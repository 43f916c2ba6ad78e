package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Access is who may come in. It is not changed once it is in use.
type Access struct {
	Holders []Holder
	Open    bool    // who sends no token may come in too
	Owner   Holder  // who calls with the token of our own
	Issuer  *Issuer // whose tokens let people in besides; nil: nobody's
}

// all is everybody who may come in, with the token of our own; empty: there is
// none.
func (a *Access) all(own string) []Holder {
	list := slices.Clone(a.Holders)
	if own != "" {
		owner := a.Owner
		owner.own = true
		owner.Sum = sha256.Sum256([]byte(own))
		list = append(list, owner)
	}
	if a.Open {
		list = append(list, anyone())
	}
	return list
}

// Alone reports whether nobody has a token but the person whose server it is.
func (a *Access) Alone() bool { return len(a.Holders) == 0 && a.Issuer == nil }

// Holder is who has a token, and the token's hash.
type Holder struct {
	Caller toolcrib.Caller // without its Frontend, which a route says
	Sum    [sha256.Size]byte
	// Approves is the longest that they may allow what they themselves call: a word
	// of tokens.NAME.approves_for. Empty: whoever calls does not approve.
	Approves string
	// Chooses are the presets of agents that they may run under besides their own, with a
	// comma between two; * is all. Whoever has the token of our own may choose any.
	Chooses string
	// Watches: they may know how the server is doing, whoever its tools are for.
	Watches bool
	issuer  string // the Issuer.ID by which they came in; empty: by a token of ours
	own     bool   // they have the token of our own
}

// MayChoose reports whether they may run under a preset.
func (h Holder) MayChoose(agent string) bool {
	list := strings.Split(h.Chooses, ",")
	return agent == h.Caller.Agent || h.own && h.Caller.Agent == "" || agent != "" && (slices.Contains(list, agent) || slices.Contains(list, "*"))
}

// Own reports whether this is the person whose server it is.
func (h Holder) Own() bool { return h.own }

// SeesAll reports whether a holder is told how the whole server is doing: what it has
// names of tools in that the profiles of others hide, and texts of settings.
func (h Holder) SeesAll() bool { return h.own || h.Watches }

// anyone is who comes in without a token, where the settings say so: whoever is
// on this machine. They may be anybody, so that they approve nothing.
func anyone() Holder {
	return Holder{Caller: toolcrib.Caller{Subject: "anyone"}}
}

// Anyone reports whether this is who comes in without a token.
func (h Holder) Anyone() bool {
	h.Caller.Frontend = "" // whatever route they came by
	return h == anyone()
}

// holderOf finds out who sends a request. One with a token that is not known is
// nobody, also where none is needed.
func holderOf(known []Holder, h http.Header) (found Holder, ok bool) {
	if len(h.Values("Authorization")) == 0 {
		return anyone(), slices.Contains(known, anyone())
	}
	token, sent := Bearer(h)
	sum := sha256.Sum256([]byte(token))
	for _, k := range known { // all are compared, so that the time tells nothing
		if subtle.ConstantTimeCompare(sum[:], k.Sum[:]) == 1 && sent && !k.Anyone() {
			found, ok = k, true
		}
	}
	return found, ok
}

// Bearer is the token that a request shows; false: none, or more than one.
func Bearer(h http.Header) (token string, ok bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// Same compares secrets. It takes as long for a wrong one as for the right one,
// whatever its length; an empty one is the same as none.
func Same(shown, want string) bool {
	a, b := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}
