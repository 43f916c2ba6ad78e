package hostproxy

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/httpclient"
)

func get(t *testing.T, w *world, url string, change func(*tls.Config)) (string, error) {
	t.Helper()
	resp, err := w.client(change).Get(url) //nolint:noctx // the client has a time limit
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.Status + ": " + string(body), err
}

func TestGrantedHostsAreReached(t *testing.T) {
	w := newWorld(t, granted(), nil)
	for _, url := range []string{"http://good.example:" + port(w.plain) + "/x", "http://GOOD.example:" + port(w.plain), "https://good.example:" + port(w.secure) + "/x"} {
		if got, err := get(t, w, url, nil); err != nil || !strings.HasPrefix(got, "200 OK: hello from good.example") {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
	for _, c := range w.told(3) {
		if c.Host != "good.example" || c.Refused != "" || c.Failed != "" || c.Received == 0 || c.Sent == 0 || c.Start.IsZero() {
			t.Errorf("%+v", c)
		}
	}
}

func TestAddressesAreReachedWhereGranted(t *testing.T) {
	w := newWorld(t, []string{"127.0.0.1"}, nil)
	for _, url := range []string{"http://127.0.0.1:" + port(w.plain), "https://127.0.0.1:" + port(w.secure)} {
		if got, err := get(t, w, url, nil); err != nil || !strings.HasPrefix(got, "200 OK") {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
	// The address is granted, and not whatever else is served there by name.
	if got, err := get(t, w, "https://127.0.0.1:"+port(w.secure), func(c *tls.Config) { c.ServerName = "other.example" }); err == nil {
		t.Errorf("another name was taken: %q", got)
	}
}

// TestRefusalNamesTheSetting: who reads it has to know where to add the host.
func TestRefusalNamesTheSetting(t *testing.T) {
	for _, c := range []struct{ key, want string }{{"", "add it to grant.hosts"}, {"hosts in weather.sh", "add it to hosts in weather.sh"}} {
		v := &visit{proxy: New(Config{Hosts: granted(), Key: c.key})}
		if _, err := v.admit("http", "other.example:80"); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, httpclient.ErrNotListed) || !v.told.NotListed {
			t.Errorf("%q: %v, %+v", c.key, err, v.told)
		}
	}
}

// TestHalfClose: a side that has said all still hears the rest.
func TestHalfClose(t *testing.T) {
	w := newWorld(t, granted(), nil)
	status, all := w.say("GET http://good.example:" + port(w.plain) + "/half HTTP/1.1\r\nHost: good.example:" + port(w.plain) + "\r\n\r\n")
	if status != "HTTP/1.1 200 OK" || !strings.Contains(all, "hello from good.example") {
		t.Errorf("%q", all)
	}
}

// TestFieldsForTheNextMachineStay: hop-by-hop fields go neither way, nor does the
// password of a proxy.
func TestFieldsForTheNextMachineStay(t *testing.T) {
	w := newWorld(t, granted(), nil)
	at := "good.example:" + port(w.plain)
	_, all := w.say("POST http://" + at + "/p HTTP/1.1\r\nHost: " + at + "\r\nProxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\nConnection: X-Mine, Upgrade\r\n" +
		"X-Mine: 1\r\nUpgrade: websocket\r\nTE: trailers\r\nX-Kept: yes\r\nContent-Length: 4\r\n\r\nbody")
	for _, gone := range []string{"Got-Proxy", "Got-Connection", "Got-X-Mine", "Got-Upgrade", "Got-Te", "X-Hop", "Got-User-Agent"} {
		if strings.Contains(all, gone) {
			t.Errorf("%s was passed on:\n%s", gone, all)
		}
	}
	if !strings.Contains(all, "Got-X-Kept: yes") || !strings.Contains(all, "Connection: close") {
		t.Errorf("an ordinary field is gone:\n%s", all)
	}
	if seen := w.served(); len(seen) != 1 || seen[0] != "POST "+at+" /p body" {
		t.Errorf("%q", seen)
	}
}

// TestWhatCannotBeRecordedIsNotDone: nothing is sent where the journal refuses.
func TestWhatCannotBeRecordedIsNotDone(t *testing.T) {
	w := newWorld(t, granted(), nil)
	p := New(Config{Hosts: granted(), Begin: func(string, string) error { return errors.New("the disk is full") }})
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	go p.Serve(l)
	defer p.Close()
	w.address = l.Addr().String()
	if got, err := get(t, w, "http://127.0.0.1:"+port(w.plain), nil); err != nil || !strings.Contains(got, "403") || strings.Contains(got, "disk") {
		t.Errorf("%q, %v", got, err)
	}
	if seen := w.served(); len(seen) > 0 {
		t.Errorf("sent all the same: %q", seen)
	}
}

// TestCloseEndsEverything: a tunnel that is open ends with the proxy, and is told of.
func TestCloseEndsEverything(t *testing.T) {
	w := newWorld(t, granted(), nil)
	var ended []Connection
	p := New(Config{Hosts: granted(), Connections: 1, Ended: func(c Connection) { ended = append(ended, c) }})
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	go p.Serve(l)
	w.address = l.Addr().String()
	conn, r, status := w.connect("127.0.0.1:" + port(w.secure))
	if status != "200 Connection established" {
		t.Fatal(status)
	}
	waiting := w.dial() // there is room for one only
	p.Close()
	if _, err := r.ReadByte(); err == nil {
		t.Error("the tunnel is still open")
	}
	if _, err := io.ReadAll(waiting); err == nil && len(ended) != 1 {
		t.Error("the one that waits was served")
	}
	if len(ended) != 1 || ended[0].Host != "127.0.0.1" {
		t.Errorf("%+v", ended)
	}
	_ = conn.Close()
	p.Serve(l) // a proxy that is closed serves nobody
}
