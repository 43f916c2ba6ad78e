// Package httpclient makes the HTTP clients of calls: they reach the hosts that were
// granted, and nothing else.
package httpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Options sets up the HTTP clients of calls. The zero value is usable.
type Options struct {
	Resolver *net.Resolver  // nil: that of the system
	RootCAs  *x509.CertPool // nil: those of the system
	// Interfaces gives the addresses of this machine, which are private wherever
	// they lie; one that lies outside the private ranges cannot be granted. If
	// it fails, nothing is reached. Nil: [net.InterfaceAddrs].
	Interfaces func() ([]net.Addr, error)

	Dial        time.Duration // to connect, and again to agree on TLS; default 10 s
	Header      time.Duration // from the end of the request to the head of the answer; default 60 s
	HeaderBytes int64         // of the head of an answer; default 256 KiB
}

// maxIdle is how many connections are kept for later: who asks many hosts, or many
// ports of one, would have as many descriptors of this process.
const maxIdle = 16

// maxRedirects is how often a request may be sent on.
const maxRedirects = 10

// New makes a client that reaches the given hosts, entries of
// grant.hosts, and nothing else.
//
// Every request is held against them, the first and those it is redirected to.
// A host has to be spelt as every reader understands it. Then every address
// that is really connected to is judged, after the last name server was asked:
// an address that is not public is refused unless an entry is that address or a
// range around it. Not public are loopback, private, link-local, shared,
// reserved and multicast addresses, IPv6 addresses that wrap one of these, the
// metadata services of clouds, and the addresses of this machine.
//
// On a redirect to another scheme, host or port only headers go along that are
// known to carry no credentials, and neither credentials nor a body go from
// https to http. No proxy is used, whatever the environment says. Refusals have a code, as
// toolcrib.CodeOf tells it; neither they nor failures tell the address behind a name.
//
// The client has connections of its own; CloseIdleConnections closes them.
func New(hosts []string, opt Options) *http.Client {
	return NewGate(hosts, opt).Client()
}

// Gate is what the requests of one client go through. It is no
// [http.Transport], so nobody can take the dialling out of it.
type Gate struct {
	hosts hostSet
	opt   Options
	// Tool and Call are for which it is, in refusals.
	Tool, Call string

	way     func() *http.Transport // made when first needed
	connect func(ctx context.Context, d *net.Dialer, network, addr string) (net.Conn, error)

	life context.Context // ends with close
	end  context.CancelFunc

	mu    sync.Mutex
	conns map[*gateConn]struct{} // nil: closed
}

// NewGate makes a gate for requests to the given hosts.
func NewGate(hosts []string, opt Options) *Gate {
	g := &Gate{hosts: parseHosts(hosts), opt: opt, conns: map[*gateConn]struct{}{}}
	g.opt.Dial = cmp.Or(opt.Dial, 10*time.Second)
	g.life, g.end = context.WithCancel(context.Background())
	g.connect = func(ctx context.Context, d *net.Dialer, network, addr string) (net.Conn, error) {
		return d.DialContext(ctx, network, addr)
	}
	g.way = sync.OnceValue(func() *http.Transport {
		return &http.Transport{
			Proxy:                  nil, // it would do the dialling in our place
			DialContext:            g.dial,
			TLSClientConfig:        &tls.Config{RootCAs: opt.RootCAs, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    g.opt.Dial,
			ResponseHeaderTimeout:  cmp.Or(opt.Header, 60*time.Second),
			MaxResponseHeaderBytes: cmp.Or(opt.HeaderBytes, 256<<10),
			ExpectContinueTimeout:  time.Second,
			IdleConnTimeout:        time.Minute,
			MaxIdleConns:           maxIdle,
			ForceAttemptHTTP2:      true,
		}
	})
	return g
}

// Client gives a client whose requests go through the gate.
func (g *Gate) Client() *http.Client {
	// Redirects are judged when they are sent, like everything else.
	return &http.Client{Transport: g, CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
}

// RoundTrip sends one request, if it may be sent. All judging is done here and
// in dial and none in the client, whose fields a tool can change.
func (g *Gate) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := g.judge(req)
	if err == nil && g.life.Err() != nil {
		err = g.over()
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper has to, and the refusal is what counts
		}
		return nil, err
	}
	resp, err := g.way().RoundTrip(sent)
	if err != nil {
		if g.life.Err() != nil {
			return nil, g.over()
		}
		return nil, redirected(req, err)
	}
	resp.Request = req
	return resp, nil
}

// CloseIdleConnections closes the connections that no request is using.
func (g *Gate) CloseIdleConnections() { g.way().CloseIdleConnections() }

// Close ends every request, and every answer that is still being read.
func (g *Gate) Close() {
	g.end()
	g.mu.Lock()
	conns := g.conns
	g.conns = nil
	g.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close() // there is nobody left to tell
	}
}

// judge decides about a request and gives it back as it may be sent.
func (g *Gate) judge(req *http.Request) (*http.Request, error) {
	u := req.URL
	if u == nil {
		return nil, g.refuse(refusal.Invalid, "the request has no address", nil)
	}
	to, err := g.target(u)
	if err != nil {
		return nil, redirected(req, err)
	}
	switch {
	case req.Method == http.MethodConnect:
		return nil, g.refuse(refusal.Denied, "a tunnel (CONNECT) is not allowed", nil)
	case req.Host != "" && req.Host != u.Host:
		// Behind one address there may be many hosts, and only this one was granted.
		if named, err := g.target(&url.URL{Scheme: u.Scheme, Host: req.Host}); err != nil || named != to {
			return nil, g.refuse(refusal.Denied, "the request names another host than its address "+to.host, nil)
		}
	}
	if req.Response == nil {
		return req, nil
	}
	return g.follow(req)
}

// Check tells whether an address may be asked for, as far as that can be said before
// its name is looked up. Nothing is sent.
func (g *Gate) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return g.refuse(refusal.Invalid, "it is no address: "+quoted(address), err)
	}
	_, err = g.target(u)
	return err
}

// target is where a request goes, and whether that may be asked for.
type target struct {
	secure bool
	host   string // lower case; a name, or an address without brackets
	port   string
}

func (g *Gate) target(u *url.URL) (target, error) {
	var t target
	switch {
	case u.Scheme == "https":
		t.secure, t.port = true, "443"
	case u.Scheme == "http":
		t.port = "80"
	default:
		return target{}, g.refuse(refusal.Denied, "only http and https are allowed, not "+quoted(u.Scheme), nil)
	}
	switch {
	case u.User != nil:
		return target{}, g.refuse(refusal.Denied, "a user name or password in the address is not allowed; send credentials in a header", nil)
	case u.Opaque != "":
		return target{}, g.refuse(refusal.Denied, "the address must have the form "+u.Scheme+"://host/path", nil)
	}
	addr, ok := t.read(u.Host)
	switch {
	case !ok:
		return target{}, g.refuse(refusal.Denied, "the host "+quoted(u.Host)+" is not written in the plain way: want a name such as example.com (in its xn-- form, without a dot at the end) "+
			"or an address such as 192.0.2.1 or [2001:db8::1], and at most a port", nil)
	case addr.IsValid() && !g.hosts.reaches(addr):
		if use := notPublic(addr); use != "" {
			return target{}, g.refuse(refusal.Denied, "the address "+t.host+" is not public ("+use+") and was not granted; to allow it, it has to be in grant.hosts itself or in a range there", ErrNotPublic)
		}
		fallthrough
	case !addr.IsValid() && !g.hosts.hasName(t.host):
		return target{}, g.refuse(refusal.Denied, "the host "+t.host+" was not granted; to allow it, add it to grant.hosts", ErrNotListed)
	}
	return t, nil
}

// read takes the host and port of an address apart. It knows fewer ways to
// write one than net/url, so that nobody behind us reads it differently.
func (t *target) read(text string) (addr netip.Addr, ok bool) {
	host, port := text, ""
	if inner, bracket := strings.CutPrefix(text, "["); bracket {
		var found bool
		if host, port, found = strings.Cut(inner, "]"); !found {
			return netip.Addr{}, false
		}
	} else if i := strings.IndexByte(text, ':'); i >= 0 {
		host, port = text[:i], text[i:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port[1:], 10, 16)
		if port[0] != ':' || err != nil || n == 0 || strconv.FormatUint(n, 10) != port[1:] {
			return netip.Addr{}, false
		}
		t.port = port[1:]
	}
	t.host = lowerASCII(host)
	if looksLikeAddr(host) {
		if addr, err := netip.ParseAddr(t.host); err == nil {
			return addr, addr.Zone() == "" && addr.Is6() == (text[0] == '[')
		}
	}
	return netip.Addr{}, text != "" && text[0] != '[' && isHostName(t.host)
}

func (g *Gate) refuse(code, message string, cause error) error {
	return &refusal.Error{Code: code, Tool: g.Tool, Message: message, Err: cause}
}

func (g *Gate) over() error {
	if g.Call != "" {
		return g.refuse(refusal.Denied, "the call "+g.Call+" is over", nil)
	}
	return g.refuse(refusal.Denied, "the client is closed", nil)
}

// quoted is a word of somebody else's in a message of ours: short, and with
// nothing in it that a terminal would obey.
func quoted(word string) string { return strconv.QuoteToASCII(text.Clip(word, 100)) }
