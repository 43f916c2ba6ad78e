package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// dial connects to a host that was let through. Whatever name servers answer,
// and however often they are asked, each address is judged on the socket that
// is about to connect to it.
func (g *Gate) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	host = lowerASCII(host) // the transport takes it from the address as it is written
	literal, err := netip.ParseAddr(host)
	named := err != nil
	// The transport goes on dialling for a later request when the one that
	// wanted the connection has given up: only close ends that.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()
	d := &net.Dialer{
		Timeout:  g.opt.Dial,
		Resolver: g.opt.Resolver,
		ControlContext: func(_ context.Context, _, addr string, _ syscall.RawConn) error {
			a, err := netip.ParseAddrPort(addr)
			if err != nil {
				return fmt.Errorf("judging an address: %w", err)
			}
			if named {
				return g.admit(host, a.Addr(), g.hosts.leads(host, a.Addr()))
			}
			return g.admit(host, a.Addr(), plainaddr.Of(a.Addr()) == plainaddr.Of(literal) && g.hosts.reaches(a.Addr()))
		},
	}
	conn, err := g.connect(ctx, d, network, hostport)
	if err != nil {
		return nil, g.untold(err, host, port)
	}
	return g.keep(conn)
}

// admit is the last word on an address. The text for the model does not tell
// it: where a name leads inside a network is nobody's business there.
func (g *Gate) admit(host string, a netip.Addr, granted bool) error {
	a = plainaddr.Of(a)
	use := notPublic(a)
	if !granted {
		return g.refuse(refusal.Denied, "the host "+host+" leads to an address that is not public, and granting a name does not grant those; to allow it, add private:"+host+", or the address or its range, to grant.hosts",
			fmt.Errorf("%w: %s is %s at %s", ErrNotPublic, host, use, a))
	}
	if use != "" && (g.hosts.hasAddr(a) || a.IsLoopback()) {
		return nil // an entry says so
	}
	own, err := g.interfaces()
	if err != nil {
		return g.refuse(refusal.Unavailable, "the addresses of this machine cannot be found out, so no other can be told from them", err)
	}
	for _, o := range own {
		if p, err := netip.ParsePrefix(o.String()); err == nil && plainaddr.Of(p.Addr()) == a {
			return g.refuse(refusal.Denied, "the host "+host+" is this machine; to allow it, add localhost to grant.hosts and ask for that", fmt.Errorf("%s is an interface at %s", host, a))
		}
	}
	return nil
}

func (g *Gate) interfaces() ([]net.Addr, error) {
	if g.opt.Interfaces != nil {
		return g.opt.Interfaces()
	}
	return net.InterfaceAddrs()
}

// untold is a failure to connect, without the addresses it was about: neither
// that of the host nor those of name servers.
func (g *Gate) untold(err error, host, port string) error {
	if e, ok := errors.AsType[*refusal.Error](err); ok {
		return e
	}
	what := "connecting to " + net.JoinHostPort(host, port)
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return &httpError{"looking up " + host + ": " + lookupFailure(e), err}
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil {
		return &httpError{what + ": " + e.Err.Error(), err}
	}
	return &httpError{what + " failed", err}
}

// lookupFailure leaves out what a resolver tells: it names name servers.
func lookupFailure(e *net.DNSError) string {
	switch {
	case e.IsNotFound:
		return "no such host"
	case e.IsTimeout:
		return "the name servers do not answer"
	}
	return "the name servers give no usable answer"
}

// httpError has a text for the model and the cause for everyone else.
type httpError struct {
	text string
	err  error
}

func (e *httpError) Error() string { return e.text }
func (e *httpError) Unwrap() error { return e.err }

// Timeout makes it one for http.Client, which asks no further down.
func (e *httpError) Timeout() bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.err)
	return ok && t.Timeout()
}

// gateConn is a connection that ends with its gate.
type gateConn struct {
	net.Conn
	gate *Gate
}

func (g *Gate) keep(conn net.Conn) (net.Conn, error) {
	c := &gateConn{conn, g}
	g.mu.Lock()
	open := g.conns != nil
	if open {
		g.conns[c] = struct{}{}
	}
	g.mu.Unlock()
	if !open {
		return nil, errors.Join(g.over(), conn.Close())
	}
	return c, nil
}

// Read and Write take the addresses out of what goes wrong.

func (c *gateConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, withoutAddrs(err)
}

func (c *gateConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, withoutAddrs(err)
}

// CloseWrite tells the other side that this one has said all.
func (c *gateConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

func (c *gateConn) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.conns, c) // of a nil map too
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

func withoutAddrs(err error) error {
	e, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return err
	}
	bare := *e
	bare.Source, bare.Addr = nil, nil
	return &bare
}
