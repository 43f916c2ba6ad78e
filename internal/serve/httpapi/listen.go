package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// Listening says where and how a server listens, in the words of the settings.
type Listening struct {
	Address string
	// Remote allows addresses that other machines reach. Tokens would cross the
	// connection as they are, so it needs Secure.
	Remote bool
	Open   bool         // everybody may call: not with Remote
	Secure *Certificate // nil: no TLS
}

// Listen opens the address to serve on. Unless other machines were allowed for, it
// must name a loopback host; an empty host would mean every interface and is
// refused for that.
func Listen(ctx context.Context, on Listening) (net.Listener, error) {
	host, _, err := net.SplitHostPort(on.Address)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w: write host:port, such as 127.0.0.1:7717", err)
	}
	if !IsLoopback(host) {
		switch {
		case !on.Remote:
			return nil, fmt.Errorf("serve.listen: %q is not a loopback address; use 127.0.0.1, [::1] or localhost, or set serve.remote: true with serve.tls to let other machines in", on.Address)
		case on.Secure == nil:
			return nil, errors.New("serve.remote: other machines would send their tokens in the clear; set serve.tls.cert and serve.tls.key, or let a reverse proxy on this machine do it and listen on loopback")
		case on.Open:
			return nil, errors.New("serve.remote: with serve.open everybody who reaches this machine could call; leave one of them out")
		}
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", on.Address)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	if on.Secure != nil {
		ln = tls.NewListener(ln, on.Secure.Config())
	}
	return ln, nil
}
