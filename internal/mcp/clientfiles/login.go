package clientfiles

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Login is what a file says about how one logs in to a server. Tokens are not in
// these files, and would not be taken: each program has its own.
type Login struct {
	ClientID, ClientSecret string
	Issuer                 string
	Scopes                 []string
	RedirectPort           int    // of http://127.0.0.1:PORT/callback; 0: the file does not say
	RedirectURL            string // as a whole, where it is another
	Off                    bool   // nobody logs in
}

// IsZero reports whether a file says nothing.
func (l Login) IsZero() bool {
	return l.ClientID == "" && l.ClientSecret == "" && l.Issuer == "" && len(l.Scopes) == 0 && l.RedirectPort == 0 && l.RedirectURL == "" && !l.Off
}

const maxScopes = 64

// login reads how one logs in. Clients call the same things by names that differ
// in case and in lines between the words.
func (r *reader) login(e *entry, s *Server) {
	if s.URL == "" {
		return // what is there is named as dropped
	}
	for _, key := range [...]string{"oauth", "auth", "mcp_oauth"} {
		v, ok := e.get(key)
		switch {
		case !ok:
		case v.kind == kindBool:
			e.used[key] = true
			s.OAuth.Off = s.OAuth.Off || v.text == "false"
		case v.kind == kindTable:
			e.used[key] = true
			for i, f := range v.fields {
				if v.index(f.name) == i && f.value.kind != kindNull {
					r.loginKey(e, s, key+"."+show(f.name), f)
				}
			}
		}
	}
	for _, key := range [...]string{"scopes", "oauthScopes", "oauthClientId"} {
		if v, ok := e.take(key); ok {
			r.loginKey(e, s, key, field{name: key, value: v})
		}
	}
	if _, ok := e.take("oauthPublicClient"); ok && s.OAuth.ClientSecret == "" {
		e.note("oauthPublicClient says nothing new: a client without a secret is a public one")
	}
	r.codexRedirect(e, s)
	switch {
	case s.OAuth.Off:
		s.OAuth = Login{Off: true}
	case s.OAuth.ClientID == "" && s.OAuth.ClientSecret != "":
		s.OAuth.ClientSecret = ""
		e.dropped = append(e.dropped, "the client secret: there is no client ID that it belongs to")
	case s.OAuth.ClientID != "" && s.OAuth.RedirectPort == 0 && s.OAuth.RedirectURL == "":
		e.note("its client is registered for the redirect address of %s: register one of Toolcrib's for it too, and set oauth.redirect_port or oauth.redirect_url", Title(r.client.name))
	}
}

// loginKey reads one member.
func (r *reader) loginKey(e *entry, s *Server, where string, f field) {
	left := func(why string) { e.dropped = append(e.dropped, where+": "+why) }
	text := func(into *string) {
		if f.value.kind != kindText {
			left(fmt.Sprintf("it is %s, not a text", f.value.kind))
			return
		}
		*into = f.value.text
	}
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(f.name)) {
	case "enabled":
		s.OAuth.Off = s.OAuth.Off || f.value.kind == kindBool && f.value.text == "false"
	case "clientid", "oauthclientid":
		text(&s.OAuth.ClientID)
	case "clientsecret":
		text(&s.OAuth.ClientSecret)
	case "scope", "scopes", "oauthscopes":
		if why := s.OAuth.readScopes(f.value); why != "" {
			left(why)
		}
	case "issuer", "authservermetadataurl":
		issuer, ok := issuerOf(f.value.text)
		if f.value.kind != kindText || !ok {
			left("it is no address of an issuer (https); set oauth.issuer if the server does not name it")
			return
		}
		s.OAuth.Issuer = issuer
	case "callbackport", "redirectport":
		port, err := strconv.Atoi(f.value.text)
		if err != nil || port < 1 || port > 65535 {
			left("it is no port")
			return
		}
		r.redirectPort(s, port)
	case "redirecturi", "redirecturl", "callbackurl":
		if f.value.kind != kindText || !s.OAuth.readRedirect(f.value.text) {
			left("the login page answers over http to this machine only; register such an address for the client, and set oauth.redirect_url")
		}
	case "authorizationurl", "authurl", "tokenurl", "registrationurl":
		left("where one logs in is what the server and its issuer say; set oauth.issuer if the server does not name one")
	case "audience", "audiences", "resource":
		left("a token is asked for the resource that the server names, and for no other")
	case "tokenparamname":
		left("a token is sent as a header, never in an address")
	default:
		left("it is not known here")
	}
}

// redirectPort is the address that a client makes of a port.
func (r *reader) redirectPort(s *Server, port int) {
	switch r.client.name {
	case ClaudeCode:
		s.OAuth.RedirectURL = fmt.Sprintf("http://localhost:%d/callback", port)
	case OpenCode:
		s.OAuth.RedirectURL = fmt.Sprintf("http://127.0.0.1:%d/mcp/oauth/callback", port)
	default:
		s.OAuth.RedirectPort = port
	}
}

// codexRedirect takes over what Codex has for all its servers.
func (r *reader) codexRedirect(e *entry, s *Server) {
	if r.client.name != Codex || s.OAuth.RedirectPort > 0 || s.OAuth.RedirectURL != "" {
		return
	}
	if v, ok := r.root.get("mcp_oauth_callback_url"); ok {
		r.loginKey(e, s, "mcp_oauth_callback_url", field{name: "callbackUrl", value: v})
	}
	if v, ok := r.root.get("mcp_oauth_callback_port"); ok && s.OAuth.RedirectURL == "" {
		r.loginKey(e, s, "mcp_oauth_callback_port", field{name: "callbackPort", value: v})
	}
}

// readScopes takes a list, or a text with blanks or commas between them.
func (l *Login) readScopes(v value) (why string) {
	var list []string
	switch v.kind {
	case kindText:
		list = strings.FieldsFunc(v.text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
	case kindList:
		for _, w := range v.list {
			if w.kind != kindText {
				return "a scope is a text"
			}
			list = append(list, strings.Fields(w.text)...)
		}
	default:
		return fmt.Sprintf("it is %s, not a list of scopes", v.kind)
	}
	if len(list) > maxScopes {
		return fmt.Sprintf("it has %d scopes; at most %d are taken", len(list), maxScopes)
	}
	for _, scope := range list {
		if len(scope) > 256 || strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			return "a scope is one word of plain ASCII"
		}
		if !slices.Contains(l.Scopes, scope) {
			l.Scopes = append(l.Scopes, scope)
		}
	}
	return ""
}

// readRedirect takes an address of this machine; some write host and port alone.
func (l *Login) readRedirect(text string) bool {
	if host, port, err := net.SplitHostPort(text); err == nil && isLoopback(host) {
		n, err := strconv.Atoi(port)
		l.RedirectPort = n
		return err == nil && n > 0 && n < 65536
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || !isLoopback(u.Hostname()) || u.Port() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	l.RedirectURL = u.String()
	return true
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// issuerOf reads an issuer, or the address of its metadata, which the issuer is
// part of.
func issuerOf(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", false
	}
	for _, known := range [...]string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		if before, after, ok := strings.Cut(u.Path, known); ok {
			u.Path, u.RawPath = before+after, ""
			break
		}
	}
	return u.String(), true
}
