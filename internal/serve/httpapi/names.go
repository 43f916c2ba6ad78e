package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Names says under which names a server may be called. The zero value takes those
// of this machine where a request comes in on a loopback address, and every name
// elsewhere.
type Names struct {
	// Strict wants a known name on other addresses too.
	Strict bool
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
	if (n.Strict || known && IsLoopback(here.String())) && !IsLoopback(r.Host) {
		return "this server is called localhost"
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		for _, origin := range origins {
			u, err := url.Parse(origin)
			if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
				return "requests of other origins are refused"
			}
		}
	} else if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !reads(r.Method) {
		return "requests of other sites are refused"
	}
	return ""
}

// reads reports whether a method changes nothing.
func reads(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// IsLoopback reports whether an address, with or without a port, is written as one
// of this machine.
func IsLoopback(address string) bool {
	host := hostOf(address)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// hostOf leaves out the port and the brackets.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}
