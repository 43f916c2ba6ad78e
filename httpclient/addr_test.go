package httpclient

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
)

func TestNotPublic(t *testing.T) {
	for _, s := range []struct {
		addr   string
		public bool
	}{
		// IPv4, the first and the last of each range and their neighbours.
		{"0.0.0.0", false}, {"0.255.255.255", false}, {"1.0.0.0", true},
		{"9.255.255.255", true}, {"10.0.0.0", false}, {"10.255.255.255", false}, {"11.0.0.0", true},
		{"100.63.255.255", true}, {"100.64.0.0", false}, {"100.100.100.200", false}, {"100.127.255.255", false}, {"100.128.0.0", true},
		{"126.255.255.255", true}, {"127.0.0.0", false}, {"127.0.0.1", false}, {"127.255.255.255", false}, {"128.0.0.0", true},
		{"168.63.129.15", true}, {"168.63.129.16", false}, {"168.63.129.17", true},
		{"169.253.255.255", true}, {"169.254.0.0", false}, {"169.254.169.254", false}, {"169.254.170.2", false}, {"169.255.0.0", true},
		{"172.15.255.255", true}, {"172.16.0.0", false}, {"172.31.255.255", false}, {"172.32.0.0", true},
		{"191.255.255.255", true}, {"192.0.0.0", false}, {"192.0.0.192", false}, {"192.0.1.0", true}, {"192.0.2.1", false}, {"192.0.3.0", true},
		{"192.88.99.1", false}, {"192.167.255.255", true}, {"192.168.0.0", false}, {"192.168.255.255", false}, {"192.169.0.0", true},
		{"198.17.255.255", true}, {"198.18.0.0", false}, {"198.19.255.255", false}, {"198.20.0.0", true},
		{"198.51.100.7", false}, {"203.0.113.7", false}, {"203.0.114.0", true},
		{"223.255.255.255", true}, {"224.0.0.1", false}, {"239.255.255.255", false}, {"240.0.0.1", false}, {"255.255.255.255", false},
		{"8.8.8.8", true}, {"93.184.216.34", true},

		// IPv6.
		{"::", false}, {"::1", false}, {"::2", false},
		{"::127.0.0.1", false}, {"::8.8.8.8", false}, // IPv4-compatible
		{"::ffff:127.0.0.1", false}, {"::ffff:7f00:1", false}, {"::ffff:10.0.0.1", false}, {"::ffff:169.254.169.254", false}, {"::ffff:8.8.8.8", true},
		{"::ffff:0:127.0.0.1", false}, {"::ffff:0:8.8.8.8", false}, // IPv4-translated
		{"64:ff9b::127.0.0.1", false}, {"64:ff9b::10.0.0.1", false}, {"64:ff9b::169.254.169.254", false}, {"64:ff9b::8.8.8.8", true},
		{"64:ff9b::1:8.8.8.8", false}, {"64:ff9b:1::8.8.8.8", false}, {"64:ff9b:1:fffe::a00:1", false},
		{"100::1", false}, {"200::1", false}, {"1fff:ffff::1", false},
		{"2000::1", true}, {"2001::1", false}, {"2001:0:7f00:1::", false}, {"2001:0:5ef5:79fd:0:59d:80ff:fffe", false},
		{"2001:2::1", false}, {"2001:10::1", false}, {"2001:20::1", false}, {"2001:1ff:ffff::1", false}, {"2001:200::1", true},
		{"2001:db7::1", true}, {"2001:db8::1", false}, {"2001:db9::1", true}, {"2001:4860:4860::8888", true},
		{"2002:7f00:1::1", false}, {"2002:a00:1::", false}, {"2002:808:808::", false}, {"2003::1", true},
		{"2606:2800:220:1::1", true}, {"3ffe:ffff::1", true}, {"3fff::1", false}, {"3fff:fff::1", false}, {"3fff:1000::1", true},
		{"4000::1", false}, {"5f00::1", false}, {"8000::1", false},
		{"fc00::1", false}, {"fd00:ec2::254", false}, {"fd20:ce::254", false}, {"fdff::1", false},
		{"fe80::1", false}, {"fe80::1%eth0", false}, {"febf::1", false}, {"fec0::1", false}, {"feff::1", false}, {"ff02::1", false}, {"ff0e::1", false},
	} {
		if use := notPublic(netip.MustParseAddr(s.addr)); (use == "") != s.public {
			t.Errorf("%s is taken for %q", s.addr, use)
		}
	}
	if notPublic(netip.Addr{}) == "" {
		t.Error("no address at all is public")
	}
}

// someAddr draws from near the edges of ranges, where mistakes are.
func someAddr() *rapid.Generator[netip.Addr] {
	return rapid.Custom(func(t *rapid.T) netip.Addr {
		var edges []netip.Addr
		for _, b := range notPublic4() {
			edges = append(edges, b.Addr())
		}
		for _, b := range notPublic6() {
			edges = append(edges, b.Addr())
		}
		a := rapid.SampledFrom(append(edges, plainaddr.NAT64().Addr(), netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("2600::"))).Draw(t, "edge")
		noise := rapid.Uint64().Draw(t, "noise") >> rapid.IntRange(0, 63).Draw(t, "size")
		if a.Is4() {
			b := a.As4()
			binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])^uint32(noise))
			return netip.AddrFrom4(b)
		}
		b := a.As16()
		half := b[8*rapid.IntRange(0, 1).Draw(t, "half"):][:8]
		binary.BigEndian.PutUint64(half, binary.BigEndian.Uint64(half)^noise)
		return netip.AddrFrom16(b)
	})
}

// TestPublicParts: the parts of a range are exactly its public addresses, and
// there are no fewer ranges that say so.
func TestPublicParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := someAddr().Filter(func(a netip.Addr) bool { return !a.Is4In6() }).Draw(t, "address")
		p := netip.PrefixFrom(a, rapid.IntRange(0, a.BitLen()).Draw(t, "bits")).Masked()
		parts := publicParts(p)
		for i, q := range parts {
			if !p.Overlaps(q) || q.Bits() < p.Bits() {
				t.Fatalf("%v is not in %v", q, p)
			}
			if i > 0 && parts[i-1].Bits() == q.Bits() && q.Bits() > p.Bits() && netip.PrefixFrom(q.Addr(), q.Bits()-1).Masked().Contains(parts[i-1].Addr()) {
				t.Fatalf("%v and %v are one", parts[i-1], q)
			}
		}
		held := func(a netip.Addr) bool {
			for _, q := range parts {
				if q.Contains(a) {
					return true
				}
			}
			return false
		}
		if b := someAddr().Draw(t, "other"); p.Contains(b) && !b.Is4In6() && held(b) != (notPublic(b) == "") {
			t.Fatalf("%v in %v: %q", b, p, notPublic(b))
		}
		if held(a) != (notPublic(a) == "") {
			t.Fatalf("%v in %v: %q", a, p, notPublic(a))
		}
	})
}
