package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// mayRegister reports whether an ID may be got by registration: there is none
// in the configuration, or one that only some issuers take.
func (h *Handler) mayRegister() bool {
	return h.cfg.ClientID == "" || h.isDocument()
}

// isDocument reports whether the configured ID is the address of a document
// that says who we are.
func (h *Handler) isDocument() bool {
	u, err := url.Parse(h.cfg.ClientID)
	return err == nil && u.Scheme == "https" && u.Host != "" && strings.Trim(u.Path, "/") != "" && h.cfg.ClientSecret == ""
}

// whoWeAre finds or makes the client for an issuer. Nothing that one issuer gave
// is ever shown to another.
// Anew: a registration that is kept does not count.
func (h *Handler) whoWeAre(ctx context.Context, at tokenSource, redirect string, anew bool) (client, error) {
	issuer := at.issuer
	switch {
	case h.isDocument() && issuer.Documents:
		return client{ID: h.cfg.ClientID, Method: "none", From: document}, nil
	case !h.mayRegister():
		if err := h.checkBound(issuer.Issuer); err != nil {
			return client{}, err
		}
		return client{ID: h.cfg.ClientID, Method: h.method(issuer.Methods), From: configured}, nil
	}
	known := h.grantOf(issuer.Issuer, at.resource).Client
	if !anew && known.From == registered && known.Redirect == redirect && (known.Expires.IsZero() || h.needs.Now().Before(known.Expires)) {
		if !h.isForgotten(ctx, at, known, redirect) {
			return known, nil
		}
		h.tellForgotten(ctx, issuer.Issuer)
	}
	if issuer.Register == "" {
		return client{}, fmt.Errorf("%s takes no registration: get a client ID there and put it into the configuration", hostOf(issuer.Issuer))
	}
	c, err := h.register(ctx, issuer, redirect)
	if err != nil {
		return client{}, fmt.Errorf("registering at %s: %w", hostOf(issuer.Issuer), err)
	}
	return c, nil
}

// checkBound refuses to take configured credentials to an issuer that they are
// not for. Who controls a server could else name an issuer of his own and
// collect them.
func (h *Handler) checkBound(issuer string) error {
	if h.cfg.Issuer != "" {
		return nil // nobody else was asked
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.rec.Grants {
		if g.Client.From == configured && g.Issuer != issuer {
			return fmt.Errorf("the server names the issuer %.200q now; the configured client was used at %q until today. "+
				"If that is right, run `%s` and log in again", issuer, g.Issuer, strings.Replace(h.cfg.Command, " login ", " logout ", 1))
		}
	}
	return nil
}

// method is how the configured client proves who it is.
func (h *Handler) method(supported []string) string {
	switch {
	case h.cfg.ClientSecret == "":
		return "none"
	case h.key != nil:
		return "private_key_jwt"
	case slices.Contains(supported, "client_secret_post") && !slices.Contains(supported, "client_secret_basic"):
		return "client_secret_post"
	}
	return "client_secret_basic" // what counts if nothing is said
}

type registration struct {
	Redirects   []string `json:"redirect_uris"`
	Method      string   `json:"token_endpoint_auth_method"`
	GrantTypes  []string `json:"grant_types"`
	Responses   []string `json:"response_types"`
	Name        string   `json:"client_name"`
	Application string   `json:"application_type"`
}

// register makes a client at the issuer (RFC 7591).
func (h *Handler) register(ctx context.Context, issuer issuerMeta, redirect string) (client, error) {
	method := "none" // PKCE protects the code; a secret on this machine would add nothing
	if len(issuer.Methods) > 0 && !slices.Contains(issuer.Methods, method) {
		method = "client_secret_basic"
		if !slices.Contains(issuer.Methods, method) {
			method = "client_secret_post"
		}
	}
	body, err := json.Marshal(registration{
		Redirects: []string{redirect}, Method: method, GrantTypes: []string{"authorization_code", "refresh_token"},
		Responses: []string{"code"}, Name: "Toolcrib", Application: "native",
	})
	if err != nil {
		return client{}, err
	}
	status, answer, err := h.web.post(ctx, issuer.Register, http.Header{"Content-Type": {"application/json"}}, body)
	if err != nil {
		return client{}, err
	}
	var got struct {
		ID      string  `json:"client_id"`
		Secret  string  `json:"client_secret"`
		Expires seconds `json:"client_secret_expires_at"`
		Method  string  `json:"token_endpoint_auth_method"`
		Error   string  `json:"error"`
		Manage  string  `json:"registration_client_uri"`
		Token   string  `json:"registration_access_token"`
	}
	bad := json.Unmarshal(answer, &got)
	switch {
	case status != http.StatusOK && status != http.StatusCreated:
		return client{}, &refusal{hostOf(issuer.Register), codeWord(got.Error), status}
	case bad != nil || got.ID == "" || len(got.ID) > 4096 || len(got.Secret) > maxToken:
		return client{}, errors.New("the answer is no registration")
	}
	c := client{ID: got.ID, Secret: got.Secret, From: registered, Redirect: redirect}
	switch {
	case got.Method == "none" || got.Secret == "":
		c.Method, c.Secret = "none", ""
	case got.Method == "client_secret_post" || got.Method == "client_secret_basic":
		c.Method = got.Method
	case method == "none":
		c.Method = "client_secret_basic" // a secret came with no word on how to use it
	default:
		c.Method = method
	}
	if _, err := h.zone.check(got.Manage); err == nil && isToken(got.Token) {
		c.Manage, c.Registration = got.Manage, got.Token
	}
	if c.Secret != "" && got.Expires > 0 {
		c.Expires = time.Unix(int64(got.Expires), 0)
	}
	return c, nil
}
