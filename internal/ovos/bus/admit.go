package bus

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// refusal is why a client may not come in.
type refusal struct {
	status int
	why    string
}

// refuse judges a handshake; nil lets it pass.
func (s *Server) refuse(r *http.Request) *refusal {
	if r.URL.Path != s.cfg.Path || r.URL.RawPath != "" {
		return &refusal{http.StatusNotFound, "there is no bus here"}
	}
	if !s.cfg.Remote && !fromHere(r) {
		return &refusal{http.StatusForbidden, "this bus is for the programs of its own machine"}
	}
	if s.cfg.Token != "" && !s.tokenShown(r) {
		return &refusal{http.StatusUnauthorized, "a token is needed"}
	}
	if s.cfg.Token == "" && s.ofOthers(r) {
		return &refusal{http.StatusForbidden, "this bus is for the programs of the account that runs it; set bus.token on both sides to let others in"}
	}
	if origins, sent := r.Header["Origin"]; sent {
		for _, origin := range origins {
			if !s.originAllowed(origin, r.Host) {
				return &refusal{http.StatusForbidden, fmt.Sprintf("origin %q is not allowed", origin)}
			}
		}
	}
	return nil
}

// mayServe keeps a bus that was not made for other machines off the network.
func (s *Server) mayServe(addr net.Addr) error {
	if s.cfg.Remote || isLocal(addr) {
		return nil
	}
	return fmt.Errorf("serving the bus on %s: other machines could reach it; that has to be allowed explicitly, with a token", addr)
}

// fromHere asks for the address that the connection came in on, for a handler
// knows nothing of its listener.
func fromHere(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && isLocal(addr)
}

func isLocal(addr net.Addr) bool {
	switch a := addr.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

func (s *Server) tokenShown(r *http.Request) bool {
	shown, ok := httpapi.Bearer(r.Header)
	if !ok {
		shown = r.URL.Query().Get("token")
	}
	return httpapi.Same(shown, s.cfg.Token)
}

// originAllowed judges an Origin header. Browsers always send one, so a client
// without is none. The Python client sends one too: the address it connects
// to. That is let in where no foreign page can have it: an address or
// localhost is the origin of pages from this very server only, while a name
// can be made to point here by whoever owns it; unless the client has also
// shown the token, which no foreign page knows.
func (s *Server) originAllowed(origin, host string) bool {
	origin = strings.ToLower(origin)
	if s.origins[origin] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || origin != u.Scheme+"://"+u.Host {
		return false
	}
	if !strings.EqualFold(u.Host, host) {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil || u.Hostname() == "localhost" || s.cfg.Token != ""
}

// originSet reads the configured origins.
func originSet(origins []string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, origin := range origins {
		u, err := url.Parse(strings.ToLower(origin))
		if err != nil {
			return nil, fmt.Errorf("reading origin %q: %w", origin, err)
		}
		if u.Scheme == "" || u.Host == "" || strings.Contains(u.Host, "*") || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("reading origin %q: %w", origin, errors.New("want scheme://host or scheme://host:port"))
		}
		set[u.Scheme+"://"+u.Host] = true
	}
	return set, nil
}
