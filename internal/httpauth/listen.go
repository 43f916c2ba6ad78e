package httpauth

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Listen opens the address to serve on. It must name a loopback host: tokens
// cross the connection as they are, so only this machine may reach it. An empty
// host would mean every interface and is refused for that.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w: write host:port, such as 127.0.0.1:7717", err)
	}
	if host != "localhost" {
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.IsLoopback() {
			return nil, fmt.Errorf("serve.listen: %q is not a loopback address; use 127.0.0.1, [::1] or localhost", address)
		}
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

// OwnNameOnly refuses requests made under another name than this machine's: a
// web page can make a name of its own point here (DNS rebinding).
func OwnNameOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if host != "localhost" && (err != nil || !ip.IsLoopback()) {
			http.Error(w, "this server is called localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
