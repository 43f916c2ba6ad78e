package httpclient

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// TestPrivateNames: private:NAME may lead into somebody's own network, and neither to
// this machine nor to what hands out credentials.
func TestPrivateNames(t *testing.T) {
	s := parseHosts([]string{"private:nas.corp", "plain.corp", "private:*.dev.corp"})
	for _, c := range []struct {
		name, addr string
		want       bool
	}{
		{"nas.corp", "10.1.2.3", true}, {"nas.corp", "192.168.0.9", true}, {"nas.corp", "fd00::1", true}, {"nas.corp", "100.64.0.1", true}, {"nas.corp", "8.8.8.8", true}, {"nas.corp", "64:ff9b::a01:203", true}, {"nas.corp", "203.0.113.9", true},
		{"a.dev.corp", "10.1.2.3", true}, {"dev.corp", "10.1.2.3", false}, {"plain.corp", "10.1.2.3", false}, {"plain.corp", "8.8.8.8", true},
		{"nas.corp", "127.0.0.1", false}, {"nas.corp", "::1", false}, {"nas.corp", "::ffff:127.0.0.1", false}, {"nas.corp", "169.254.169.254", false}, {"nas.corp", "64:ff9b::a9fe:a9fe", false}, {"nas.corp", "fe80::1", false}, {"nas.corp", "0.0.0.0", false},
		{"nas.corp", "224.0.0.1", false}, {"nas.corp", "100.100.100.200", false}, {"nas.corp", "fd00:ec2::254", false}, {"nas.corp", "fd20:ce::254", false}, {"nas.corp", "168.63.129.16", false}, {"nas.corp", "192.0.0.192", false}, {"nas.corp", "255.255.255.255", false},
	} {
		if got := s.hasName(c.name) && s.leads(c.name, netip.MustParseAddr(c.addr)); got != c.want && (c.name != "dev.corp" || got) {
			t.Errorf("%s at %s: %v", c.name, c.addr, got)
		}
	}
	if s.reaches(netip.MustParseAddr("10.1.2.3")) {
		t.Error("the address is granted by itself")
	}
	for entry, ok := range map[string]bool{"private:nas.corp": true, "PRIVATE:Nas.corp": true, "private:*.corp": true, "private:*": false, "private:": false, "private:10.0.0.1": false, "private:private:x": false, "private:x:80": false} {
		if got := CheckHosts([]string{entry}) == nil; got != ok {
			t.Errorf("%s: %v", entry, got)
		}
	}
}

// TestPrivateNameIsNotThisMachine: an address in a private range that this machine has
// itself is not reached by private:NAME.
func TestPrivateNameIsNotThisMachine(t *testing.T) {
	own := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.IPv4(10, 9, 8, 7), Mask: net.CIDRMask(8, 32)}}, nil
	}
	g := NewGate([]string{"private:nas.corp"}, Options{Interfaces: own})
	if err := g.admit("nas.corp", netip.MustParseAddr("10.9.8.7"), true); !refusal.Is(err, refusal.Denied) {
		t.Errorf("%v", err)
	}
	if err := g.admit("nas.corp", netip.MustParseAddr("10.9.8.8"), true); err != nil {
		t.Errorf("%v", err)
	}
}

// TestMeetPrivateHosts: with such names too, the meet is never wider than its parts,
// whichever comes first, and no limit at all takes nothing away.
func TestMeetPrivateHosts(t *testing.T) {
	some := rapid.SliceOfN(rapid.SampledFrom([]string{"private:example.com", "private:*.example.com", "private:api.example.com", "api.example.com", "*.example.com", "example.com", "*", "private:*", "10.0.0.0/8", "localhost"}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		g, h, k := some.Draw(t, "g"), some.Draw(t, "h"), some.Draw(t, "k")
		m := MeetHosts(g, h)
		if diff := cmp.Diff(m, MeetHosts(h, g)); diff != "" {
			t.Fatalf("not commutative:\n%s", diff)
		}
		if diff := cmp.Diff(MeetHosts(m, k), MeetHosts(g, MeetHosts(h, k))); diff != "" {
			t.Fatalf("not associative:\n%s", diff)
		}
		one, two := touches(g), touches(h)
		for _, x := range touches(m) {
			if !slices.Contains(one, x) || !slices.Contains(two, x) {
				t.Fatalf("wider than a part: %s is in %v of %v and %v", x, m, g, h)
			}
		}
		if diff := cmp.Diff(touches(g), touches(MeetHosts(g, AllHosts()))); diff != "" {
			t.Fatalf("no limit takes something away:\n%s", diff)
		}
	})
}
