package hostproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/httpclient"
)

// resolver answers from a table: of each name the first answer to the first question,
// and so on; the last stays. It speaks as name servers do over TCP.
func resolver(names map[string][]string) *net.Resolver {
	var mu sync.Mutex
	asked := map[string]int{}
	answer := func(q []byte) []byte {
		at, labels := 12, []string{}
		for q[at] != 0 {
			labels = append(labels, string(q[at+1:at+1+int(q[at])]))
			at += 1 + int(q[at])
		}
		kind := binary.BigEndian.Uint16(q[at+1:])
		name := strings.Join(labels, ".")
		reply := append([]byte{}, q[:at+5]...)
		reply[2], reply[3] = 0x81, 0x80
		copy(reply[6:12], make([]byte, 6))
		mu.Lock()
		defer mu.Unlock()
		list := names[name]
		if len(list) == 0 {
			reply[3] |= 3
			return reply
		}
		addr := netip.MustParseAddr(list[min(asked[name], len(list)-1)])
		if addr.Is4() != (kind == 1) {
			return reply
		}
		asked[name]++
		reply[7] = 1
		raw := addr.AsSlice()
		reply = append(reply, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
		return append(reply, raw...)
	}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer ours.Close()
			for {
				size := make([]byte, 2)
				if _, err := io.ReadFull(ours, size); err != nil {
					return
				}
				q := make([]byte, binary.BigEndian.Uint16(size))
				if _, err := io.ReadFull(ours, q); err != nil {
					return
				}
				reply := answer(q)
				if _, err := ours.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
					return
				}
			}
		}()
		return theirs, nil
	}}
}

// world is a proxy with an http and an https server behind it, both under the name
// good.example, and whatever else the test says.
type world struct {
	t             *testing.T
	address       string
	plain, secure *httptest.Server
	roots         *x509.CertPool

	mu    sync.Mutex
	conns []Connection
	seen  []string // what came to the servers: method, host and path
}

func newWorld(t *testing.T, hosts []string, names map[string][]string) *world {
	t.Helper()
	w := &world{t: t}
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.seen = append(w.seen, r.Method+" "+r.Host+" "+r.URL.String()+" "+string(body))
		w.mu.Unlock()
		for name, values := range r.Header {
			rw.Header()["Got-"+name] = values
		}
		rw.Header().Set("Connection", "X-Hop")
		rw.Header().Set("X-Hop", "1")
		_, _ = io.WriteString(rw, "hello from "+r.Host)
	})
	w.plain = httptest.NewServer(handler)
	w.secure = httptest.NewTLSServer(handler)
	t.Cleanup(w.plain.Close)
	t.Cleanup(w.secure.Close)
	w.roots = x509.NewCertPool()
	w.roots.AddCert(w.secure.Certificate())
	if names == nil {
		names = map[string][]string{}
	}
	names["good.example"], names["other.example"] = []string{"127.0.0.1"}, []string{"127.0.0.1"}
	p := New(Config{
		Hosts: hosts, Head: 20 * time.Second, HTTP: httpclient.Options{Resolver: resolver(names)},
		Ended: func(c Connection) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.conns = append(w.conns, c)
		},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	w.address = l.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Serve(l)
	}()
	t.Cleanup(func() {
		p.Close()
		<-done
	})
	return w
}

// granted is good.example, at the address that it has in tests.
func granted() []string { return []string{"good.example", "127.0.0.1"} }

func port(s *httptest.Server) string {
	_, p, _ := net.SplitHostPort(s.Listener.Addr().String())
	return p
}

func (w *world) dial() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.address) //nolint:noctx // it is this machine
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// say sends bytes and gives the first line of what comes back, and all of it.
func (w *world) say(text string) (status, all string) {
	w.t.Helper()
	conn := w.dial()
	if _, err := io.WriteString(conn, text); err != nil {
		w.t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(conn) // a refusal may reset the connection
	status, _, _ = strings.Cut(string(answer), "\r\n")
	return status, string(answer)
}

// connect opens a tunnel.
func (w *world) connect(to string) (net.Conn, *bufio.Reader, string) {
	w.t.Helper()
	conn := w.dial()
	if _, err := io.WriteString(conn, "CONNECT "+to+" HTTP/1.1\r\nHost: "+to+"\r\n\r\n"); err != nil {
		w.t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // it has none, and the tunnel goes on
	if err != nil {
		w.t.Fatal(err)
	}
	return conn, r, resp.Status
}

// told waits until so many connections have ended, and gives them.
func (w *world) told(n int) []Connection {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		w.mu.Lock()
		list := append([]Connection{}, w.conns...)
		w.mu.Unlock()
		if len(list) >= n {
			return list
		}
		if time.Now().After(end) {
			w.t.Fatalf("%d connections ended, want %d: %+v", len(list), n, list)
		}
	}
}

func (w *world) served() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.seen...)
}

// client is an ordinary client that goes by the proxy.
func (w *world) client(change func(*tls.Config)) *http.Client {
	cfg := &tls.Config{RootCAs: w.roots, ServerName: ""}
	cfg.InsecureSkipVerify = true //nolint:gosec // the names of the test's certificate are not those of the test
	if change != nil {
		change(cfg)
	}
	u := "http://" + w.address
	tr := &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(u) }}
	return &http.Client{Transport: tr, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func redirecting(to string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, to, http.StatusFound) })
}
