package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
)

// Names says under which names a server may be called. The zero value takes those
// of this machine where a request comes in on a loopback address, and every name
// elsewhere: it is for handlers that do not know where they are served.
type Names struct {
	strict bool
	hosts  map[string]bool
}

// hostLetters may stand in the name of a host, as clients send it.
const hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._"

// NewNames takes the names of this machine, and the given ones. Any other is
// refused, on whatever address a request comes in.
func NewNames(hosts []string) (Names, error) {
	n := Names{strict: true, hosts: map[string]bool{}}
	for _, host := range hosts {
		name := plainHost(host)
		address, err := netip.ParseAddr(strings.Trim(name, "[]"))
		if address.Zone() != "" || err != nil && (strings.Contains("."+name+".", "..") || strings.Trim(name, hostLetters) != "") {
			return Names{}, fmt.Errorf("serve.hosts: %q is not a host name; write it without scheme, port and path, such as tools.example.com, and one with other letters as clients send it (xn--…)", host)
		}
		n.hosts[strings.Trim(name, "[]")] = true
	}
	return n, nil
}

// Guard refuses requests under other names than ours, since a web page can make a
// name of its own point here (DNS rebinding), and those that a web page of somebody
// else makes in a person's browser.
func (n Names) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := n.foreign(r); why != "" {
			DropBody(w)
			Fail(w, http.StatusForbidden, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign says why a request is not for us; empty: it is.
func (n Names) foreign(r *http.Request) string {
	here, known := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if (n.strict || known && IsLoopback(here.String())) && !n.ours(r.Host) {
		if n.strict {
			return "this server is called localhost; other names, such as that of a reverse proxy, have to be listed in serve.hosts"
		}
		return "this server is called localhost"
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		for _, origin := range origins {
			if !n.sameOrigin(origin, r.Host) {
				return "requests of other origins are refused"
			}
		}
	} else if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !reads(r.Method) {
		return "requests of other sites are refused"
	}
	return ""
}

// ours reports whether a Host header names us.
func (n Names) ours(host string) bool {
	return IsLoopback(host) || n.hosts[plainHost(hostOf(host))]
}

// sameOrigin reports whether a page was got from us. What stands between may have
// changed the port and the Host header, but a page of a name of ours is ours.
func (n Names) sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return strings.EqualFold(u.Host, host) || n.hosts[plainHost(u.Hostname())]
}

// reads reports whether a method changes nothing.
func reads(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// IsLoopback reports whether an address, with or without a port, is written as one
// of this machine.
func IsLoopback(address string) bool {
	return plainaddr.IsLoopback(hostOf(address))
}

// hostOf leaves out the port and the brackets.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

// plainHost is the form in which names are compared.
func plainHost(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
