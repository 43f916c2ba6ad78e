package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/netip"
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
