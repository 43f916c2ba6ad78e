package bus

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestEveryoneGetsTheSameBytes(t *testing.T) {
	b := startBus(t, ServerConfig{})
	clients := []*plain{b.connect(t), b.connect(t), b.connect(t)}
	frames := []string{
		`{"type":"a","data":{},"context":{}}`,
		"{ \"context\":{\"x\" : 1.50},\n\"type\": \"\\u00e4\", \"data\":{\"a\":1,\"a\":2} }",
		`{"type":"medium","data":{"x":"` + strings.Repeat("x", 1000) + `"}}`,
		`{"type":"large","data":{"x":"` + strings.Repeat("ä", 50_000) + `"}}`,
		`{}`,
	}
	for i, frame := range frames {
		clients[i%len(clients)].send(frame)
		for _, c := range clients {
			if got := c.read(); got != frame {
				t.Fatalf("sent %.80s, got %.80s", frame, got)
			}
		}
	}
}

func TestOneOrderForAll(t *testing.T) {
	b := startBus(t, ServerConfig{})
	const each = 200
	senders := []*plain{b.connect(t), b.connect(t), b.connect(t)}
	seen := make(chan []string, len(senders))
	for n, c := range senders {
		go func() {
			for i := range each {
				if err := c.trySend(websocket.MessageText, fmt.Sprintf(`{"type":"t","data":{"from":%d,"i":%d}}`, n, i)); err != nil {
					t.Errorf("sending: %v", err)
				}
			}
		}()
		go func() {
			var got []string
			for range each * len(senders) {
				text, err := c.tryRead()
				if err != nil {
					t.Errorf("reading: %v", err)
					break
				}
				got = append(got, text)
			}
			seen <- got
		}()
	}
	first := strings.Join(<-seen, "\n")
	for range len(senders) - 1 {
		if strings.Join(<-seen, "\n") != first {
			t.Error("two clients saw different orders")
		}
	}
}

func TestBinaryAndFragmentsAreRelayedAsText(t *testing.T) {
	b := startBus(t, ServerConfig{})
	c, other := b.connect(t), b.connect(t)
	frame := `{"type":"a","data":{"ä":1}}`
	if err := c.trySend(websocket.MessageBinary, frame); err != nil {
		t.Fatal(err)
	}
	if got := other.read(); got != frame { // tryRead fails on anything but text
		t.Errorf("got %s", got)
	}
	w, err := c.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{frame[:5], frame[5:6], frame[6:]} {
		if _, err := io.WriteString(w, piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := other.read(); got != frame {
		t.Errorf("got %s", got)
	}
}

func TestOnlyThePathOfTheBus(t *testing.T) {
	b := startBus(t, ServerConfig{})
	for path, want := range map[string]int{"/core": 0, "/core?x=1": 0, "/core/": 404, "/": 404, "/gui": 404, "/CORE": 404, "/c%6fre": 404, "//core": 404} {
		conn, err := dialPlain("ws://"+b.addr+path, nil, nil)
		got := 0
		if refused, ok := errors.AsType[*handshakeError](err); ok {
			got = refused.status
		} else if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got != want {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
		if conn != nil {
			conn.CloseNow()
		}
	}
	response, err := http.Get("http://" + b.addr + "/core")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a plain request: status %d", response.StatusCode)
	}
}

// TestTheServerNeverSaysGoodbye: on the wire, what a client sees last is the
// end of the connection, not a close frame.
func TestTheServerNeverSaysGoodbye(t *testing.T) {
	b := startBus(t, ServerConfig{MaxFrame: 1000})
	stays, tooLarge := b.socket(t), b.socket(t)
	if _, err := tooLarge.Write(maskedFrame(0x81, make([]byte, 5000))); err != nil {
		t.Fatal(err)
	}
	noClose(t, "after a frame over the limit", tooLarge)
	b.stop()
	noClose(t, "at the end", stays)
}

func noClose(t *testing.T, when string, conn net.Conn) {
	t.Helper()
	rest, err := io.ReadAll(conn)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		t.Fatalf("%s: the connection stays open", when)
	}
	want := "\x81" + string(rune(len(Greeting))) + Greeting
	if !strings.HasPrefix(want, string(rest)) {
		t.Errorf("%s: got %q, want the greeting only", when, rest)
	}
}

// maskedFrame is a websocket frame as clients send it, with the mask 0.
func maskedFrame(first byte, payload []byte) []byte {
	b := []byte{first, 0x80 | 127}
	b = binary.BigEndian.AppendUint64(b, uint64(len(payload)))
	return append(append(b, 0, 0, 0, 0), payload...)
}

func TestAPoliteClientMayLeave(t *testing.T) {
	b := startBus(t, ServerConfig{})
	c, other := b.connect(t), b.connect(t)
	c.send(`{"type":"last"}`)
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("closing: %v", err)
	}
	if got := other.read(); got != `{"type":"last"}` {
		t.Errorf("got %s", got)
	}
	eventually(t, "one client left", func() bool { return b.Stats().Clients == 1 })
}

func TestHandlerInAnotherServer(t *testing.T) {
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(DefaultPath, s)
	web := httptest.NewServer(mux)
	defer web.Close()
	b := &bus{Server: s, addr: web.Listener.Addr().String()}
	c := b.connect(t)
	c.send(`{"type":"x"}`)
	if got := c.read(); got != `{"type":"x"}` {
		t.Errorf("got %s", got)
	}
	s.Close()
	if text, err := c.tryRead(); err == nil || websocket.CloseStatus(err) != -1 {
		t.Errorf("after Close: %q, %v", text, err)
	}
	if _, err := dialPlain(b.url(), nil, nil); err == nil {
		t.Error("a closed server let a client in")
	}
}

func TestServesTLS(t *testing.T) {
	web := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer web.Close()
	b := startBus(t, ServerConfig{TLS: &tls.Config{Certificates: web.TLS.Certificates, NextProtos: []string{"h2"}}})
	trust := web.Client().Transport.(*http.Transport).TLSClientConfig
	secure := "wss://" + b.addr + DefaultPath
	one := b.client(t, func(cfg *ClientConfig) { cfg.URL, cfg.TLS = secure, trust })
	two := b.client(t, func(cfg *ClientConfig) { cfg.URL, cfg.TLS = secure, trust })
	sub := two.Subscribe(Filter{})
	data, err := Object(map[string]string{"x": strings.Repeat("x", 300_000)})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Send(t.Context(), Message{Type: "large", Data: data}); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if m.Type == "large" {
			if string(m.Data) != string(data) {
				t.Error("it came out different")
			}
			break
		}
	}
	if _, err := dialPlain(secure, nil, nil); err == nil {
		t.Error("a certificate that nobody vouches for was trusted")
	}
	b.stop()
	eventually(t, "the client notices", func() bool { one.mu.Lock(); defer one.mu.Unlock(); return one.link == nil })
}
