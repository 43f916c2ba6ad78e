package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// visited is a server that knows how many connections it has had and has.
type visited struct {
	*httptest.Server
	mu        sync.Mutex
	had, open int
	gone      *sync.Cond
}

// codeOf is the code of a refusal; empty for every other error.
func codeOf(err error) string {
	if e, ok := errors.AsType[*refusal.Error](err); ok {
		return e.Code
	}
	return ""
}

func newVisited(t *testing.T, tls bool, handler http.HandlerFunc) *visited {
	t.Helper()
	c := &visited{Server: httptest.NewUnstartedServer(handler)}
	c.gone = sync.NewCond(&c.mu)
	c.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch s {
		case http.StateNew:
			c.had++
			c.open++
		case http.StateClosed, http.StateHijacked:
			c.open--
			c.gone.Broadcast()
		}
	}
	if tls {
		c.EnableHTTP2 = true
		c.StartTLS()
	} else {
		c.Start()
	}
	t.Cleanup(c.Close)
	return c
}

// left waits until nobody is connected.
func (c *visited) left() (had int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.open > 0 {
		c.gone.Wait()
	}
	return c.had
}

// TestClosedWhileDialling: a connection that comes about after the end is none.
func TestClosedWhileDialling(t *testing.T) {
	srv, _ := hello(t)
	g := NewGate([]string{"127.0.0.1"}, Options{})
	connect := g.connect
	var conn net.Conn
	g.connect = func(ctx context.Context, d *net.Dialer, network, addr string) (c net.Conn, err error) {
		conn, err = connect(ctx, d, network, addr)
		g.Close()
		if ctx.Err() == nil {
			<-ctx.Done()
		}
		return conn, err
	}
	if _, err := fetch(t, g.Client(), srv.URL); codeOf(err) != refusal.Denied || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
	if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection lives: %v", err)
	}
	g.Close() // again, as good as once
}

// TestClientsShareNothing: a connection that a wider grant opened is not there
// for a narrower one; within a client it is used again.
func TestClientsShareNothing(t *testing.T) {
	var answered atomic.Int64
	srv := newVisited(t, false, func(w http.ResponseWriter, r *http.Request) { answered.Add(1); fmt.Fprint(w, r.Host) })
	dns := newNameServer(t, fixed(map[string]string{"a.example": "127.0.0.1"}))
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	opt := Options{Resolver: dns.resolver()}
	wide := New([]string{"*", "127.0.0.1"}, opt)
	// net/http gives a connection up if it does not learn within 50 ms that its
	// request was written, as may happen where all is busy: until one is used again.
	reused := false
	again := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = reused || c.Reused }})
	for tries := 0; !reused && tries < 100; tries++ {
		if text, err := fetchFor(again, t, wide, "http://a.example:"+port); err != nil || text != "a.example:"+port {
			t.Fatalf("%q, %v", text, err)
		}
	}
	if !reused {
		t.Error("no connection is used again")
	}
	before := answered.Load()
	if _, err := fetch(t, New([]string{"*"}, opt), "http://a.example:"+port); codeOf(err) != refusal.Denied {
		t.Errorf("the narrow one: %v", err)
	}
	wide.CloseIdleConnections()
	if had := srv.left(); answered.Load() != before || int64(had) >= before {
		t.Errorf("%d connections for %d answers, %d of them before the narrow one", had, answered.Load(), before)
	}
}

// TestHTTP2 goes through the same gate, and ends with it.
func TestHTTP2(t *testing.T) {
	srv := newVisited(t, true, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "https://inside.test/", http.StatusFound)
			return
		}
		fmt.Fprint(w, r.Proto+" "+r.Host)
	})
	c := newChain(t) // for its names; the certificate of all test servers is the same
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	g := NewGate([]string{"*.example.com", "127.0.0.1"}, c.opt)
	for range 2 {
		if text, err := fetch(t, g.Client(), "https://api.example.com:"+port); err != nil || text != "HTTP/2.0 api.example.com:"+port {
			t.Errorf("%q, %v", text, err)
		}
	}
	if _, err := fetch(t, g.Client(), "https://api.example.com:"+port+"/away"); codeOf(err) != refusal.Denied {
		t.Errorf("%v", err)
	}
	if _, err := fetch(t, g.Client(), "https://evil.test:"+port); codeOf(err) != refusal.Denied {
		t.Errorf("%v", err)
	}
	// The name is checked as ever: this server has no certificate for it.
	if _, err := fetch(t, New([]string{"*", "127.0.0.1"}, c.opt), "https://evil.test:"+port); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
	g.Close()
	if had := srv.left(); had != 2 {
		t.Errorf("%d connections", had)
	}
	if _, err := fetch(t, g.Client(), "https://api.example.com:"+port); codeOf(err) != refusal.Denied {
		t.Errorf("%v", err)
	}
}

// TestNoProxy: a proxy would do the dialling where nobody judges it.
func TestNoProxy(t *testing.T) {
	proxy := newVisited(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "proxied") })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	if NewGate(nil, Options{}).way().Proxy != nil { // the environment is read once, and may have been
		t.Error("there is a proxy")
	}
	dns := newNameServer(t, fixed(map[string]string{"a.example": "10.0.0.1"}))
	if text, err := fetch(t, New([]string{"*"}, Options{Resolver: dns.resolver()}), "http://a.example/"); codeOf(err) != refusal.Denied {
		t.Errorf("%q, %v", text, err)
	}
	if had := proxy.left(); had != 0 {
		t.Errorf("the proxy was asked %d times", had)
	}
}

// TestBigHeads: the head of an answer is bounded.
func TestBigHeads(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 4<<10))
		}
	}))
	defer srv.Close()
	if _, err := fetch(t, New([]string{"127.0.0.1"}, Options{}), srv.URL); err == nil {
		t.Error("400 KiB of headers were taken")
	}
	if _, err := fetch(t, New([]string{"127.0.0.1"}, Options{HeaderBytes: 1 << 20}), srv.URL); err != nil {
		t.Error(err)
	}
}
