package oauth

import (
	"net"
	"net/url"
	"strings"
	"testing"
)

// freePort is a port that nobody has.
func freePort(t *testing.T) string {
	t.Helper()
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestAFixedRedirect: the page is told the address of the settings, byte by byte,
// since issuers compare it so.
func TestAFixedRedirect(t *testing.T) {
	for _, form := range []string{"http://127.0.0.1:PORT/callback", "http://localhost:PORT/oauth/callback"} {
		w := newWorld(t)
		want := strings.Replace(form, "PORT", freePort(t), 1)
		h := w.handler(func(c *Config, _ *Needs) { c.Redirect = want })
		for range 2 {
			if err := h.Login(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := w.lastPage.Get("redirect_uri"); got != want {
				t.Errorf("the page was told %q, not %q", got, want)
			}
		}
		if w.count("register") != 1 {
			t.Errorf("it took %v", w.counts)
		}
		// Another port is another client, since it was registered with the first.
		other := w.handler(func(c *Config, _ *Needs) { c.Redirect = "http://127.0.0.1:" + freePort(t) + "/callback" })
		if err := other.Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.count("register") != 2 {
			t.Errorf("it took %v", w.counts)
		}
	}
}

// TestATakenPort says so before anybody is sent anywhere.
func TestATakenPort(t *testing.T) {
	w := newWorld(t)
	taken := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	u := url.URL{Scheme: "http", Host: taken.Addr().String(), Path: "/callback"}
	h := w.handler(func(c *Config, _ *Needs) { c.Redirect = u.String() })
	err := h.Login(t.Context())
	if err == nil || !strings.Contains(err.Error(), "port "+u.Port()) || !strings.Contains(err.Error(), "hub login test --port") {
		t.Errorf("the error is %v", err)
	}
	if w.count("authorize")+w.count("register") != 0 {
		t.Errorf("it took %v", w.counts)
	}
}
