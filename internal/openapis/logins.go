package openapis

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/oauth"
	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

// Login is how people log in to APIs.
type Login struct {
	Tokens oauth.Store // where logins are kept; nil: nobody logs in
	// Page shows a person a page. Nil: nobody is there.
	Page func(ctx context.Context, url string) error
	// Secret gives the secret of a client, for a person who logs in. Calls bring their own.
	Secret func(ctx context.Context, name string) (string, error)
}

// Status tells about a login what is no secret.
type Status = oauth.Status

// logins are those of one document. It implements openapi.Logins.
type logins struct {
	api *API

	mu       sync.Mutex
	handlers map[string]*kept
}

// kept is a handler and what it was made of: what it knows of a renewal under way must not be
// known twice.
type kept struct {
	of      [sha256.Size]byte
	handler *oauth.Handler
}

func (l *logins) Token(ctx context.Context, at openapi.Login, secret string) (string, error) {
	h, err := l.handler(at, secret, "")
	if err != nil {
		return "", err
	}
	return h.Token(ctx)
}

func (l *logins) Renew(ctx context.Context, at openapi.Login, secret, used string) error {
	h, err := l.handler(at, secret, "")
	if err != nil {
		return err
	}
	return h.Renew(ctx, used)
}

// handler is what gets the tokens of one security scheme. Redirect: where the login page sends
// its answer, if a person said so.
func (l *logins) handler(at openapi.Login, secret, redirect string) (*oauth.Handler, error) {
	api := l.api
	needs := api.apis.needs
	if needs.Login.Tokens == nil {
		return nil, errors.New("there is no place to keep a login in")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", at, secret, redirect))
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.handlers[at.Scheme]; k != nil && k.of == sum {
		return k.handler, nil
	}
	cfg := oauth.Config{
		Server: api.name + "/" + at.Scheme, Kind: "openapi-oauth", Command: "toolcrib openapi login " + api.name, URL: at.API, ClientID: at.ClientID, ClientSecret: secret, Scopes: at.Scopes, Redirect: redirect,
		Given: oauth.Endpoints{Authorize: at.Authorize, Token: at.Token, Refresh: at.Refresh, Discovery: at.Discovery},
	}
	if at.Discovery != "" && len(cfg.Scopes) == 0 {
		cfg.Scopes = []string{"openid"}
	}
	h, err := oauth.New(cfg, oauth.Needs{HTTP: api.loginClient(at), Store: needs.Login.Tokens, Open: needs.Login.Page, Serve: httpapi.Loopback, Now: needs.Now, Log: needs.Log})
	if err != nil {
		return nil, err
	}
	if l.handlers == nil {
		l.handlers = map[string]*kept{}
	}
	l.handlers[at.Scheme] = &kept{sum, h}
	return h, nil
}

// loginClient reaches the hosts of the document, and those that a person wrote for its logins. A
// discovery document may name others, which have to be public.
func (api *API) loginClient(at openapi.Login) *http.Client {
	hosts := slices.Clone(api.settings.Hosts)
	typed := api.settings.Auth[at.Scheme]
	for _, address := range []string{typed.AuthorizationURL, typed.TokenURL, typed.OpenIDURL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			hosts = append(hosts, hostWord(u))
		}
	}
	if at.Discovery != "" {
		hosts = append(hosts, "*")
	}
	return httpclient.New(hosts, api.apis.needs.HTTP)
}

// hostWord grants the host of an address that a person wrote, which may be a private one.
func hostWord(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if net.ParseIP(host) == nil && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
		host = "private:" + host
	}
	return host
}

// scheme is the security scheme that a person means.
func (api *API) scheme(name string) (string, error) {
	all := api.Box().Logins()
	switch {
	case len(all) == 0:
		return "", fmt.Errorf("openapi.%s has no credential with a login: set openapi.%[1]s.auth.SCHEME.flow to code", api.name)
	case name == "" && len(all) == 1:
		return all[0], nil
	case name == "":
		return "", fmt.Errorf("several security schemes have logins: say which, %s", strings.Join(all, ", "))
	case !slices.Contains(all, name):
		return "", fmt.Errorf("the security scheme %q has no login: %s", name, strings.Join(all, ", "))
	}
	return name, nil
}

// LogIn logs a person in for a security scheme; empty: the only one. Port is where the login
// page sends its answer; 0: a free one.
func (api *API) LogIn(ctx context.Context, scheme string, port int) (Status, error) {
	redirect := ""
	if port > 0 {
		redirect = fmt.Sprintf("http://127.0.0.1:%d/callback", port)
	}
	if err := api.loginHeld(scheme); err != nil {
		return Status{}, err
	}
	h, err := api.loginOf(ctx, scheme, redirect)
	if err != nil {
		return Status{}, err
	}
	if err := h.Login(ctx); err != nil {
		return Status{}, err
	}
	return h.Status(ctx)
}

// loginHeld refuses to send a person to a page that only a document names which nobody has
// approved: with the page, or where its codes go, every operation that wants the login has changed.
func (api *API) loginHeld(scheme string) error {
	scheme, err := api.scheme(scheme)
	if err != nil {
		return err
	}
	held, waits := api.Held(), false
	for _, o := range api.Box().Operations() {
		if !slices.Contains(o.Schemes, scheme) {
			continue
		}
		if !slices.ContainsFunc(held, func(h pinned.Held) bool { return h.Tool == o.Tool }) {
			return nil
		}
		waits = true
	}
	if waits {
		return fmt.Errorf("all operations that want this login are held back, because the document is another than the one that was approved: 'toolcrib openapi diff %s' shows what has changed, and 'toolcrib openapi approve %[1]s' takes it", api.name)
	}
	return nil
}

// LogOut forgets the login.
func (api *API) LogOut(ctx context.Context, scheme string) error {
	h, err := api.loginOf(ctx, scheme, "")
	if err != nil {
		return err
	}
	return h.Logout(ctx)
}

func (api *API) loginOf(ctx context.Context, scheme, redirect string) (*oauth.Handler, error) {
	scheme, err := api.scheme(scheme)
	if err != nil {
		return nil, err
	}
	at, err := api.Box().Login(scheme)
	if err != nil {
		return nil, err
	}
	secret := ""
	if at.Secret != "" {
		if api.apis.needs.Login.Secret == nil {
			return nil, errors.New("the vault is not open")
		}
		if secret, err = api.apis.needs.Login.Secret(ctx, at.Secret); err != nil {
			return nil, err
		}
	}
	return api.logins.handler(at, strings.TrimSpace(secret), redirect)
}
