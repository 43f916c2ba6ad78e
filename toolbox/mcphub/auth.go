package mcphub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/oauth"
)

// Tokens keeps logins where nobody else can read them.
type Tokens interface {
	Load(ctx context.Context, name string) ([]byte, error) // nil: there is none
	Save(ctx context.Context, name string, value []byte) error
	Delete(ctx context.Context, name string) error // nil too if there was none
}

// Login is what a login to a server needs of the world.
type Login struct {
	Tokens Tokens // nil: nobody logs in anywhere
	// HTTP is the client for requests to a server's authorization server.
	HTTP func(server, url string) *http.Client
	// Page shows a person a page. Nil: nobody is there.
	Page func(ctx context.Context, url string) error
	// Serve answers on a loopback address until stop is called.
	Serve func(ctx context.Context, addr string, h http.Handler) (at string, stop func(), err error)
}

// authorizer is the login of this server; nil: it has none.
func (b *Box) authorizer(ctx context.Context, url string, expand func(context.Context, string) (string, error)) (client.Authorizer, error) {
	if b.server.OAuth.Off || b.hub.needs.Login.Tokens == nil {
		return nil, nil
	}
	h, err := b.oauth(ctx, url, expand)
	if err != nil && b.server.OAuth.ClientID == "" && b.server.OAuth.Redirect == "" {
		// It cannot have a login, such as one on a network without https; if it
		// wants none, all is well, and else it will say so itself.
		b.hub.needs.Log.Debug("an MCP server cannot have a login", "server", b.name, "err", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for name, value := range b.server.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return &headed{Handler: h, server: b.name, header: name, secret: secretIn(value)}, nil
		}
	}
	return h, nil
}

// headed is the login of a server that is given a credential by a header of its
// settings. If it does not take that one, the header is wrong: to log in instead is
// for a person to say.
type headed struct {
	*oauth.Handler
	server, header, secret string
}

// Challenge logs in only where a person has logged in before.
func (h *headed) Challenge(ctx context.Context, req *http.Request, resp *http.Response) error {
	token, err := h.Token(ctx)
	switch {
	case err != nil:
		return err
	case token != "":
		return h.Handler.Challenge(ctx, req, resp)
	}
	another := "give it another in mcp_servers." + h.server + ".headers"
	if h.secret != "" {
		another = "give it another with 'toolcrib secret set " + h.secret + "'"
	}
	return fmt.Errorf("the server does not take its header %s (status %d): %s, or log in with 'toolcrib hub login %s'", h.header, resp.StatusCode, another, h.server)
}

// secretIn is the secret that stands in a text; "" if there is none.
func secretIn(text string) string {
	_, rest, _ := strings.Cut(text, "${secret:")
	name, _, _ := strings.Cut(rest, "}")
	return name
}

// oauth makes the login. It is made once: what it knows of a login under way
// must not be known twice.
func (b *Box) oauth(ctx context.Context, url string, expand func(context.Context, string) (string, error)) (*oauth.Handler, error) {
	b.mu.Lock()
	h := b.login
	b.mu.Unlock()
	if h != nil {
		return h, nil
	}
	secret, err := expand(ctx, b.server.OAuth.ClientSecret)
	if err != nil {
		return nil, fmt.Errorf("its oauth.client_secret: %w", err)
	}
	id, err := expand(ctx, b.server.OAuth.ClientID)
	if err != nil {
		return nil, fmt.Errorf("its oauth.client_id: %w", err)
	}
	l := b.hub.needs.Login
	cfg := oauth.Config{Server: b.name, URL: url, ClientID: id, ClientSecret: secret, Issuer: b.server.OAuth.Issuer, Scopes: b.server.OAuth.Scopes, Redirect: b.server.OAuth.Redirect}
	if b.server.OAuth.ClientCredentials {
		cfg.Flow = oauth.FlowClient
	}
	if h, err = oauth.New(cfg, oauth.Needs{HTTP: l.HTTP(b.name, url), Store: l.Tokens, Open: l.Page, Serve: l.Serve, Now: b.hub.needs.Now, Log: b.hub.needs.Log}); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.login == nil {
		b.login = h
	}
	return b.login, nil
}

// LoginStatus tells about a login what is no secret.
type LoginStatus struct {
	LoggedIn bool      `json:"logged_in"`
	Issuer   string    `json:"issuer,omitempty"`
	Scopes   []string  `json:"scopes,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	Renewed  bool      `json:"renewed"` // without a person
	// Again: the issuer had forgotten the client that was registered with it.
	Again bool `json:"registered_again,omitempty"`
}

// LogIn logs in to the server because a person wants it; LogOut forgets that.
func (b *Box) LogIn(ctx context.Context) (LoginStatus, error) {
	h, err := b.loginFor(ctx)
	if err != nil {
		return LoginStatus{}, err
	}
	if err := h.Login(ctx); err != nil {
		return LoginStatus{}, err
	}
	s, err := h.Status(ctx)
	return LoginStatus{s.LoggedIn, s.Issuer, s.Scopes, s.Expires, s.Renewable, s.Again}, err
}

// LogOut forgets the login.
func (b *Box) LogOut(ctx context.Context) error {
	h, err := b.loginFor(ctx)
	if err != nil {
		return err
	}
	return h.Logout(ctx)
}

func (b *Box) loginFor(ctx context.Context) (*oauth.Handler, error) {
	switch {
	case b.server.URL == "":
		return nil, errors.New("it is a program on this machine: there is nothing to log in to")
	case b.hub.needs.Login.Tokens == nil:
		return nil, errors.New("there is no place to keep a login in")
	case b.server.OAuth.Off:
		return nil, errors.New("its settings say that nobody logs in (oauth.flow: off)")
	}
	expand := b.hub.expander()
	url, err := expand(ctx, b.server.URL)
	if err != nil {
		return nil, fmt.Errorf("its url: %w", err)
	}
	return b.oauth(ctx, url, expand)
}

// expander puts in what references stand for.
func (h *Hub) expander() func(context.Context, string) (string, error) {
	if h.needs.Expand != nil {
		return h.needs.Expand
	}
	return func(_ context.Context, text string) (string, error) { return text, nil }
}
