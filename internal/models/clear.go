package models

import (
	"net/netip"
	"net/url"
	"strings"
)

// readable reports whether what is sent to an address can be read on its way: it is not
// encrypted, and the host is neither this machine nor one of the own network, as far as an
// address or a name says so.
func readable(u *url.URL) bool {
	if u.Scheme != "http" {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if at, err := netip.ParseAddr(host); err == nil {
		at = at.Unmap()
		return !at.IsLoopback() && !at.IsPrivate() && !at.IsLinkLocalUnicast() && !overlay().Contains(at)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || '0' <= last[0] && last[0] <= '9' {
		return true // an address in a form that resolvers read differently, such as 0x7f.1
	}
	if last == host {
		return false
	}
	for _, end := range []string{".localhost", ".local", ".lan", ".internal", ".home.arpa", ".ts.net"} {
		if strings.HasSuffix(host, end) {
			return false
		}
	}
	return true
}

// overlay is where private networks over others, such as Tailscale, have their addresses;
// they encrypt.
func overlay() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10)
}
