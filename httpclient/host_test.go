package httpclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// TestSpellings is the ways to write an address that have fooled filters, with
// everything public granted. None may get as far as a name server.
func TestSpellings(t *testing.T) {
	client := New([]string{"*"}, Options{Resolver: nobody(t)})
	for _, text := range []string{
		// Loopback and metadata in the forms that some readers take for addresses.
		"http://127.0.0.1/", "http://127.0.0.1:8080/", "http://127.1/", "http://127.0.1/", "http://0/", "http://0.0.0.0/", "http://0.0.0.0:80/",
		"http://2130706433/", "http://017700000001/", "http://0x7f000001/", "http://0X7F000001/", "http://0x7f.0.0.1/", "http://0x7f.1/", "http://0177.0.0.1/",
		"http://127.0.0.0x1/", "http://127.000.000.001/", "http://0127.0.0.1/", "http://00000177.1/", "http://127.0.0.1.:80/", "http://4294967296/",
		"http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9fea9fe/", "http://0251.0376.0251.0376/", "http://169.254.43518/", "http://425.510.425.510/",
		"http://100.100.100.200/", "http://192.0.0.192/", "http://168.63.129.16/",
		"http://[::]/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:ffff:127.0.0.1]/",
		"http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2001:0:7f00:1::]/",
		"http://[fd00:ec2::254]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%25]/", "http://[::1%25lo]/", "http://[fec0::1]/", "http://[ff02::1]/",
		// Names.
		"http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://localhost:80/", "http://metadata.google.internal/", "http://Metadata.Google.Internal/",
		"http://metadata/", "http://metadata.goog/", "http://instance-data/", "http://instance-data.ec2.internal/",
		"http://example.com./", "http://example..com/", "http://.example.com/", "http://-a.com/", "http://exa mple.com/", "http://exam%70le.com/", "http://example.com%00.evil.com/",
		"http://example.com%2eevil.com/", "http://%6c%6f%63alhost/", "http://ex\u00e4mple.com/", "http://\u24db\u24deca\u24db\u24d7ost/", "http://\uff11\uff12\uff17.0.0.1/",
		"http://127\u30020\u30020\u30021/", "http://127.0.0\u3002.1/", "http://169\u2024254\u2024169\u2024254/", "http://loc\u00adalhost/", "http://\u212a8s.io/", "http://example.com\u200b/",
		"http://" + strings.Repeat("a", 64) + ".com/", "http://" + strings.Repeat("a.", 130) + "com/", "http:///path", "http://:80/", "http://*/", "http://*.example.com/", "http://a,b/", "http://a!b/", "http://a;b/",
		// Two readers, two hosts.
		"http://example.com@127.0.0.1/", "http://127.0.0.1@example.com/", "http://user:pass@example.com/", "http://@example.com/", "http://example.com:80@127.0.0.1/",
		"http://example.com\\@127.0.0.1/", "http://127.0.0.1\\.example.com/", "http://example.com&@127.0.0.1#@evil.com/", "http://[example.com]/",
		"http://[127.0.0.1]/", "http://[::1].example.com/", "http://::1/", "http://::1:80/", "http://[::1/", "http:[::1]/", "http:example.com/", "http:/example.com/", "//example.com/", "/path", "",
		// Ports.
		"http://example.com:0/", "http://example.com:080/", "http://example.com:65536/", "http://example.com:-1/", "http://example.com:+80/", "http://example.com:80:81/", "http://example.com:http/",
		"http://example.com:8\u0660/", "http://example.com:999999999999999999999/",
		// Schemes.
		"file:///etc/passwd", "gopher://example.com/_x", "ftp://example.com/", "ws://example.com/", "unix:///run/docker.sock", "dict://example.com:11211/", "data:text/plain,x", "javascript:alert(1)", "http+unix://x/", "jar:http://example.com!/",
	} {
		resp, err := client.Get(text) //nolint:noctx // it goes nowhere
		if err == nil {
			_ = resp.Body.Close()
			t.Errorf("%q was sent", text)
			continue
		}
		if u, bad := url.Parse(text); bad == nil && u.Scheme != "" && codeOf(err) != refusal.Denied {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// nobody is a resolver that must not be asked.
func nobody(t *testing.T) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("a name server was asked")
		return nil, errors.New("nobody is to be asked")
	}}
}

// TestRequestsThatSayTwoThings are made by hand, past the parser.
func TestRequestsThatSayTwoThings(t *testing.T) {
	client := New([]string{"example.com", "8.8.8.8"}, Options{Resolver: nobody(t)})
	for name, change := range map[string]func(*http.Request){
		"host header":       func(r *http.Request) { r.Host = "intern.example.com" },
		"host header port":  func(r *http.Request) { r.Host = "example.com:8080" },
		"granted header":    func(r *http.Request) { r.Host = "8.8.8.8" },
		"broken header":     func(r *http.Request) { r.Host = "example.com\r\nX: y" },
		"opaque":            func(r *http.Request) { r.URL.Opaque = "//intern/path" },
		"tunnel":            func(r *http.Request) { r.Method = http.MethodConnect },
		"nul":               func(r *http.Request) { r.URL.Host = "example.com\x00.evil" },
		"space":             func(r *http.Request) { r.URL.Host, r.Host = " example.com", "" },
		"line":              func(r *http.Request) { r.URL.Host, r.Host = "example.com\nevil", "" },
		"upper case scheme": func(r *http.Request) { r.URL.Scheme = "HTTP" },
		"user":              func(r *http.Request) { r.URL.User = url.User("x") },
		"no address":        func(r *http.Request) { r.URL = nil },
		"two ports":         func(r *http.Request) { r.URL.Host, r.Host = "example.com:80:80", "" },
		"no host":           func(r *http.Request) { r.URL.Host, r.Host = "", "example.com" },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		change(req)
		resp, err := client.Transport.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if code := codeOf(err); code != refusal.Denied && code != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostsOfAGrant: who matches and who does not.
func TestHostsOfAGrant(t *testing.T) {
	g := NewGate([]string{"Example.com", "*.api.example.org", "10.0.0.0/8", "8.8.8.8", "localhost", "*evil.com", "http://never.example"}, Options{})
	for _, s := range []struct {
		url  string
		want bool
	}{
		{"http://example.com/", true}, {"https://EXAMPLE.COM:8443/x?y#z", true}, {"http://example.com#@127.0.0.1/x", true}, {"http://example.com?@127.0.0.1", true},
		{"http://www.example.com/", false}, {"http://notexample.com/", false}, {"http://example.com.evil.com/", false}, {"http://example.co/", false},
		{"http://v1.api.example.org/", true}, {"http://a.b.api.example.org/", true}, {"http://api.example.org/", false}, {"http://xapi.example.org/", false},
		{"http://10.1.2.3/", true}, {"http://[::ffff:10.1.2.3]/", true}, {"http://11.1.2.3/", false}, {"http://[64:ff9b::a01:203]/", false}, {"http://8.8.8.8/", true}, {"http://8.8.4.4/", false},
		{"http://LocalHost:1234/", true}, {"http://a.localhost/", false}, {"http://127.0.0.1/", false}, {"http://verevil.com/", false}, {"http://never.example/", false},
	} {
		u, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.target(u)
		if (err == nil) != s.want {
			t.Errorf("%s: %v", s.url, err)
		}
		if err != nil && (codeOf(err) != refusal.Denied || !strings.Contains(err.Error(), "grant.hosts")) {
			t.Errorf("%s: it does not say what to change: %v", s.url, err)
		}
	}
}

// TestLocalhostStaysHome: whatever a name server says that it is.
func TestLocalhostStaysHome(t *testing.T) {
	hosts := parseHosts(AllHosts())
	for _, s := range []struct {
		name, addr string
		want       bool
	}{
		{"localhost", "127.0.0.1", true}, {"localhost", "127.9.9.9", true}, {"localhost", "::1", true}, {"localhost", "::ffff:127.0.0.1", true},
		{"localhost", "8.8.8.8", false}, {"localhost", "10.0.0.1", false}, {"localhost", "169.254.169.254", false}, {"example.com", "8.8.8.8", true}, {"example.com", "10.0.0.1", true},
	} {
		if got := hosts.leads(s.name, netip.MustParseAddr(s.addr)); got != s.want {
			t.Errorf("%s at %s: %v", s.name, s.addr, got)
		}
	}
}

// FuzzTarget holds our reading of an address against that of net/http: where we
// think that a request goes is where the transport goes.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"http://example.com/", "https://EXAMPLE.com:8443", "http://[::ffff:1.2.3.4]:80/", "http://1.2.3.4", "http://127.1", "http://0x7f.1/", "http://a@b/", "http://\u24db.com", "http://a.b.:80", "http://[fe80::1%25a]/", "http:a", "http://a:080", "http://xn--a/"} {
		f.Add(s)
	}
	g := NewGate(AllHosts(), Options{})
	var dialled string
	stop := errors.New("that is all we want to know")
	way := &http.Transport{DialContext: func(_ context.Context, _, addr string) (net.Conn, error) {
		dialled = addr
		return nil, stop
	}}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		to, err := g.target(u)
		if err != nil {
			if codeOf(err) != refusal.Denied {
				t.Fatal(err)
			}
			return
		}
		dialled = ""
		req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}
		resp, err := way.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if want := net.JoinHostPort(to.host, to.port); lowerASCII(dialled) != want {
			t.Fatalf("%q: we read %s, the transport %s (%v)", text, want, dialled, err)
		}
		if a, err := netip.ParseAddr(to.host); err != nil && !isHostName(to.host) || err == nil && a.Zone() != "" {
			t.Fatalf("%q: %q is neither a name nor an address", text, to.host)
		}
		if ip := net.ParseIP(to.host); ip == nil && (strings.ContainsAny(to.host, ":%@/\\ \x00") || to.host == "") {
			t.Fatalf("%q: %q", text, to.host)
		}
	})
}

// FuzzHostEntry: an entry that is understood is written down so that it is
// understood the same, and meets itself in itself.
func FuzzHostEntry(f *testing.F) {
	for _, s := range []string{"*", "*.a.b", "A.b", "10.0.0.1", "10.0.0.1/8", "::1", "::ffff:10.0.0.0/104", "::/0", "localhost", "fe80::1%a", "*.1", "0x1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, ok := parseHost(text)
		if met := MeetHosts([]string{text}, []string{text}); ok != (len(met) == 1) || ok && met[0] != e.String() {
			t.Fatalf("%q meets itself in %q", text, met)
		}
		if !ok {
			return
		}
		if again, ok := parseHost(e.String()); !ok || again != e {
			t.Fatalf("%q is %v, written down %v", text, e, again)
		}
		if star := MeetHosts([]string{"*"}, []string{text}); e.name != "" && e.name != "*" && len(star) == 0 != apart(e.name) {
			t.Fatalf("%q and *: %v", text, star)
		}
	})
}
