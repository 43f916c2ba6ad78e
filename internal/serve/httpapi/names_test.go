package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	listed, err := NewNames([]string{"Tools.Example.com.", "192.0.2.7", "[2001:db8::1]"})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := NewNames(nil)
	if err != nil {
		t.Fatal(err)
	}
	loopback, network := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 7717}
	for _, c := range []struct {
		what  string
		names Names
		on    net.Addr
		host  string
		head  http.Header
		ok    bool
	}{
		{"loopback", plain, loopback, "127.0.0.1:7717", nil, true},
		{"localhost", plain, loopback, "localhost:7717", nil, true},
		{"IPv6", plain, loopback, "[::1]:7717", nil, true},
		{"rebound", plain, loopback, "evil.example:7717", nil, false},
		{"like localhost", plain, loopback, "localhost.evil.example", nil, false},
		{"like an address", plain, loopback, "127.0.0.1.evil.example", nil, false},
		{"empty", plain, loopback, "", nil, false},
		{"not listed, on the network", plain, network, "192.0.2.7:7717", nil, false},
		{"a handler for anywhere", Names{}, network, "any.example", nil, true},
		{"a handler for anywhere, on loopback", Names{}, loopback, "any.example", nil, false},

		{"listed", listed, loopback, "tools.example.com", nil, true},
		{"listed, with port and case", listed, network, "TOOLS.example.com.:443", nil, true},
		{"listed address", listed, network, "192.0.2.7:7717", nil, true},
		{"listed IPv6", listed, network, "[2001:db8::1]:7717", nil, true},
		{"below a listed name", listed, loopback, "a.tools.example.com", nil, false},
		{"another", listed, loopback, "evil.example", nil, false},
		{"forwarded for a listed name", listed, loopback, "evil.example", http.Header{"X-Forwarded-Host": {"tools.example.com"}, "Forwarded": {"host=tools.example.com"}}, false},

		{"our own page", plain, loopback, "127.0.0.1:7717", http.Header{"Origin": {"http://127.0.0.1:7717"}}, true},
		{"another port", plain, loopback, "127.0.0.1:7717", http.Header{"Origin": {"http://127.0.0.1:1"}}, false},
		{"a foreign page", plain, loopback, "127.0.0.1:7717", http.Header{"Origin": {"https://evil.example"}}, false},
		{"a page from nowhere", plain, loopback, "127.0.0.1:7717", http.Header{"Origin": {"null"}}, false},
		{"an empty origin", plain, loopback, "127.0.0.1:7717", http.Header{"Origin": {""}}, false},
		{"two origins", plain, loopback, "127.0.0.1:7717", http.Header{"Origin": {"http://127.0.0.1:7717", "https://evil.example"}}, false},
		{"an extension", plain, loopback, "127.0.0.1:7717", http.Header{"Origin": {"chrome-extension://127.0.0.1:7717"}}, false},
		{"a user in front", listed, loopback, "127.0.0.1:7717", http.Header{"Origin": {"https://tools.example.com@evil.example"}}, false},
		{"a listed page, the proxy keeps Host", listed, loopback, "tools.example.com", http.Header{"Origin": {"https://tools.example.com"}}, true},
		{"a listed page, the proxy changes Host", listed, loopback, "127.0.0.1:7717", http.Header{"Origin": {"https://tools.example.com"}, "Sec-Fetch-Site": {"same-origin"}}, true},
		{"a foreign page, listed Host", listed, loopback, "tools.example.com", http.Header{"Origin": {"https://evil.example"}}, false},
		{"a form from elsewhere", plain, loopback, "127.0.0.1:7717", http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
		{"typed into the browser", plain, loopback, "127.0.0.1:7717", http.Header{"Sec-Fetch-Site": {"none"}}, true},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.on))
		r.Host = c.host
		if c.head != nil {
			r.Header = c.head
		}
		if why := c.names.foreign(r); (why == "") != c.ok {
			t.Errorf("%s: %q", c.what, why)
		}
	}
	for _, bad := range []string{"", ".", "https://tools.example.com", "tools.example.com:443", "*.example.com", "a/b", "a b", "u@h", "fe80::1%eth0", "a..b", "a..", ".a", "a\x01b", "a,b", "münchen.example", "\xff"} {
		if _, err := NewNames([]string{bad}); err == nil || !strings.Contains(err.Error(), "serve.hosts") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzNames: a name that is listed is taken however clients write it, and nothing
// else is but the names of this machine. A page of another name is another origin.
func FuzzNames(f *testing.F) {
	f.Add("Tools.Example.com.", "tools.example.com:443", "https://tools.example.com")
	f.Add("[2001:db8::1]", "[2001:DB8::1]:7717", "https://tools.example.com@evil.example")
	f.Add("192.0.2.7", "192.0.2.7.evil.example", "http://[::1]:7717")
	f.Add("a", "[a]", "http://a:b")
	f.Add("localhost.", "::1", "null")
	f.Fuzz(func(t *testing.T, listed, host, origin string) {
		n, err := NewNames([]string{listed})
		if err != nil {
			return
		}
		bare := strings.Trim(strings.TrimSuffix(listed, "."), "[]")
		for _, way := range []string{bare, strings.ToUpper(bare), net.JoinHostPort(bare, "7717")} {
			if !n.ours(way) {
				t.Errorf("%q is listed, and %q is refused", listed, way)
			}
		}
		name, _, err := net.SplitHostPort(host)
		if err != nil {
			name = strings.Trim(host, "[]")
		}
		same := func(name string) bool {
			return strings.EqualFold(strings.TrimSuffix(name, "."), bare)
		}
		address, err := netip.ParseAddr(name)
		here := name == "localhost" || err == nil && address.Unmap().WithZone("").IsLoopback()
		if n.ours(host) && !here && !same(name) {
			t.Errorf("%q is listed, and %q is taken for it", listed, host)
		}
		page, err := url.Parse(origin)
		if n.sameOrigin(origin, host) && (err != nil || page.User != nil || !strings.EqualFold(page.Host, host) && !same(page.Hostname())) {
			t.Errorf("%q is listed, and a page of %q is taken for ours at %q", listed, origin, host)
		}
	})
}
