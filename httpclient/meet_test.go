package httpclient

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// touches lists everything that entries give among a small world, so that two lists
// can be compared by what they allow and not by how they are written.
func touches(list []string) (out []string) {
	hosts := parseHosts(list)
	for _, text := range []string{"8.8.8.8", "9.0.0.1", "10.0.0.1", "10.1.0.1", "11.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "2606::1", "fd00::1", "64:ff9b::808:808", "64:ff9b::a00:1"} {
		addr := netip.MustParseAddr(text)
		if hosts.reaches(addr) {
			out = append(out, "address "+text)
		}
		for _, host := range []string{"example.com", "api.example.com", "v1.api.example.com", "example.org", "notexample.com", "localhost", "a.localhost", "metadata.google.internal"} {
			if hosts.hasName(host) && hosts.leads(host, addr) {
				out = append(out, "host "+host+" at "+text)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func someHosts() *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"*", "*.example.com", "*.api.example.com", "api.example.com", "example.com", "Example.org", "localhost", "metadata.google.internal", "*.google.internal",
		"0.0.0.0/0", "8.0.0.0/6", "8.8.8.8", "10.0.0.0/8", "10.1.2.3/16", "10.0.0.1", "::ffff:10.0.0.1", "127.0.0.1", "169.254.0.0/16", "::/0", "::1", "2000::/3", "64:ff9b::/96",
		"*example.com", "example.com:80", "010.0.0.1", "fe80::1%eth0"}), 0, 3)
}

// TestMeetHostsWidensNothing: of two lists the meet gives what both give, and no more.
func TestMeetHostsWidensNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, h, k := someHosts().Draw(t, "g"), someHosts().Draw(t, "h"), someHosts().Draw(t, "k")
		m := MeetHosts(g, h)
		if diff := cmp.Diff(m, MeetHosts(h, g)); diff != "" {
			t.Fatalf("not commutative:\n%s", diff)
		}
		if diff := cmp.Diff(MeetHosts(m, k), MeetHosts(g, MeetHosts(h, k))); diff != "" {
			t.Fatalf("not associative:\n%s", diff)
		}
		have, one, two := touches(m), touches(g), touches(h)
		for _, x := range have {
			if !slices.Contains(one, x) || !slices.Contains(two, x) {
				t.Fatalf("wider than a part: %s is in %v of %v and %v", x, m, g, h)
			}
		}
		for _, x := range one { // and nothing is lost that both give
			if slices.Contains(two, x) && !slices.Contains(have, x) {
				t.Fatalf("both give %s, the meet %v does not", x, m)
			}
		}
	})
}

// TestMeetHosts: the cases that a property could miss, written down.
func TestMeetHosts(t *testing.T) {
	for _, s := range []struct{ a, b, want []string }{
		{[]string{"*"}, []string{"127.0.0.1", "localhost", "metadata.goog"}, nil}, // * gives none of these
		{[]string{"*"}, []string{"8.8.8.8", "8.8.0.0/16"}, []string{"8.8.0.0/16"}},
		{[]string{"*"}, []string{"8.0.0.0/6"}, []string{"11.0.0.0/8", "8.0.0.0/7"}}, // without 10.0.0.0/8
		{[]string{"*", "10.0.0.0/8"}, []string{"*", "10.1.0.0/16"}, []string{"*", "10.1.0.0/16"}},
		{[]string{"10.0.0.0/8"}, []string{"11.0.0.0/8"}, nil},
		{[]string{"10.0.0.0/8"}, []string{"::ffff:10.1.0.0/112", "0:0::1"}, []string{"10.1.0.0/16"}},
		{[]string{"::1/128", "10.0.0.9/8"}, []string{"::/0", "10.0.0.9/32"}, []string{"10.0.0.9", "::1"}},
		{[]string{"*.Example.com"}, []string{"API.example.COM", "example.com"}, []string{"api.example.com"}},
		{[]string{"*example.com", "*.", "**", "a..b", "a.", "http://a", "a:80", "a/b", "1.2.3", "0x7f.1", "k\u212a.com", "fe80::1%1", ""}, []string{"*"}, nil},
	} {
		got := MeetHosts(s.a, s.b)
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%v and %v:\n%s", s.a, s.b, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // no limit changes nothing
		g := someHosts().Draw(t, "g")
		if diff := cmp.Diff(touches(g), touches(MeetHosts(g, AllHosts()))); diff != "" {
			t.Fatal(diff)
		}
	})
	if err := CheckHosts([]string{"a.b", "*", "*.c", "10.0.0.0/8", "::1", "localhost"}); err != nil {
		t.Error(err)
	}
	if err := CheckHosts([]string{"a", "http://b", "c:80"}); err == nil || !strings.Contains(err.Error(), "http://b") || !strings.Contains(err.Error(), "c:80") {
		t.Errorf("%v", err)
	}
}
