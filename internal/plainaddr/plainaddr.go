// Package plainaddr knows the forms in which one network address can be
// written. It imports nothing of ours, so that the handle that dials and the
// rules that judge what is to be dialled take the same addresses for one.
package plainaddr

import "net/netip"

// Of takes the zone off, and the IPv6 coat off an IPv4 address: the system
// connects to the same machine without them.
func Of(a netip.Addr) netip.Addr { return a.WithZone("").Unmap() }

// IsLoopback reports whether the host of an address is written as one of this
// machine. Localhost is taken for one; who has to be sure looks where it leads.
func IsLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && Of(a).IsLoopback()
}

// NAT64 is where networks without IPv4 have all of IPv4: an address there is as
// public as the IPv4 address it wraps.
func NAT64() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{1: 0x64, 2: 0xff, 3: 0x9b}), 96)
}

// Wrapped is the IPv4 address in the last four bytes.
func Wrapped(a netip.Addr) netip.Addr {
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

// Machine is the address of the machine that is reached in the end: that of Of,
// and for one that a network translates the IPv4 address in it.
func Machine(a netip.Addr) netip.Addr {
	if a = Of(a); NAT64().Contains(a) {
		return Wrapped(a)
	}
	return a
}
