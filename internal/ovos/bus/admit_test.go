package bus

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestOrigins(t *testing.T) {
	tests := []struct {
		name    string
		token   string
		host    string
		origins []string // nil: no header
		ok      bool
	}{
		{"no header", "", "127.0.0.1:8181", nil, true},
		{"listed", "", "127.0.0.1:8181", []string{"http://studio.example:3000"}, true},
		{"listed, other case", "", "127.0.0.1:8181", []string{"HTTP://Studio.Example:3000"}, true},
		{"the Python client", "", "127.0.0.1:8181", []string{"http://127.0.0.1:8181"}, true},
		{"the Python client, localhost", "", "localhost:8181", []string{"http://localhost:8181"}, true},
		{"the Python client, IPv6", "", "[::1]:8181", []string{"http://[::1]:8181"}, true},
		{"the Python client with TLS", "", "127.0.0.1:8181", []string{"https://127.0.0.1:8181"}, true},
		{"the Python client by name, with a token", "secret", "box.lan:8181", []string{"http://box.lan:8181"}, true},

		{"any page", "", "127.0.0.1:8181", []string{"http://evil.example"}, false},
		{"a page with the token", "secret", "127.0.0.1:8181", []string{"http://evil.example"}, false},
		{"another port of this machine", "", "127.0.0.1:8181", []string{"http://127.0.0.1:3000"}, false},
		{"a listed host, another port", "", "127.0.0.1:8181", []string{"http://studio.example:3001"}, false},
		{"a listed host, another scheme", "", "127.0.0.1:8181", []string{"https://studio.example:3000"}, false},
		{"a name made to point here", "", "evil.example:8181", []string{"http://evil.example:8181"}, false},
		{"a name like localhost", "", "localhost.evil.example:8181", []string{"http://localhost.evil.example:8181"}, false},
		{"a file", "", "127.0.0.1:8181", []string{"null"}, false},
		{"empty", "", "127.0.0.1:8181", []string{""}, false},
		{"good and bad", "", "127.0.0.1:8181", []string{"http://studio.example:3000", "http://evil.example"}, false},
		{"with a path", "", "127.0.0.1:8181", []string{"http://127.0.0.1:8181/x"}, false},
		{"with a user", "", "127.0.0.1:8181", []string{"http://127.0.0.1:8181@evil.example"}, false},
		{"an extension", "", "127.0.0.1:8181", []string{"chrome-extension://127.0.0.1:8181"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := NewServer(ServerConfig{Token: tt.token, Origins: []string{"http://studio.example:3000/"}})
			if err != nil {
				t.Fatal(err)
			}
			s.ofOthers = func(*http.Request) bool { return false }
			r := request("/core?token="+tt.token, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
			r.Host = tt.host
			for _, origin := range tt.origins {
				r.Header.Add("Origin", origin)
			}
			if got := s.refuse(r); (got == nil) != tt.ok {
				t.Errorf("got %+v, want ok %v", got, tt.ok)
			}
		})
	}
}

func request(target string, local net.Addr) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
}

func TestTheBusStaysOnThisMachine(t *testing.T) {
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	s.ofOthers = func(*http.Request) bool { return false }
	for name, tt := range map[string]struct {
		addr net.Addr
		ok   bool
	}{
		"loopback":   {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}, true},
		"loopback 6": {&net.TCPAddr{IP: net.IPv6loopback}, true},
		"a socket":   {&net.UnixAddr{Name: "/run/bus"}, true},
		"the LAN":    {&net.TCPAddr{IP: net.IPv4(192, 168, 0, 9)}, false},
		"everywhere": {&net.TCPAddr{IP: net.IPv4zero}, false},
		"nowhere":    {&net.TCPAddr{}, false},
		"unknown":    {nil, false},
	} {
		if got := s.refuse(request("/core", tt.addr)); (got == nil) != tt.ok {
			t.Errorf("%s: got %+v, want ok %v", name, got, tt.ok)
		}
	}
	if got := s.refuse(httptest.NewRequest(http.MethodGet, "/core", nil)); got == nil {
		t.Error("a request that came from who knows where was let in")
	}

	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		s, err := NewServer(ServerConfig{Addr: addr})
		if err != nil {
			t.Fatal(err)
		}
		if ln, err := s.Listen(t.Context()); err == nil {
			ln.Close()
			t.Errorf("listens on %s without being told", addr)
		}
	}
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), ln); err == nil || !strings.Contains(err.Error(), "explicitly") {
		t.Errorf("served for other machines: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener was left open: %v", err)
	}
	if _, err := NewServer(ServerConfig{Remote: true}); err == nil {
		t.Error("a bus for other machines without a token was made")
	}
}

func TestToken(t *testing.T) {
	b := startBus(t, ServerConfig{Token: "s3cret&", Remote: true, Addr: "0.0.0.0:0"})
	_, port, err := net.SplitHostPort(b.addr)
	if err != nil {
		t.Fatal(err)
	}
	b.addr = "127.0.0.1:" + port
	for name, tt := range map[string]struct {
		query, header string
		ok            bool
	}{
		"none":         {"", "", false},
		"route":        {"?token=s3cret%26", "", true},
		"header":       {"", "Bearer s3cret&", true},
		"wrong":        {"?token=s3cret", "", false},
		"wrong header": {"?token=s3cret%26", "Bearer no", false},
		"empty":        {"?token=", "Bearer ", false},
		"basic":        {"", "Basic s3cret&", false},
	} {
		header := http.Header{}
		if tt.header != "" {
			header.Set("Authorization", tt.header)
		}
		conn, err := dialPlain(b.url()+tt.query, header, nil)
		if conn != nil {
			conn.CloseNow()
		}
		if refused, is := errors.AsType[*handshakeError](err); tt.ok && err != nil || !tt.ok && (!is || refused.status != http.StatusUnauthorized) {
			t.Errorf("%s: got %v, want ok %v", name, err, tt.ok)
		}
	}

	b.client(t, func(cfg *ClientConfig) { cfg.Token = "s3cret&" })
	wrong, err := Open(ClientConfig{URL: b.url() + "?token=hush", BackoffMin: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	eventually(t, "a refusal", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := wrong.Ready(ctx)
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Fatalf("the token is told: %v", err)
		}
		return errors.Is(err, ErrNotConnected) && strings.Contains(err.Error(), "401")
	})
}

func TestMaxClients(t *testing.T) {
	b := startBus(t, ServerConfig{MaxClients: 2})
	first := b.connect(t)
	b.connect(t)
	_, err := dialPlain(b.url(), nil, nil)
	if refused, ok := errors.AsType[*handshakeError](err); !ok || refused.status != http.StatusServiceUnavailable {
		t.Errorf("a third client: %v", err)
	}
	first.CloseNow()
	eventually(t, "room again", func() bool {
		conn, err := dialPlain(b.url(), nil, nil)
		if err == nil {
			conn.CloseNow()
		}
		return err == nil
	})
}

func TestServerConfigIsChecked(t *testing.T) {
	for name, cfg := range map[string]ServerConfig{
		"origin without scheme": {Origins: []string{"studio.example"}},
		"any origin":            {Origins: []string{"http://*"}},
		"origin with path":      {Origins: []string{"http://a.example/x"}},
		"star":                  {Origins: []string{"*"}},
		"negative limit":        {MaxFrame: -1},
	} {
		if _, err := NewServer(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
