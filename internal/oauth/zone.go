package oauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// kind is what a host is on its face, without asking a name server.
type kind int

const (
	odd      kind = iota // nothing that a server of this sort lies at
	public               // or a name that may be; who dials sees where it leads
	private              // in a local network
	loopback             // this machine
)

// zone is where the addresses that a server tells may lie: on the internet, or
// in the same sort of place as the server itself. So a server on the internet
// cannot send us into the local network, and one on this machine cannot send us
// to the metadata service of a cloud.
type zone struct {
	server *url.URL
	kind   kind
}

func newZone(server string) (zone, error) {
	u, err := url.Parse(server)
	if err != nil {
		return zone{}, errors.New("its address cannot be read")
	}
	z := zone{server: u, kind: kindOf(u.Hostname())}
	if _, err := z.check(server); err != nil {
		return zone{}, err
	}
	return z, nil
}

// check reads an address that was told by somebody and says whether it may be
// used. The address is no secret, so the error tells it.
func (z zone) check(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > 4096:
		return nil, errors.New("it is no address")
	case u.Host == "" || u.Opaque != "" || u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%q is no plain address of a server", u.Redacted())
	}
	k := kindOf(u.Hostname())
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || k != loopback):
		return nil, fmt.Errorf("%q is not https; http is only taken on loopback", u.String())
	case k == public, k != odd && k == z.kind, strings.EqualFold(u.Hostname(), z.server.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("%q lies in a place that %q must not send us to", u.String(), z.server.Host)
}

func kindOf(host string) kind {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return addrKind(a)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case last == "" || strings.ContainsAny(host, " %/\\@:"):
		return odd
	case last[0] >= '0' && last[0] <= '9':
		return odd // an address in a form that resolvers read differently: 127.1, 0x7f.1, 2130706433
	case last == "localhost":
		return loopback
	case last == host, last == "local", last == "internal", last == "lan", last == "intranet", strings.HasSuffix(host, ".home.arpa"):
		return private
	}
	return public
}

func addrKind(a netip.Addr) kind {
	if a.Zone() != "" {
		return odd
	}
	a = a.Unmap()
	switch {
	case a.IsLoopback():
		return loopback
	case a.IsPrivate():
		return private
	case !a.IsGlobalUnicast() || isReserved(a):
		return odd
	}
	return public
}

// isReserved names the ranges that look public and are not: shared addresses,
// metadata services, and IPv6 ranges that wrap an IPv4 address.
func isReserved(a netip.Addr) bool {
	for _, text := range [...]string{"0.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
		"::/16", "64:ff9b::/32", "2001::/32", "2002::/16", "fec0::/10"} {
		if netip.MustParsePrefix(text).Contains(a) {
			return true
		}
	}
	return false
}

// sameOrigin reports whether two addresses have scheme, host and port in common.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// covers reports whether a resource that metadata names is the server, or the
// part of the same origin that it lies below. Many servers name their origin.
func covers(resource string, server *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || r.User != nil || r.Fragment != "" || !sameOrigin(r, server) {
		return false
	}
	if r.RawQuery != "" && r.RawQuery != server.RawQuery {
		return false
	}
	if hasDots(r.EscapedPath()) {
		return false // other readers would take it for another place
	}
	path := strings.TrimSuffix(r.EscapedPath(), "/")
	own := strings.TrimSuffix(server.EscapedPath(), "/")
	return own == path || strings.HasPrefix(own, path+"/")
}

func hasDots(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		switch strings.ReplaceAll(strings.ToLower(part), "%2e", ".") {
		case ".", "..":
			return true
		}
	}
	return false
}
