package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The ways to a token.
const (
	FlowCode   = "code"               // a person logs in on a page
	FlowClient = "client_credentials" // the program logs in for itself
)

// Config is what is known of a server before anybody asked it.
type Config struct {
	Server string // its name, for people and for the store
	URL    string // of the server: https, or http on loopback

	// ClientID and ClientSecret are what the authorization server gave for this
	// program. No ID: one is got by registration. An ID that is an https address
	// is a client metadata document. A secret that is a private key in PEM form
	// is not sent but signed with (private_key_jwt).
	ClientID, ClientSecret string

	// Issuer is the authorization server to log in at; the server has to name it,
	// unless it names none. Empty: the one the server names. Then ClientID and
	// ClientSecret belong to the first one that took them, and another one later
	// is refused until the login is removed.
	Issuer string

	Given Endpoints // what is known beforehand of the authorization server; zero: the server is asked

	Scopes   []string      // to ask for; empty: what the server says
	Flow     string        // FlowCode (the default) or FlowClient
	Redirect string        // where the login page sends its answer; default http://127.0.0.1:0/callback, port 0: a free one
	Wait     time.Duration // for a person to log in; default 5 minutes

	// Kind is the first part of the name that the login is kept under; default mcp-oauth. Command
	// is what a person runs to log in; default that of the hub.
	Kind, Command string
}

// Format keeps the secret out of whatever a Config is printed into.
func (c Config) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "oauth config of %q at %q", c.Server, c.URL)
}

// Store keeps one value per name, where nobody else can read it.
type Store interface {
	Load(ctx context.Context, name string) ([]byte, error) // nil: there is none
	Save(ctx context.Context, name string, value []byte) error
	Delete(ctx context.Context, name string) error // nil too if there was none
}

// Needs is what a Handler may use of the world.
type Needs struct {
	// HTTP makes every request. It has to refuse names that lead to private
	// addresses, unless they are meant to be reached: only who dials can see
	// that. Hosts and redirects that are wrong on their face are refused here.
	HTTP  *http.Client
	Store Store

	// Open shows a person the login page. It may return before the login is
	// done; its context ends when it is. Nil: nobody is there.
	Open func(ctx context.Context, url string) error
	// Serve answers on a loopback address with h until stop is called, and tells
	// the address it got ("127.0.0.1:0" asks for a free port). Nil: nobody can
	// log in here.
	Serve func(ctx context.Context, addr string, h http.Handler) (at string, stop func(), err error)

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: nothing is logged
}

// New checks the configuration. It asks nobody anything.
func New(cfg Config, needs Needs) (*Handler, error) {
	h, err := newHandler(cfg, needs)
	if err != nil {
		return nil, fmt.Errorf("oauth for the server %q: %w", cfg.Server, err)
	}
	return h, nil
}

func newHandler(cfg Config, needs Needs) (*Handler, error) {
	cfg.Scopes = slices.Clone(cfg.Scopes)
	cfg.Flow = cmp.Or(cfg.Flow, FlowCode)
	cfg.Redirect = cmp.Or(cfg.Redirect, "http://127.0.0.1:0/callback")
	cfg.Wait = cmp.Or(cfg.Wait, 5*time.Minute)
	cfg.Kind = cmp.Or(cfg.Kind, "mcp-oauth")
	cfg.Command = cmp.Or(cfg.Command, "toolcrib hub login "+cfg.Server)
	if needs.Now == nil {
		needs.Now = time.Now
	}
	if needs.Log == nil {
		needs.Log = slog.New(slog.DiscardHandler)
	}
	h := &Handler{cfg: cfg, needs: needs, name: storeName(cfg.Kind, cfg.Server)}
	switch {
	case cfg.Server == "":
		return nil, errors.New("it has no name")
	case needs.HTTP == nil || needs.Store == nil:
		return nil, errors.New("an HTTP client and a store are needed")
	case cfg.Flow != FlowCode && cfg.Flow != FlowClient:
		return nil, fmt.Errorf("the flow %q is neither %s nor %s", cfg.Flow, FlowCode, FlowClient)
	case cfg.Flow == FlowClient && (cfg.ClientID == "" || cfg.ClientSecret == ""):
		return nil, fmt.Errorf("the flow %s needs a client ID and a secret", FlowClient)
	case cfg.ClientSecret != "" && cfg.ClientID == "":
		return nil, errors.New("there is a client secret without a client ID")
	}
	if i := slices.IndexFunc(cfg.Scopes, func(s string) bool { return !isScope(s) }); i >= 0 {
		return nil, fmt.Errorf("scope %d is none: a scope is one word of plain ASCII", i)
	}
	var err error
	if h.zone, err = newZone(cfg.URL); err != nil {
		return nil, err
	}
	if cfg.Issuer != "" {
		if _, err := h.zone.check(cfg.Issuer); err != nil {
			return nil, fmt.Errorf("the issuer: %w", err)
		}
	}
	if err := h.checkGiven(); err != nil {
		return nil, fmt.Errorf("the authorization server: %w", err)
	}
	if h.redirect, err = checkRedirect(cfg.Redirect); err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.TrimSpace(cfg.ClientSecret), "-----BEGIN ") {
		if h.key, err = parseKey(cfg.ClientSecret); err != nil {
			return nil, err
		}
	}
	h.web = newWeb(needs.HTTP, h.zone)
	return h, nil
}

// checkRedirect wants a loopback address: only there can nobody but this
// machine receive the answer of the login page.
func checkRedirect(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || kindOf(u.Hostname()) != loopback {
		return nil, errors.New("the redirect address is not http://127.0.0.1:PORT/PATH or another loopback address")
	}
	if u.Port() == "" {
		return nil, errors.New("the redirect address has no port; 0 stands for a free one")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// storeName is the name under which the login of a server is kept, of letters
// that every store takes.
func storeName(kind, server string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if len(server) <= 64 && !strings.ContainsFunc(server, func(r rune) bool { return !plain(r) }) {
		return kind + "." + server
	}
	sum := sha256.Sum256([]byte(server))
	return kind + ".x." + hex.EncodeToString(sum[:16])
}
