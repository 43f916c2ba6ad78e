package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// dialled notes which addresses a gate lets through to a socket and which not.
type dialled struct {
	mu      sync.Mutex
	let     []string
	refused []string
}

// watch sees the verdicts of the dialler's own control. If outside is set,
// what was let through is connected to there instead.
func (d *dialled) watch(g *Gate, outside string) {
	judge := func(ctx context.Context, dialler *net.Dialer, network, addr string) error {
		err := dialler.ControlContext(ctx, network, addr, nil)
		d.mu.Lock()
		defer d.mu.Unlock()
		if err != nil {
			d.refused = append(d.refused, addr)
		} else {
			d.let = append(d.let, addr)
		}
		return err
	}
	g.connect = func(ctx context.Context, dialler *net.Dialer, network, hostport string) (net.Conn, error) {
		if outside == "" {
			seen := *dialler
			seen.ControlContext = func(ctx context.Context, network, addr string, _ syscall.RawConn) error {
				return judge(ctx, dialler, network, addr)
			}
			return seen.DialContext(ctx, network, hostport)
		}
		host, port, err := net.SplitHostPort(hostport)
		if err != nil {
			return nil, err
		}
		addrs, err := dialler.Resolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			if bad := judge(ctx, dialler, network, net.JoinHostPort(a.Unmap().String(), port)); bad != nil {
				if err == nil {
					err = bad // as the real one: the first that went wrong
				}
				continue
			}
			var plain net.Dialer
			return plain.DialContext(ctx, "tcp", outside)
		}
		return nil, err
	}
}

func (d *dialled) take() (let, refused []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	let, refused = d.let, d.refused
	d.let, d.refused = nil, nil
	slices.Sort(refused)
	return let, refused
}

// hello answers every request with its host.
func hello(t testing.TB) (srv *httptest.Server, port string) {
	t.Helper()
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello "+r.Host) }))
	t.Cleanup(srv.Close)
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return srv, port
}

// fetch gets a page and gives its text.
func fetch(t testing.TB, c *http.Client, url string) (string, error) {
	t.Helper()
	return fetchFor(t.Context(), t, c, url)
}

func fetchFor(ctx context.Context, t testing.TB, c *http.Client, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// TestNamesThatLeadInside: a name gives public addresses only, and what it led
// to is not told.
func TestNamesThatLeadInside(t *testing.T) {
	_, port := hello(t)
	dns := newNameServer(t, fixed(map[string]string{
		"loop.example": "127.0.0.1", "six.example": "::1", "ten.example": "10.11.12.13", "meta.example": "169.254.169.254", "mapped.example": "::ffff:127.0.0.1",
		"nat.example": "64:ff9b::7f00:1", "zero.example": "0.0.0.0", "ula.example": "fd00:ec2::254", "many.example": "10.11.12.13 127.0.0.1 ::1 192.168.1.1",
	}))
	for _, hosts := range [][]string{{"*"}, {"*.example"}, {"*", "localhost"}, {"*", "10.99.0.0/16", "8.8.8.8", "::2"}} {
		g := NewGate(hosts, Options{Resolver: dns.resolver()})
		g.Tool = "get"
		var d dialled
		d.watch(g, "")
		for name := range dns.names {
			_, err := fetch(t, g.Client(), "http://"+name+":"+port+"/")
			e, ok := errors.AsType[*refusal.Error](err)
			if !ok || e.Code != refusal.Denied || e.Tool != "get" || !strings.Contains(e.Message, name) || !strings.Contains(e.Message, "grant.hosts") || e.Err == nil {
				t.Errorf("%v %s: %v", hosts, name, err)
			}
			for _, addr := range dns.names[name][0] {
				if strings.Contains(err.Error(), addr) {
					t.Errorf("%s: the address is told: %v", name, err)
				}
			}
		}
		if let, _ := d.take(); len(let) > 0 {
			t.Errorf("%v: connected to %v", hosts, let)
		}
	}
}

// TestGrantedInside: an entry that is an address or a range opens just that.
func TestGrantedInside(t *testing.T) {
	_, port := hello(t)
	dns := newNameServer(t, fixed(map[string]string{"loop.example": "127.0.0.1", "localhost": "127.0.0.1", "other.test": "127.0.0.1"}))
	for _, s := range []struct {
		hosts string
		host  string
		want  bool
	}{
		{"*.example 127.0.0.1", "loop.example", true}, {"*.example 127.0.0.0/8", "LOOP.example", true}, {"*.example ::ffff:127.0.0.1", "loop.example", true},
		{"*.example 127.0.0.2", "loop.example", false}, {"*.example ::/0", "loop.example", false}, {"127.0.0.1", "loop.example", false}, {"*.example 127.0.0.1", "other.test", false},
		{"127.0.0.1", "127.0.0.1", true}, {"127.0.0.0/8", "[::ffff:127.0.0.1]", true}, {"127.0.0.2", "127.0.0.1", false}, {"*.example", "127.0.0.1", false}, {"*", "127.0.0.1", false},
		{"localhost", "localhost", true}, {"localhost", "LocalHost", true}, {"localhost", "127.0.0.1", false}, {"localhost *", "loop.example", false}, {"* 127.0.0.1", "localhost", false},
	} {
		client := New(strings.Fields(s.hosts), Options{Resolver: dns.resolver()})
		text, err := fetch(t, client, "http://"+s.host+":"+port+"/")
		if (err == nil) != s.want || err != nil && codeOf(err) != refusal.Denied {
			t.Errorf("%s to %s: %q, %v", s.hosts, s.host, text, err)
		}
		client.CloseIdleConnections()
	}
}

// TestRebinding: a name that was public when it was asked for first is judged
// again by every connection.
func TestRebinding(t *testing.T) {
	srv, port := hello(t)
	dns := newNameServer(t, map[string][][]string{"rebind.example": {{"93.184.216.34"}, {"127.0.0.1"}, {"93.184.216.34"}, {"10.0.0.1", "169.254.169.254"}}})
	g := NewGate([]string{"rebind.example"}, Options{Resolver: dns.resolver()})
	var d dialled
	d.watch(g, srv.Listener.Addr().String())
	for round, want := range []bool{true, false, true, false} {
		text, err := fetch(t, g.Client(), "http://rebind.example:"+port+"/")
		if (err == nil) != want || want && text != "hello rebind.example:"+port || !want && codeOf(err) != refusal.Denied {
			t.Errorf("round %d: %q, %v", round, text, err)
		}
		g.Client().CloseIdleConnections()
	}
	let, refused := d.take()
	if diff := cmp.Diff([]string{"93.184.216.34:" + port, "93.184.216.34:" + port}, let); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"10.0.0.1:" + port, "127.0.0.1:" + port, "169.254.169.254:" + port}, refused); diff != "" {
		t.Error(diff)
	}
}

// TestRebindingForReal does it with the real dialler: only one loopback address
// is granted, and the name moves on to another one, where someone listens.
func TestRebindingForReal(t *testing.T) {
	_, port := hello(t)
	dns := newNameServer(t, map[string][][]string{"rebind.example": {{"127.0.0.1"}, {"::1", "127.0.0.2"}, {"127.0.0.1"}}})
	g := NewGate([]string{"rebind.example", "127.0.0.1"}, Options{Resolver: dns.resolver()})
	var d dialled
	d.watch(g, "")
	listens := listen(t, "[::1]:"+port) || listen(t, "127.0.0.2:"+port)
	t.Logf("someone listens at the other address: %v", listens)
	for round, want := range []bool{true, false, true} {
		if _, err := fetch(t, g.Client(), "http://rebind.example:"+port+"/"); (err == nil) != want || !want && codeOf(err) != refusal.Denied {
			t.Errorf("round %d: %v", round, err)
		}
		g.CloseIdleConnections()
	}
	if let, _ := d.take(); len(let) != 2 {
		t.Errorf("connected to %v", let)
	}
}

// listen fails the test if anybody connects. Not every system has the address.
func listen(t *testing.T, addr string) bool {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", addr)
	if err != nil {
		return false
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := l.Accept(); err == nil {
			t.Errorf("%s was connected to", addr)
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return true
}

// TestMixedAnswers: of many answers, those that are not granted are never
// connected to, in whatever order and family they come.
func TestMixedAnswers(t *testing.T) {
	_, port := hello(t)
	dns := newNameServer(t, fixed(map[string]string{
		"mixed.example": "10.255.255.254 ::1 127.0.0.1 169.254.169.254 fd00:ec2::254 127.0.0.2", "first.example": "127.0.0.1 ::1", "last.example": "::1 127.0.0.3 127.0.0.1",
	}))
	listen(t, "[::1]:"+port)
	listen(t, "127.0.0.2:"+port)
	g := NewGate([]string{"*", "127.0.0.1"}, Options{Resolver: dns.resolver()})
	var d dialled
	d.watch(g, "")
	for name := range dns.names {
		text, err := fetch(t, g.Client(), "http://"+name+":"+port+"/")
		let, refused := d.take()
		if err != nil || text != "hello "+name+":"+port {
			t.Errorf("%s: %q, %v, refused %v", name, text, err, refused)
		}
		if diff := cmp.Diff([]string{"127.0.0.1:" + port}, let); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestOwnAddresses: the addresses of this machine are private wherever they lie.
func TestOwnAddresses(t *testing.T) {
	srv, port := hello(t)
	dns := newNameServer(t, fixed(map[string]string{"me.example": "93.184.216.34", "you.example": "93.184.216.35"}))
	opt := Options{Resolver: dns.resolver(), Interfaces: func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("93.184.216.34"), Mask: net.CIDRMask(24, 32)}}, nil
	}}
	for _, hosts := range [][]string{{"*"}, {"*", "93.184.216.34", "93.184.216.0/24"}} {
		g := NewGate(hosts, opt)
		var d dialled
		d.watch(g, srv.Listener.Addr().String())
		if _, err := fetch(t, g.Client(), "http://you.example:"+port); err != nil {
			t.Error(err)
		}
		for _, host := range []string{"me.example", "93.184.216.34", "[::ffff:93.184.216.34]"} {
			if _, err := fetch(t, g.Client(), "http://"+host+":"+port); codeOf(err) != refusal.Denied || !strings.Contains(err.Error(), "this machine") {
				t.Errorf("%v %s: %v", hosts, host, err)
			}
		}
	}
	opt.Interfaces = func() ([]net.Addr, error) { return nil, errors.New("not today") }
	if _, err := fetch(t, New([]string{"*"}, opt), "http://you.example:"+port); codeOf(err) != refusal.Unavailable {
		t.Errorf("without knowing itself: %v", err)
	}
	// The real ones, whatever they are: none may be reached by *.
	addrs, err := net.InterfaceAddrs()
	if err != nil || len(addrs) == 0 {
		t.Fatalf("this machine has no addresses: %v", err)
	}
	for _, a := range addrs {
		p := netip.MustParsePrefix(a.String())
		if _, err := fetch(t, New([]string{"*"}, Options{}), "http://"+net.JoinHostPort(p.Addr().String(), port)+"/"); codeOf(err) != refusal.Denied {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestFailuresTellNoAddress: what goes wrong is told without saying where names
// lead and who was asked.
func TestFailuresTellNoAddress(t *testing.T) {
	dead, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	_, closed, _ := net.SplitHostPort(dead.Addr().String())
	dead.Close()
	rude := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if r.URL.Path == "/half" {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		}
		if tcp, ok := conn.(*net.TCPConn); ok && r.URL.Path == "/reset" {
			if err := tcp.SetLinger(0); err != nil {
				t.Error(err)
			}
		}
	}))
	defer rude.Close()
	_, port, _ := net.SplitHostPort(rude.Listener.Addr().String())
	dns := newNameServer(t, fixed(map[string]string{"loop.example": "127.0.0.1"}))
	silent := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "udp", Addr: dns.conn.LocalAddr(), Err: errors.New("read udp 127.0.0.1:53: refused")}
	}}
	for _, s := range []struct {
		resolver *net.Resolver
		url      string
		want     string
	}{
		{dns.resolver(), "http://loop.example:" + closed, "refused"},
		{dns.resolver(), "http://none.example:" + port, "no such host"},
		{silent, "http://loop.example:" + port, "name servers"},
		{dns.resolver(), "http://loop.example:" + port, ""},
		{dns.resolver(), "http://loop.example:" + port + "/half", ""},
		{dns.resolver(), "http://loop.example:" + port + "/reset", "reset"},
	} {
		_, err := fetch(t, New([]string{"*", "127.0.0.1"}, Options{Resolver: s.resolver}), s.url)
		if err == nil || codeOf(err) == refusal.Denied || !strings.Contains(err.Error(), s.want) || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", s.url, err)
		}
	}
	// A host that never answers is given up, and a caller can tell.
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hung.Close()
	_, err = fetch(t, New([]string{"127.0.0.1"}, Options{Header: 50 * time.Millisecond}), hung.URL)
	if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() {
		t.Errorf("no head in time: %v", err)
	}
}
