package httpclient

import (
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// chain is two servers, one of them with TLS, for names that all lead to them.
// A request for /hop?to=URL is redirected there; the rest is written down.
type chain struct {
	plain, secure *httptest.Server
	opt           Options

	mu   sync.Mutex
	seen []*http.Request
	body string
}

func newChain(t *testing.T) *chain {
	t.Helper()
	c := &chain{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.FormValue("to"); r.URL.Path == "/hop" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		text, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen, c.body = append(c.seen, r), string(text)
	})
	c.plain = httptest.NewServer(handler)
	c.secure = httptest.NewUnstartedServer(handler)
	c.secure.EnableHTTP2 = true
	c.secure.StartTLS()
	t.Cleanup(c.plain.Close)
	t.Cleanup(c.secure.Close)
	dns := newNameServer(t, fixed(map[string]string{
		"example.com": "127.0.0.1", "api.example.com": "127.0.0.1", "www.example.com": "127.0.0.1", "evil.test": "127.0.0.1", "inside.test": "127.0.0.2",
	}))
	c.opt = Options{Resolver: dns.resolver(), RootCAs: x509.NewCertPool()}
	c.opt.RootCAs.AddCert(c.secure.Certificate())
	return c
}

// url writes http:NAME and https:NAME as the address of such a server.
func (c *chain) url(t *testing.T, at string) string {
	t.Helper()
	scheme, host, ok := strings.Cut(at, ":")
	if !ok || strings.HasPrefix(host, "/") || strings.HasPrefix(at, "/") {
		return at
	}
	srv := c.plain
	if scheme == "https" {
		srv = c.secure
	}
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return scheme + "://" + host + ":" + port
}

// hops is an address that leads over the others to the last one.
func (c *chain) hops(t *testing.T, way ...string) string {
	t.Helper()
	to := strings.TrimSuffix(c.url(t, way[len(way)-1]), "/") + "/end?key=in-the-address"
	for _, at := range slices.Backward(way[:len(way)-1]) {
		to = c.url(t, at) + "/hop?to=" + strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", "?", "%3f").Replace(to)
	}
	return to
}

func (c *chain) do(t *testing.T, client *http.Client, method, url, body string, header http.Header) (*http.Request, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		req.Body, req.GetBody = http.NoBody, nil
	}
	maps.Copy(req.Header, header)
	c.mu.Lock()
	c.seen = nil
	c.mu.Unlock()
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) != 1 {
		t.Fatalf("%s: seen %d times, %s", url, len(c.seen), resp.Status)
	}
	return c.seen[0], nil
}

// TestRedirectedInside: where a server sends us is judged like the first address.
func TestRedirectedInside(t *testing.T) {
	c := newChain(t)
	client := New([]string{"example.com", "*.example.com", "127.0.0.1"}, c.opt)
	_, port, _ := net.SplitHostPort(c.plain.Listener.Addr().String())
	for _, to := range []string{
		"http://127.0.0.2:" + port + "/", "http://[::1]:" + port + "/", "http://localhost:" + port + "/", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://2130706433/",
		"http://0x7f.2:" + port + "/", "http://inside.test:" + port + "/", "http://evil.test:" + port + "/", "//evil.test:" + port + "/", "http://user:pw@example.com:" + port + "/", "http://example.com.:" + port + "/",
		"file:///etc/passwd", "gopher://example.com/", "ftp://example.com/", "http://metadata.google.internal/", "http://\u24d4vil.test/",
	} {
		for _, way := range [][]string{{"http:example.com"}, {"https:api.example.com"}, {"http:www.example.com", "http:127.0.0.1"}} {
			hops := append(slices.Clone(way), to)
			_, err := c.do(t, client, http.MethodGet, c.hops(t, hops...), "", nil)
			if err == nil {
				t.Errorf("%v was followed", hops)
			} else if to[0] == 'h' && (codeOf(err) != refusal.Denied || !strings.Contains(err.Error(), "redirected by")) {
				t.Errorf("%v: %v", hops, err)
			}
		}
	}
	// A client that follows in its own way is judged all the same.
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
	if _, err := c.do(t, &own, http.MethodGet, c.hops(t, "http:example.com", "http:evil.test"), "", nil); codeOf(err) != refusal.Denied {
		t.Errorf("by its own way: %v", err)
	}
}

// TestRedirectsEnd: ten are followed, the eleventh is not.
func TestRedirectsEnd(t *testing.T) {
	c := newChain(t)
	client := New([]string{"127.0.0.1"}, c.opt)
	for _, n := range []int{1, 10, 11} {
		to := c.plain.URL + "/end"
		for range n {
			to = c.plain.URL + "/hop?to=" + strings.NewReplacer("%", "%25", "?", "%3f", "&", "%26").Replace(to)
		}
		if _, err := c.do(t, client, http.MethodGet, to, "", nil); (err == nil) != (n <= 10) {
			t.Errorf("%d redirects: %v", n, err)
		}
	}
}

// TestCredentialsStay: to another scheme, host or port nothing goes along that
// could be a credential, and once away nothing comes back.
func TestCredentialsStay(t *testing.T) {
	c := newChain(t)
	client := New([]string{"*", "127.0.0.1"}, c.opt)
	secrets := http.Header{
		"Authorization": {"Bearer s3cret"}, "Cookie": {"session=s3cret"}, "Cookie2": {"s3cret"}, "Proxy-Authorization": {"s3cret"}, "X-Api-Key": {"s3cret"}, "Private-Token": {"s3cret"},
		"Mcp-Session-Id": {"s3cret"}, "X-Amz-Security-Token": {"s3cret"}, "x-odd": {"s3cret"}, "Referer": {"http://a/?s3cret"},
	}
	header := maps.Clone(secrets)
	header["Accept"], header["User-Agent"], header["Range"] = []string{"text/html"}, []string{"crib"}, []string{"bytes=0-9"}
	for _, s := range []struct {
		way   string
		keeps bool
	}{
		{"http:example.com http:example.com", true},
		{"https:example.com https:example.com https:example.com", true},
		{"http:example.com http:api.example.com", false}, // net/http would send them on
		{"http:api.example.com http:example.com", false},
		{"http:example.com http:evil.test", false},
		{"http:example.com http:127.0.0.1", false},
		{"http:example.com https:example.com", false}, // another port here
		{"https:example.com https:www.example.com", false},
		{"http:example.com http:evil.test http:example.com", false},
		{"http:example.com http:api.example.com http:api.example.com", false},
	} {
		seen, err := c.do(t, client, http.MethodPost, c.hops(t, strings.Fields(s.way)...), "text", header)
		if err != nil {
			t.Errorf("%s: %v", s.way, err)
			continue
		}
		if got := seen.Header.Get("Accept") + seen.Header.Get("User-Agent") + seen.Header.Get("Range"); got != "text/htmlcribbytes=0-9" || c.body != "text" {
			t.Errorf("%s: what is harmless was lost: %v %q", s.way, seen.Header, c.body)
		}
		for name := range secrets {
			if got := seen.Header.Get(name); (got != "") != s.keeps {
				t.Errorf("%s: %s is %q", s.way, name, got)
			}
		}
		if !s.keeps && strings.Contains(fmt.Sprint(seen.Header), "s3cret") {
			t.Errorf("%s: %v", s.way, seen.Header)
		}
	}
	// The referer that the client makes up is the last address, keys and all.
	seen, err := c.do(t, client, http.MethodGet, c.hops(t, "http:example.com", "http:evil.test"), "", nil)
	if err != nil || seen.Header.Get("Referer") != "" {
		t.Errorf("%v, %v", seen, err)
	}
}

// TestDefaultPorts: from http to https on the same host, both on their own
// port, is how sites say that they want https. Nothing is dialled for it.
func TestDefaultPorts(t *testing.T) {
	for _, s := range []struct {
		from, to string
		keeps    bool
	}{
		{"http://example.com", "https://example.com", true}, {"http://example.com:80", "https://EXAMPLE.com:443", true}, {"http://example.com:8080", "https://example.com", false},
		{"http://example.com", "https://example.com:8443", false}, {"http://example.com", "https://www.example.com", false},
	} {
		g := NewGate([]string{"*"}, Options{})
		first, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.from, http.NoBody)
		first.Header.Set("X-Api-Key", "s3cret")
		next, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.to, http.NoBody)
		next.Header.Set("X-Api-Key", "s3cret")
		next.Response = &http.Response{Request: first}
		sent, err := g.judge(next)
		if err != nil || (sent.Header.Get("X-Api-Key") != "") != s.keeps || next.Header.Get("X-Api-Key") == "" {
			t.Errorf("%s to %s: %v, %v", s.from, s.to, sent, err)
		}
	}
}

// TestDowngrade: what was told in confidence is not repeated in the clear.
func TestDowngrade(t *testing.T) {
	c := newChain(t)
	client := New([]string{"*", "127.0.0.1"}, c.opt)
	key := http.Header{"X-Api-Key": {"s3cret"}}
	for _, s := range []struct {
		way    string
		body   string
		header http.Header
		want   bool
	}{
		{"https:example.com http:example.com", "", nil, true},
		{"https:example.com http:example.com", "", http.Header{"Accept": {"text/html"}}, true},
		{"https:example.com http:example.com", "", key, false},
		{"https:example.com http:evil.test", "", key, false},
		{"http:example.com https:example.com http:example.com", "", key, false},
		{"https:example.com https:api.example.com http:example.com", "", key, false},
		{"https:example.com http:example.com", "text", nil, false},
	} {
		_, err := c.do(t, client, http.MethodPost, c.hops(t, strings.Fields(s.way)...), s.body, s.header)
		if (err == nil) != s.want || err != nil && codeOf(err) != refusal.Denied {
			t.Errorf("%s %q %v: %v", s.way, s.body, s.header, err)
		}
	}
}
