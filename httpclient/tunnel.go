package httpclient

import (
	"context"
	"errors"
	"net"
	"net/url"
)

// What is behind a refusal, for who has to tell them apart.
var (
	ErrNotListed = errors.New("grant.hosts does not list the host")
	ErrNotPublic = errors.New("the address is not public")
)

// Target is a place that a gate lets through: a host, in lower case and without
// brackets, and a port. Its zero value is none.
type Target struct{ Host, Port string }

// Address is the target as it is dialled.
func (t Target) Address() string { return net.JoinHostPort(t.Host, t.Port) }

// Admit reads the host of an address, with or without a port, and judges it as
// that of a request would be judged. Nothing is looked up yet.
func (g *Gate) Admit(scheme, hostport string) (Target, error) {
	t, err := g.target(&url.URL{Scheme: scheme, Host: hostport})
	return Target{t.host, t.port}, err
}

// Same reports whether two spellings of a host mean one target.
func (g *Gate) Same(scheme, hostport string, to Target) bool {
	t, err := g.target(&url.URL{Scheme: scheme, Host: hostport})
	return err == nil && to == Target{t.host, t.port}
}

// Dial connects to a target that was let through. Each address that its name leads
// to is judged on the socket that is about to connect to it. The connection ends with
// the gate.
func (g *Gate) Dial(ctx context.Context, to Target) (net.Conn, error) {
	if _, err := g.target(&url.URL{Scheme: "https", Host: to.written()}); err != nil {
		return nil, err
	}
	return g.dial(ctx, "tcp", to.Address())
}

// written is the target as it stands in an address.
func (t Target) written() string {
	if t.Port == "" {
		t.Port = "443"
	}
	return t.Address()
}
