package bundles

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/httpclient"
)

// Hosts is a client for public addresses, and for the hosts that a person named, wherever
// they lead: a registry on a private network is one of them. Who else names an address, a
// lock file, a registry or a redirect, leads to no machine that is not public. What comes is
// known by its digest.
func Hosts(named []string) func(host string) *http.Client {
	client := httpclient.New(granted(named), httpclient.Options{})
	return func(string) *http.Client { return client }
}

// Reach is the same for git, which brings a client of its own: it says whether git may be
// sent to an address. A name is looked up here, and once more by git.
func Reach(named []string) func(ctx context.Context, address string) error {
	gate := httpclient.NewGate(granted(named), httpclient.Options{})
	own := hostsOf(named)
	return func(ctx context.Context, address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		if err := gate.Check((&url.URL{Scheme: "https", Host: u.Host, Path: "/"}).String()); err != nil {
			return err
		}
		host := strings.ToLower(u.Hostname())
		if _, err := netip.ParseAddr(host); err == nil || slices.Contains(own, host) {
			return nil
		}
		// Of a name that is not known here git says so, or it asks a proxy that knows it.
		found, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		for _, a := range found {
			if err := gate.Check("https://" + netip.AddrPortFrom(a.Unmap().WithZone(""), 443).String()); err != nil {
				return err
			}
		}
		return nil
	}
}

// hostsOf are the hosts of addresses, and what is no address as it is.
func hostsOf(named []string) (hosts []string) {
	for _, h := range named {
		if strings.Contains(h, "://") {
			u, err := url.Parse(h)
			if err != nil {
				continue
			}
			h = u.Hostname()
		}
		if h != "" {
			hosts = append(hosts, strings.ToLower(h))
		}
	}
	return hosts
}

// granted are the entries of a client that reaches every public host and those.
func granted(named []string) []string {
	entries := []string{"*"}
	for _, h := range hostsOf(named) {
		entries = append(entries, h)
		if _, err := netip.ParseAddr(h); err != nil && !strings.ContainsAny(h, ":*/") {
			entries = append(entries, "private:"+h)
		}
	}
	return entries
}
