package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	recordVersion = 1
	maxGrants     = 4 // issuers remembered for one server
)

// record is all that is kept for one server. It belongs to one address: a server
// of the same name elsewhere gets nothing of it.
type record struct {
	Version int     `json:"v"`
	URL     string  `json:"url"`
	Grants  []grant `json:"grants"` // the one in use first
	// Wanted are scopes that the server refused a request for the lack of, and that
	// nobody has asked for yet: the process that was refused may have nobody to
	// show a page to, and the login comes from another one.
	Wanted []string `json:"wanted,omitempty"`
}

// grant is what one issuer gave for one resource. It is never changed in place:
// whoever has one has it as it was.
type grant struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`
	Client   client `json:"client"`
	Token    string `json:"token_endpoint"`
	Revoke   string `json:"revocation_endpoint,omitempty"`

	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero: not known
	Got     time.Time `json:"got,omitzero"`
	How     string    `json:"how,omitempty"`     // the grant type it was got by
	Asked   []string  `json:"asked,omitempty"`   // scopes that were asked for
	Granted []string  `json:"granted,omitempty"` // scopes that were given
}

// client is who we are for one issuer.
type client struct {
	ID       string    `json:"id"`
	Secret   string    `json:"secret,omitempty"` // of a registered one; a configured secret stays in the configuration
	Method   string    `json:"method"`
	From     string    `json:"from"` // configured, document or registered
	Redirect string    `json:"redirect,omitempty"`
	Expires  time.Time `json:"expires,omitzero"` // of the secret
	// Manage is where a registered client is removed again, with the token
	// Registration (RFC 7592). Empty: the issuer has no such place.
	Manage       string `json:"manage,omitempty"`
	Registration string `json:"registration_access_token,omitempty"`
}

const (
	configured = "configured"
	document   = "document"
	registered = "registered"
)

// parseRecord reads what was kept. What is of a later version is an error and
// not nothing: it would be written over.
func parseRecord(data []byte) (record, error) {
	var r record
	if len(data) == 0 {
		return r, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&r); err != nil {
		return record{}, errors.New("what was kept cannot be read") // the cause may quote it
	}
	if r.Version != recordVersion {
		return record{}, fmt.Errorf("what was kept has the form %d; this program knows %d", r.Version, recordVersion)
	}
	return r, nil
}

// usable leaves out what the configuration or the rules of today do not allow.
func (h *Handler) usable(r record) record {
	if r.URL != h.place() {
		return record{}
	}
	for i := range r.Grants {
		if c := &r.Grants[i].Client; c.Manage != "" {
			if _, err := h.zone.check(c.Manage); err != nil || !isToken(c.Registration) {
				c.Manage, c.Registration = "", ""
			}
		}
	}
	r.Wanted = parseScopes(strings.Join(r.Wanted, " "))
	r.Grants = slices.DeleteFunc(r.Grants, func(g grant) bool {
		_, badToken := h.zone.check(g.Token)
		_, badIssuer := h.zone.check(g.Issuer)
		badRevoke := error(nil)
		if g.Revoke != "" {
			_, badRevoke = h.zone.check(g.Revoke)
		}
		ours := g.Client.From == registered && h.mayRegister() || g.Client.From != registered && g.Client.ID == h.cfg.ClientID
		return badToken != nil || badIssuer != nil || badRevoke != nil || !ours || !covers(g.Resource, h.zone.server) ||
			g.Access != "" && !isToken(g.Access) || (h.cfg.Flow == FlowClient) != (g.How == FlowClient)
	})
	return r
}

// stored reads the store.
func (h *Handler) stored(ctx context.Context) (record, error) {
	data, err := h.needs.Store.Load(ctx, h.name)
	if err != nil {
		return record{}, fmt.Errorf("reading the login for %q: %w", h.cfg.Server, err)
	}
	r, err := parseRecord(data)
	if err != nil {
		return record{}, fmt.Errorf("reading the login for %q: %w", h.cfg.Server, err)
	}
	return h.usable(r), nil
}

// load reads the store into memory. It does nothing if the last thing that was
// got could not be written: memory is ahead then.
func (h *Handler) load(ctx context.Context) error {
	h.mu.Lock()
	ahead, r := h.unsaved, h.rec
	h.mu.Unlock()
	if ahead {
		h.save(ctx, r)
		return nil
	}
	r, err := h.stored(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loaded, h.rec = true, r
	return nil
}

// storeGrant puts a grant in front and writes all of them down. One that cannot be
// written is used all the same, and told: the work at hand can go on.
func (h *Handler) storeGrant(ctx context.Context, g grant) {
	h.mu.Lock()
	others := slices.DeleteFunc(slices.Clone(h.rec.Grants), func(o grant) bool { return o.Issuer == g.Issuer && o.Resource == g.Resource })
	grants := append([]grant{g}, others...)
	h.rec = record{Version: recordVersion, URL: h.place(), Grants: grants[:min(len(grants), maxGrants)], Wanted: without(h.rec.Wanted, g.Asked)}
	r := h.rec
	h.mu.Unlock()
	h.save(ctx, r)
}

// storeWanted keeps scopes for the next login, whichever process it comes from.
func (h *Handler) storeWanted(ctx context.Context, scopes []string) {
	h.mu.Lock()
	all := union(h.rec.Wanted, scopes)
	all = all[:min(len(all), maxScopes)]
	known := len(all) == len(h.rec.Wanted)
	h.rec = record{Version: recordVersion, URL: h.place(), Grants: h.rec.Grants, Wanted: all}
	r := h.rec
	h.mu.Unlock()
	if !known {
		h.save(ctx, r)
	}
}

func (h *Handler) dropWanted(ctx context.Context) {
	h.mu.Lock()
	h.rec.Wanted = nil
	r := h.rec
	h.mu.Unlock()
	h.save(ctx, r)
}

// wantedScopes are those that were kept for the next login.
func (h *Handler) wantedScopes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.rec.Wanted)
}

func (h *Handler) save(ctx context.Context, r record) {
	data, err := json.Marshal(r)
	if err == nil {
		// What was just got may replace a token that is void by now: it is kept
		// even if nobody waits for it any more.
		err = h.needs.Store.Save(context.WithoutCancel(ctx), h.name, data)
	}
	h.mu.Lock()
	h.unsaved = err != nil
	h.mu.Unlock()
	if err != nil {
		h.needs.Log.WarnContext(ctx, "the login could not be kept and will be asked for again after a restart", "server", h.cfg.Server, "error", err)
	}
}

// current is the grant in use.
func (h *Handler) current() grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.rec.Grants) == 0 {
		return grant{}
	}
	return h.rec.Grants[0]
}

// grantOf finds what an issuer gave before.
func (h *Handler) grantOf(issuer, resource string) grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.rec.Grants {
		if g.Issuer == issuer && g.Resource == resource {
			return g
		}
	}
	return grant{}
}
