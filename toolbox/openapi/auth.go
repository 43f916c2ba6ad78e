package openapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// checkAuth holds the credentials against the schemes of the document.
func (b *Box) checkAuth() error {
	for _, name := range slices.Sorted(maps.Keys(b.cfg.Auth)) {
		c := b.cfg.Auth[name]
		if c.Secret == "" && !c.Login {
			return fmt.Errorf("the credential for %s names no secret", name)
		}
		s, known := b.schemes[name]
		switch {
		case c.Type == "" && !known:
			return fmt.Errorf("the document has no security scheme %q: it has %s; to use another, say its type (apiKey, basic or bearer)", name, orNone(slices.Sorted(maps.Keys(b.schemes))))
		case c.Type != "":
			s = spec.Scheme{Type: c.Type, In: c.In, Name: c.Name}
			if c.Type == "basic" || c.Type == "bearer" {
				s.Type, s.Scheme = "http", c.Type
			}
		}
		switch {
		case s.Type == "apiKey" && (s.Name == "" || !slices.Contains([]string{"header", "query", "cookie"}, s.In)):
			return fmt.Errorf("the apiKey %s has to say its name and whether it is in header, query or cookie", name)
		case s.Type == "http" && s.Scheme != "basic" && s.Scheme != "bearer":
			return fmt.Errorf("the security scheme %s is http %s: basic and bearer can be used", name, s.Scheme)
		case !slices.Contains([]string{"apiKey", "http", "oauth2", "openIdConnect"}, s.Type):
			return fmt.Errorf("the security scheme %s is of the type %q, which cannot be used", name, s.Type)
		}
		if c.Login && s.Type != "oauth2" && s.Type != "openIdConnect" {
			return fmt.Errorf("nobody can log in for the security scheme %s: it is of the type %s; oauth2 and openIdConnect have logins", name, s.Type)
		}
		if b.schemes == nil {
			b.schemes = map[string]spec.Scheme{}
		}
		b.schemes[name] = s
	}
	return nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// Schemes tells which security schemes there are, and for which a credential is set.
func (b *Box) Schemes() []Scheme {
	var out []Scheme
	for _, name := range slices.Sorted(maps.Keys(b.schemes)) {
		s := b.schemes[name]
		kind := s.Type
		if kind == "http" {
			kind = s.Scheme
		}
		_, set := b.cfg.Auth[name]
		out = append(out, Scheme{Name: name, Type: kind, Set: set})
	}
	return out
}

// setByCredential reports whether a parameter is the place of a key that is configured: a model
// has no use for it.
func (b *Box) setByCredential(in, name string) bool {
	for scheme := range b.cfg.Auth {
		s := b.schemes[scheme]
		if s.Type == "apiKey" && s.In == in && (s.Name == name || in == "header" && strings.EqualFold(s.Name, name)) {
			return true
		}
	}
	return false
}

// credentials picks the schemes that a call is sent with: the first set of the operation that is
// configured, and what the person added for every operation.
func (b *Box) credentials(o *spec.Operation) (use []string, unmet []string) {
	for name, c := range b.cfg.Auth {
		if c.Type != "" {
			use = append(use, name)
		}
	}
	picked := len(o.Security) == 0 || len(use) > 0
	for _, r := range o.Security {
		have := true
		for name := range r {
			_, ok := b.cfg.Auth[name]
			have = have && ok
		}
		if have && len(r) > 0 {
			for name := range r {
				if !slices.Contains(use, name) {
					use = append(use, name)
				}
			}
			picked = true
			break
		}
		if len(r) == 0 {
			picked = true // it may be called by anybody; a credential further down is better
		}
	}
	if !picked {
		for _, r := range o.Security {
			for name := range r {
				if !slices.Contains(unmet, name) {
					unmet = append(unmet, name)
				}
			}
		}
	}
	slices.Sort(use)
	slices.Sort(unmet)
	return use, unmet
}

// authorise puts the credentials of a call into its request. It gives their values, which must
// not be shown.
func (b *Box) authorise(ctx context.Context, env handles, o *spec.Operation, req *http.Request) (secrets []string, err error) {
	use, _ := b.credentials(o)
	if len(use) == 0 {
		return nil, nil
	}
	host := strings.ToLower(req.URL.Host)
	if !b.home[host] {
		return nil, nil // the server is not the one that the credential is for
	}
	if !private(req.URL) {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the API at " + host + " is reached by http, where everyone on the way could read the credential: set a base_url with https"}
	}
	for _, name := range use {
		var value string
		if c := b.cfg.Auth[name]; c.Secret != "" {
			if value, err = b.secret(ctx, env, c.Secret); err != nil {
				return nil, err
			}
		}
		more, err := b.apply(ctx, env, name, value, req)
		secrets = append(secrets, more...)
		if err != nil {
			return secrets, err
		}
	}
	return secrets, nil
}

// private reports whether what goes to an address stays between the two ends.
func private(u *url.URL) bool {
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.IsLoopback()
}

func (b *Box) secret(ctx context.Context, env handles, name string) (string, error) {
	if env.Secret == nil {
		return "", &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the secret " + name + " was not granted; to allow it, add it to vault.grants." + b.cfg.Name}
	}
	value, err := env.Secret(ctx, name)
	if err != nil {
		return "", err
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "the secret " + name + " is empty"}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c == 0x7f {
			return "", fmt.Errorf("the secret %s has a line end or a control character in it", name)
		}
	}
	return value, nil
}

// apply puts one credential into a request.
func (b *Box) apply(ctx context.Context, env handles, name, value string, req *http.Request) (secrets []string, err error) {
	s, c := b.schemes[name], b.cfg.Auth[name]
	switch {
	case s.Type == "apiKey" && s.In == "header":
		req.Header.Set(s.Name, value)
	case s.Type == "apiKey" && s.In == "query":
		req.URL.RawQuery = withPair(req.URL.RawQuery, "&", s.Name, value)
		return []string{value, url.QueryEscape(value)}, nil
	case s.Type == "apiKey":
		req.Header.Set("Cookie", withPair(req.Header.Get("Cookie"), "; ", s.Name, value))
		return []string{value, url.QueryEscape(value)}, nil
	case s.Type == "http" && s.Scheme == "basic":
		user, password := c.User, value
		if user == "" {
			var ok bool
			if user, password, ok = strings.Cut(value, ":"); !ok {
				return nil, errors.New("the secret for " + name + " has to be user:password, or the user has to be set")
			}
		}
		coded := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		req.Header.Set("Authorization", "Basic "+coded)
		return []string{value, password, coded}, nil
	case c.Login:
		token, err := b.loginToken(ctx, name, value)
		if err != nil {
			return keepFull(value), err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return keepFull(value, token), nil
	case s.Type == "oauth2" && c.ClientID != "":
		token, err := b.token(ctx, env, name, value)
		if err != nil {
			return []string{value}, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return []string{value, token}, nil
	default:
		req.Header.Set("Authorization", "Bearer "+value)
	}
	return []string{value}, nil
}

// withPair adds name=value to a list, in place of what has that name there: a caller does not set
// what a credential sets.
func withPair(list, sep, name, value string) string {
	var out []string
	for part := range strings.SplitSeq(list, sep) {
		given, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(given); err == nil && plain == name || part == "" {
			continue
		}
		out = append(out, part)
	}
	return strings.Join(append(out, url.QueryEscape(name)+"="+url.QueryEscape(value)), sep)
}

// hideBytes does the same for the body of an answer, with values that are long enough not to stand
// there by chance; also as JSON writes them.
func hideBytes(body []byte, secrets []string) []byte {
	for _, secret := range secrets {
		if len(secret) < 8 {
			continue
		}
		for _, form := range forms(secret) {
			if bytes.Contains(body, []byte(form)) {
				body = bytes.ReplaceAll(body, []byte(form), []byte("[secret]"))
			}
		}
	}
	return body
}

// forms are the ways in which a value may stand in a text: as it is, in quotes, in an address.
func forms(secret string) []string {
	json, quoted := jsontext.Quote(secret), strconv.Quote(secret)
	return []string{secret, string(json[1 : len(json)-1]), quoted[1 : len(quoted)-1], url.QueryEscape(secret), url.PathEscape(secret)}
}

// conceal takes credentials out of an error, with its cause: that may be a text of the server's.
func conceal(err error, secrets []string) error {
	e, ok := errors.AsType[*toolcrib.Error](err)
	if !ok {
		return err
	}
	told := *e
	told.Message = hide(e.Message, secrets)
	if e.Err != nil && hide(e.Err.Error(), secrets) != e.Err.Error() {
		told.Err = nil
	}
	return &told
}

// hide takes credentials out of a text: servers repeat what they were sent.
func hide(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) < 4 {
			continue
		}
		for _, form := range forms(secret) {
			s = strings.ReplaceAll(s, form, "[secret]")
		}
	}
	return s
}
