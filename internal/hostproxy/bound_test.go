package hostproxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/httpclient"
)

// told is a proxy for a test, and a way to send it bytes; what became of each
// connection comes on the channel.
func told(t *testing.T, cfg Config) (say func(text string) string, ended chan Connection) {
	t.Helper()
	ended = make(chan Connection, 100)
	cfg.Ended = func(c Connection) { ended <- c }
	p := New(cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); p.Serve(l) }()
	t.Cleanup(func() { p.Close(); <-done })
	return func(text string) string {
		conn, err := net.Dial("tcp", l.Addr().String()) //nolint:noctx // it is this machine
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(conn)
		return string(answer)
	}, ended
}

// TestFewStayOpen: a program that asks many hosts, one after the other, has few
// connections open when it has its answers.
func TestFewStayOpen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const hosts, most = 40, 20
	gone := make(chan struct{}, hosts)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				if _, err := http.ReadRequest(in); err != nil {
					return
				}
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") // and would take another
				_, _ = in.ReadByte()
				gone <- struct{}{}
			}()
		}
	}()
	names := map[string][]string{}
	name := func(i int) string { return "h" + strconv.Itoa(i) + ".example" }
	for i := range hosts {
		names[name(i)] = []string{"127.0.0.1"}
	}
	say, _ := told(t, Config{Hosts: []string{"*.example", "127.0.0.1"}, HTTP: httpclient.Options{Resolver: resolver(names)}})
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for i := range hosts {
		at := name(i) + ":" + port
		if answer := say("GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\nConnection: keep-alive\r\n\r\n"); !strings.HasSuffix(answer, "ok") {
			t.Fatalf("%q", answer)
		}
	}
	for i := range hosts - most {
		select {
		case <-gone:
		case <-time.After(20 * time.Second):
			t.Fatalf("%d of %d connections were closed", i, hosts-most)
		}
	}
}

// TestWhatIsToldIsShort: a host that answers with anything but HTTP does not fill the
// journal.
func TestWhatIsToldIsShort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		_, _ = io.WriteString(conn, strings.Repeat("\x01", 100<<10)+"\r\n\r\n")
	}()
	say, ended := told(t, Config{Hosts: []string{"127.0.0.1"}})
	at := l.Addr().String()
	if answer := say("GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 502") || len(answer) > 4<<10 {
		t.Errorf("%d bytes: %.200q", len(answer), answer)
	}
	if c := <-ended; c.Failed == "" || len(c.Failed) > maxWords+10 {
		t.Errorf("%d bytes: %.200q", len(c.Failed), c.Failed)
	}
}
