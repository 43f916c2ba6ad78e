package bus

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// patience bounds every wait of these tests; none of them waits that long
// unless something is broken.
const patience = time.Minute

// bus is a server of its own on loopback.
type bus struct {
	*Server
	addr string
	stop func() // and wait for the end
}

func startBus(t testing.TB, cfg ServerConfig) *bus {
	t.Helper()
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	s, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	stopped := false
	b := &bus{Server: s, addr: ln.Addr().String()}
	b.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	}
	t.Cleanup(b.stop)
	return b
}

func (b *bus) url() string { return "ws://" + b.addr + DefaultPath }

// client opens one of our clients and waits for it.
func (b *bus) client(t testing.TB, change func(*ClientConfig)) *Client {
	t.Helper()
	cfg := ClientConfig{URL: b.url(), BackoffMin: 5 * time.Millisecond, BackoffMax: 50 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	c, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ready(t, c)
	return c
}

func ready(t testing.TB, c *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

// plain is a client with no knowledge of this package: a websocket and text.
type plain struct {
	*websocket.Conn
	t testing.TB
}

// connect opens a plain client and takes the greeting.
func (b *bus) connect(t testing.TB) *plain {
	t.Helper()
	conn, err := dialPlain(b.url(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	p := &plain{conn, t}
	if got := p.read(); got != Greeting {
		t.Fatalf("the first frame is %s", got)
	}
	return p
}

func dialPlain(url string, header http.Header, config *tls.Config) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPHeader: header, HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: config}},
	})
	if err != nil {
		if response != nil {
			response.Body.Close()
			return nil, &handshakeError{response.StatusCode}
		}
		return nil, err
	}
	conn.SetReadLimit(-1)
	return conn, nil
}

type handshakeError struct{ status int }

func (e *handshakeError) Error() string { return http.StatusText(e.status) }

func (p *plain) read() string {
	p.t.Helper()
	text, err := p.tryRead()
	if err != nil {
		p.t.Fatalf("reading: %v", err)
	}
	return text
}

func (p *plain) tryRead() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	typ, b, err := p.Read(ctx)
	if err == nil && typ != websocket.MessageText {
		return "", errors.New("not a text frame")
	}
	return string(b), err
}

func (p *plain) send(text string) {
	p.t.Helper()
	if err := p.trySend(websocket.MessageText, text); err != nil {
		p.t.Fatalf("sending: %v", err)
	}
}

func (p *plain) trySend(typ websocket.MessageType, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.Write(ctx, typ, []byte(text))
}

// socket opens a connection on which a test writes websocket frames by hand.
func (b *bus) socket(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	handshake := "GET /core HTTP/1.1\r\nHost: " + b.addr + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	if _, err := conn.Write([]byte(handshake)); err != nil {
		t.Fatal(err)
	}
	// One byte at a time, so that no frame is taken along.
	r := bufio.NewReaderSize(oneByte{conn}, 16)
	status, err := r.ReadString('\n')
	if err != nil || !strings.Contains(status, "101") {
		t.Fatalf("handshake: %q, %v", status, err)
	}
	for line := ""; line != "\r\n"; {
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

type oneByte struct{ net.Conn }

func (o oneByte) Read(b []byte) (int, error) { return o.Conn.Read(b[:1]) }

// eventually waits for something that has to come.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// host answers requests of a type with what answer returns, until the test
// ends.
func host(t testing.TB, c *Client, typ string, answer func(Message) json.RawMessage) {
	t.Helper()
	sub := c.Subscribe(Filter{Types: []string{typ}})
	t.Cleanup(sub.Close)
	go func() {
		for {
			m, err := sub.Next(context.Background())
			if err != nil {
				return
			}
			go func() {
				if data := answer(m); data != nil {
					_ = c.Send(context.Background(), m.Response("host", data)) // the caller's test sees what is missing
				}
			}()
		}
	}()
}
