package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"strconv"
	"syscall"
)

// Listening says where and how a server listens, in the words of the settings.
type Listening struct {
	Address string
	// Remote allows addresses that other machines reach. Tokens would cross the
	// connection as they are, so it needs Secure.
	Remote bool
	Open   bool         // everybody may call: not with Remote
	Hosts  []string     // the names besides localhost: Remote needs one
	Secure *Certificate // nil: no TLS
}

// Check says what is wrong with it. Unless other machines were allowed for, the
// address must name a loopback host; an empty host would mean every interface and
// is refused for that.
func (on Listening) Check() error {
	host, _, err := net.SplitHostPort(on.Address)
	switch {
	case err != nil:
		return fmt.Errorf("serve.listen: %w: write host:port, such as 127.0.0.1:7717", err)
	case IsLoopback(host):
		return nil
	case !on.Remote:
		return fmt.Errorf("serve.listen: %q is not a loopback address; use 127.0.0.1, [::1] or localhost, or set serve.remote: true with serve.tls and serve.hosts to let other machines in", on.Address)
	case on.Secure == nil:
		return errors.New("serve.remote: other machines would send their tokens in the clear; set serve.tls.cert and serve.tls.key, or let a reverse proxy on this machine do it and listen on loopback")
	case on.Open:
		return errors.New("serve.remote: with serve.open everybody who reaches this machine could call; leave one of them out")
	case len(on.Hosts) == 0:
		return errors.New("serve.remote: requests of other machines would be refused, since they come under a name that is not known here; write the one that they use into serve.hosts, such as serve.hosts: [tools.example.com]")
	}
	return nil
}

// nextPort is an address to try in place of one that is taken.
func nextPort(address string) string {
	host, port, _ := net.SplitHostPort(address)
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || n == math.MaxUint16 {
		return "127.0.0.1:0"
	}
	return net.JoinHostPort(host, strconv.FormatUint(n+1, 10))
}

// instead says what helps where an address cannot be listened at.
func (on Listening) instead(err error) string {
	const how = "with 'toolcrib serve --listen %s' or in serve.listen"
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("It needs rights of the system, as ports below 1024 often do: choose a higher one "+how, "127.0.0.1:7717")
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.Errno(10048)): // as Windows calls it
		return fmt.Sprintf("Another program has this address: stop it, or choose another one "+how, nextPort(on.Address))
	}
	return fmt.Sprintf("Choose an address of this machine "+how, "127.0.0.1:7717")
}

// Listen opens the address to serve on.
func Listen(ctx context.Context, on Listening) (net.Listener, error) {
	if err := on.Check(); err != nil {
		return nil, err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", on.Address)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w. %s", err, on.instead(err))
	}
	if on.Secure != nil {
		ln = tls.NewListener(ln, on.Secure.Config())
	}
	return ln, nil
}
