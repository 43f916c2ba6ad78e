package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// visited is a server that knows how many connections it has had and has.
type visited struct {
	*httptest.Server
	mu        sync.Mutex
	had, open int
	gone      *sync.Cond
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

// TestHTTPOfACall: a tool reaches the granted hosts for as long as its call
// lasts, and its connections end with it.
func TestHTTPOfACall(t *testing.T) {
	srv := newVisited(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	var kept *http.Client
	tool := plain("getter")
	tool.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		if env.HTTP == nil {
			return Text("none"), nil
		}
		kept = env.HTTP
		env.HTTP = nil // what a tool does to its Env is its own affair
		text, err := fetch(t, kept, srv.URL)
		return Text(text), err
	}
	c := testCrib(t)
	for _, s := range []struct {
		name    string
		effects Effects
		hosts   []string
		narrow  *Grant
		want    string // or a code
	}{
		{"nothing granted", Network, nil, nil, "none"},
		{"granted", Network, []string{"127.0.0.1"}, nil, "hello"},
		{"undeclared", 0, []string{"127.0.0.1"}, nil, "hello"},
		{"not declared", Reads | Writes, []string{"127.0.0.1"}, nil, "none"},
		{"pure", Pure, []string{"127.0.0.1"}, nil, "none"},
		{"anywhere", Network, []string{"*"}, nil, "denied"},
		{"elsewhere", Network, []string{"example.com"}, nil, "denied"},
		{"narrowed away", Network, []string{"127.0.0.1"}, &Grant{}, "none"},
		{"narrowed to names", Network, []string{"127.0.0.1", "*"}, &Grant{Hosts: []string{"*"}}, "denied"},
		{"not narrowed", Network, []string{"127.0.0.0/8", "*"}, &Grant{Hosts: AllHosts()}, "hello"},
	} {
		tool.Effects, kept = s.effects, nil
		if _, faults := c.Catalog.Load(t.Context(), Shelving{Boxes: []Toolbox{NewBox("test", tool)}}); faults != nil {
			t.Fatal(faults)
		}
		c.Grant.Hosts, c.Guards = s.hosts, []Guard{AllowEffects(allEffects)}
		if s.narrow != nil {
			c.Guards = append(c.Guards, say(Allow, "narrow", s.narrow))
		}
		got := ""
		r, err := c.Call(t.Context(), Call{Tool: "getter"})
		if got = string(CodeOf(err)); err == nil {
			got = r.String()
		}
		if got != s.want {
			t.Errorf("%s: %s, %v", s.name, got, err)
		}
		if e, ok := errors.AsType[*Error](err); ok && (e.Tool != "getter" || !strings.Contains(e.Message, "grant.hosts")) {
			t.Errorf("%s: %v", s.name, err)
		}
		if kept == nil {
			continue
		}
		if _, err := fetch(t, kept, srv.URL); CodeOf(err) != Denied || !strings.Contains(err.Error(), "is over") && s.want == "hello" {
			t.Errorf("%s: after the call: %v", s.name, err)
		}
	}
	if had := srv.left(); had != 3 {
		t.Errorf("%d connections for 3 calls", had)
	}
}

// TestCallEndsItsRequests: a tool that runs on reads no more, and what it has
// begun to send is cut off.
func TestCallEndsItsRequests(t *testing.T) {
	release := make(chan struct{})
	srv := newVisited(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			select {
			case <-r.Context().Done():
			case <-release:
			}
			return
		}
		fmt.Fprint(w, "the first half")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	defer close(release)
	errs := make(chan error, 2)
	tool := plain("getter")
	tool.Effects = Network
	tool.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		client := env.HTTP
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, srv.URL, http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req) //nolint:bodyclose // by who reads it, after the tool has left
		if err != nil {
			return nil, err
		}
		body := resp.Body
		go func() {
			defer body.Close()
			_, err := io.ReadAll(body)
			errs <- err
		}()
		go func() {
			r := req.Clone(context.Background())
			r.URL.Path = "/never"
			resp, err := client.Do(r)
			if err == nil {
				_ = resp.Body.Close()
			}
			errs <- err
		}()
		for { // both are under way
			srv.mu.Lock()
			n := srv.had
			srv.mu.Unlock()
			if n == 2 {
				return Text("left early"), nil
			}
			time.Sleep(time.Millisecond)
		}
	}
	c := testCrib(t, tool)
	c.Grant.Hosts = []string{"127.0.0.1"}
	if r, err := c.Call(t.Context(), Call{Tool: "getter"}); err != nil || r.String() != "left early" {
		t.Fatalf("%v, %v", r, err)
	}
	for range 2 {
		if err := <-errs; err == nil {
			t.Error("it got to the end after the call was over")
		}
	}
	srv.left()
}

// TestClosedWhileDialling: a connection that comes about after the end is none.
func TestClosedWhileDialling(t *testing.T) {
	srv, _ := hello(t)
	g := newGate([]string{"127.0.0.1"}, HTTPOptions{})
	connect := g.connect
	var conn net.Conn
	g.connect = func(ctx context.Context, d *net.Dialer, network, addr string) (c net.Conn, err error) {
		conn, err = connect(ctx, d, network, addr)
		g.close()
		if ctx.Err() == nil {
			<-ctx.Done()
		}
		return conn, err
	}
	if _, err := fetch(t, g.client(), srv.URL); CodeOf(err) != Denied || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
	if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection lives: %v", err)
	}
	g.close() // again, as good as once
}

// TestClientsShareNothing: a connection that a wider grant opened is not there
// for a narrower one; within a client it is used again.
func TestClientsShareNothing(t *testing.T) {
	var answered atomic.Int64
	srv := newVisited(t, false, func(w http.ResponseWriter, r *http.Request) { answered.Add(1); fmt.Fprint(w, r.Host) })
	dns := newNameServer(t, fixed(map[string]string{"a.example": "127.0.0.1"}))
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	opt := HTTPOptions{Resolver: dns.resolver()}
	wide := NewHTTP([]string{"*", "127.0.0.1"}, opt)
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
	if _, err := fetch(t, NewHTTP([]string{"*"}, opt), "http://a.example:"+port); CodeOf(err) != Denied {
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
	g := newGate([]string{"*.example.com", "127.0.0.1"}, c.opt)
	for range 2 {
		if text, err := fetch(t, g.client(), "https://api.example.com:"+port); err != nil || text != "HTTP/2.0 api.example.com:"+port {
			t.Errorf("%q, %v", text, err)
		}
	}
	if _, err := fetch(t, g.client(), "https://api.example.com:"+port+"/away"); CodeOf(err) != Denied {
		t.Errorf("%v", err)
	}
	if _, err := fetch(t, g.client(), "https://evil.test:"+port); CodeOf(err) != Denied {
		t.Errorf("%v", err)
	}
	// The name is checked as ever: this server has no certificate for it.
	if _, err := fetch(t, NewHTTP([]string{"*", "127.0.0.1"}, c.opt), "https://evil.test:"+port); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
	g.close()
	if had := srv.left(); had != 2 {
		t.Errorf("%d connections", had)
	}
	if _, err := fetch(t, g.client(), "https://api.example.com:"+port); CodeOf(err) != Denied {
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
	if newGate(nil, HTTPOptions{}).way().Proxy != nil { // the environment is read once, and may have been
		t.Error("there is a proxy")
	}
	dns := newNameServer(t, fixed(map[string]string{"a.example": "10.0.0.1"}))
	if text, err := fetch(t, NewHTTP([]string{"*"}, HTTPOptions{Resolver: dns.resolver()}), "http://a.example/"); CodeOf(err) != Denied {
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
	if _, err := fetch(t, NewHTTP([]string{"127.0.0.1"}, HTTPOptions{}), srv.URL); err == nil {
		t.Error("400 KiB of headers were taken")
	}
	if _, err := fetch(t, NewHTTP([]string{"127.0.0.1"}, HTTPOptions{HeaderBytes: 1 << 20}), srv.URL); err != nil {
		t.Error(err)
	}
}
