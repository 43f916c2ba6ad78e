package httpclient

import (
	"net/netip"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
)

// block is a range of addresses that are not those of a machine on the public
// internet, and what they are for.
type block struct {
	netip.Prefix
	use string
}

// notPublic4 lists the IPv4 ranges that a name must not lead to. It is made
// anew for everyone who asks, so that nobody can change it for others.
func notPublic4() [17]block {
	at := func(a, b, c, d byte, bits int, use string) block {
		return block{netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c, d}), bits), use}
	}
	return [...]block{
		at(0, 0, 0, 0, 8, "unspecified"),
		at(10, 0, 0, 0, 8, "private"),
		at(100, 64, 0, 0, 10, "shared by a carrier"), // also the metadata service of one cloud
		at(127, 0, 0, 0, 8, "loopback"),
		at(168, 63, 129, 16, 32, "cloud metadata"), // looks public, and is the host below a virtual machine
		at(169, 254, 0, 0, 16, "link-local"),       // where most clouds have their metadata
		at(172, 16, 0, 0, 12, "private"),
		at(192, 0, 0, 0, 24, "reserved for protocols"), // also the metadata service of one cloud
		at(192, 0, 2, 0, 24, "documentation"),
		at(192, 88, 99, 0, 24, "6to4 relay"),
		at(192, 168, 0, 0, 16, "private"),
		at(198, 18, 0, 0, 15, "benchmarking"),
		at(198, 51, 100, 0, 24, "documentation"),
		at(203, 0, 113, 0, 24, "documentation"),
		at(224, 0, 0, 0, 4, "multicast"),
		at(255, 255, 255, 255, 32, "broadcast"), // before the range it lies in, for its name
		at(240, 0, 0, 0, 4, "reserved"),
	}
}

// notPublic6 is the same for IPv6. Only 2000::/3 is given out to machines on
// the internet; what lies outside is not public whatever it may become. The
// named ranges outside are there for what is told in the log. Ranges that wrap
// an IPv4 address are out as a whole, except the one of NAT64: their relays are
// gone, and what answers in their place is somebody's local arrangement.
func notPublic6() [17]block {
	at := func(hi, lo uint64, bits int, use string) block {
		var b [16]byte
		for i := range 8 {
			b[i], b[8+i] = byte(hi>>(56-8*i)), byte(lo>>(56-8*i))
		}
		return block{netip.PrefixFrom(netip.AddrFrom16(b), bits), use}
	}
	return [...]block{
		at(0, 0, 128, "unspecified"),
		at(0, 1, 128, "loopback"),
		at(0, 0, 8, "reserved"), // with IPv4-compatible and IPv4-translated addresses
		at(0x0064_ff9b_0001_0000, 0, 48, "local translation"),
		at(0x0100_0000_0000_0000, 0, 8, "reserved"), // with the range that is thrown away
		at(0xfc00_0000_0000_0000, 0, 7, "private"),  // where clouds have their metadata
		at(0xfe80_0000_0000_0000, 0, 10, "link-local"),
		at(0xfec0_0000_0000_0000, 0, 10, "site-local"),
		at(0xff00_0000_0000_0000, 0, 8, "multicast"),
		at(0x2001_0000_0000_0000, 0, 32, "Teredo"),
		at(0x2001_0000_0000_0000, 0, 23, "reserved for protocols"), // with benchmarking and ORCHID
		at(0x2001_0db8_0000_0000, 0, 32, "documentation"),
		at(0x2002_0000_0000_0000, 0, 16, "6to4"),
		at(0x3fff_0000_0000_0000, 0, 20, "documentation"),
		// The rest of what is not 2000::/3.
		at(0, 0, 3, "reserved"),
		at(0x4000_0000_0000_0000, 0, 2, "reserved"),
		at(0x8000_0000_0000_0000, 0, 1, "reserved"),
	}
}

// notPublic says what an address is for if it is not public, and "" if it is.
// An address of no kind that is known is not public.
func notPublic(a netip.Addr) string {
	a = plainaddr.Of(a)
	switch {
	case !a.IsValid():
		return "no address"
	case a.Is4():
		for _, b := range notPublic4() {
			if b.Contains(a) {
				return b.use
			}
		}
		return ""
	case plainaddr.NAT64().Contains(a):
		if use := notPublic(plainaddr.Wrapped(a)); use != "" {
			return use + ", translated"
		}
		return ""
	}
	for _, b := range notPublic6() {
		if b.Contains(a) {
			return b.use
		}
	}
	return ""
}

// privateByName reports whether private:NAME may lead to an address: to a machine
// of somebody's own network, and neither to this one nor to what hands out
// credentials to whoever asks.
func privateByName(a netip.Addr) bool {
	a = plainaddr.Machine(a)
	switch notPublic(a) {
	case "private", "shared by a carrier", "documentation", "benchmarking":
	default:
		return false
	}
	for _, service := range [...]netip.Addr{
		netip.AddrFrom4([4]byte{100, 100, 100, 200}),
		netip.AddrFrom16([16]byte{0: 0xfd, 2: 0x0e, 3: 0xc2, 14: 0x02, 15: 0x54}),
		netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x20, 3: 0xce, 14: 0x02, 15: 0x54}),
	} {
		if a == service {
			return false
		}
	}
	return true
}

// publicParts is the public addresses in a prefix, as the fewest prefixes.
func publicParts(p netip.Prefix) []netip.Prefix {
	public, whole := publicPrefix(p)
	switch {
	case whole && public:
		return []netip.Prefix{p}
	case whole:
		return nil
	}
	low, high := halves(p)
	return append(publicParts(low), publicParts(high)...)
}

// publicPrefix reports whether all of a prefix is public, and whether all of it
// is the same.
func publicPrefix(p netip.Prefix) (public, whole bool) {
	if p.Addr().Is6() && p.Overlaps(plainaddr.NAT64()) {
		if p.Bits() < plainaddr.NAT64().Bits() {
			return false, false
		}
		return publicPrefix(netip.PrefixFrom(plainaddr.Wrapped(p.Addr()), p.Bits()-plainaddr.NAT64().Bits()))
	}
	mixed := false
	look := func(b block) bool {
		if !b.Overlaps(p) {
			return false
		}
		mixed = mixed || b.Bits() > p.Bits()
		return b.Bits() <= p.Bits()
	}
	if p.Addr().Is4() {
		for _, b := range notPublic4() {
			if look(b) {
				return false, true
			}
		}
		return !mixed, !mixed
	}
	for _, b := range notPublic6() {
		if look(b) {
			return false, true
		}
	}
	return !mixed, !mixed
}

// halves splits a prefix that is more than one address.
func halves(p netip.Prefix) (low, high netip.Prefix) {
	bits := p.Bits() + 1
	low = netip.PrefixFrom(p.Addr(), bits)
	if p.Addr().Is4() {
		b := p.Addr().As4()
		b[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
		return low, netip.PrefixFrom(netip.AddrFrom4(b), bits)
	}
	b := p.Addr().As16()
	b[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	return low, netip.PrefixFrom(netip.AddrFrom16(b), bits)
}
