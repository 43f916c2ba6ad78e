package hostproxy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
)

// TestOtherHostsAreRefused: by name, by address in every form, and by every other way
// to write a host.
func TestOtherHostsAreRefused(t *testing.T) {
	names := map[string][]string{
		"private.example": {"10.0.0.1"}, "meta.example": {"169.254.169.254"}, "six.example": {"fd00::1"}, "mapped.example": {"::ffff:10.0.0.1"},
		"nat.example": {"64:ff9b::a00:1"}, "carrier.example": {"100.64.0.1"}, "multi.example": {"224.0.0.1"}, "zero.example": {"0.0.0.0"},
		"lo.example": {"127.0.0.2"}, "lo6.example": {"::1"}, "link6.example": {"fe80::1"},
	}
	w := newWorld(t, []string{"good.example", "*.example", "*.wild.test"}, names)
	n := 0
	for _, host := range []string{
		"other.test", "good.example.evil.test", "evilgood.test", "wild.test", "xn--exmple-cua.test",
		"good.example.", "good..example", ".good.example", "good.example\x00.evil.test", "g\xc3\xb6\xc3\xb6d.example", "good%2eexample", "good.example%00", "user@good.example", "user:pass@good.example", "good_.example ",
		"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "0", "0.0.0.0", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fe80::1%25lo]", "[fe80::1%lo]", "[fd00::1]", "[ff02::1]", "::1", "8.8.8.8", "localhost", "LOCALHOST", "metadata.google.internal",
		"private.example", "meta.example", "six.example", "mapped.example", "nat.example", "carrier.example", "multi.example", "zero.example", "lo.example", "lo6.example", "link6.example",
	} {
		for _, text := range []string{
			"CONNECT " + host + ":" + port(w.secure) + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
			"GET http://" + host + ":" + port(w.plain) + "/ HTTP/1.1\r\nHost: " + host + ":" + port(w.plain) + "\r\n\r\n",
		} {
			n++
			if status, _ := w.say(text); !strings.HasPrefix(status, "HTTP/1.1 403") && !strings.HasPrefix(status, "HTTP/1.1 400") {
				t.Errorf("%q: %q", text, status)
			}
		}
	}
	for _, c := range w.told(n) {
		if c.Refused == "" || c.Received > 0 {
			t.Errorf("not refused: %+v", c)
		}
	}
	if seen := w.served(); len(seen) > 0 {
		t.Errorf("reached: %q", seen)
	}
}

// TestAnswersThatChange: each address is judged on the socket that connects to it, so
// it does not help to answer with another one later.
func TestAnswersThatChange(t *testing.T) {
	w := newWorld(t, []string{"turns.example"}, map[string][]string{"turns.example": {"10.0.0.1", "127.0.0.1", "169.254.169.254"}})
	for range 3 {
		if status, _ := w.say("CONNECT turns.example:" + port(w.secure) + " HTTP/1.1\r\nHost: turns.example\r\n\r\n"); !strings.HasPrefix(status, "HTTP/1.1 403") {
			t.Errorf("%q", status)
		}
	}
	if c := w.told(1)[0]; c.NotListed || !strings.Contains(c.Refused, "not public") || strings.Contains(c.Refused, "10.0.0.1") {
		t.Errorf("%+v", c)
	}
}

// TestPrivateByName: a name that may lead to a private address leads neither to this
// machine nor to a metadata service.
func TestPrivateByName(t *testing.T) {
	names := map[string][]string{"a.corp": {"127.0.0.1"}, "b.corp": {"169.254.169.254"}, "c.corp": {"::1"}, "d.corp": {"fd00:ec2::254"}, "e.corp": {"100.100.100.200"}, "f.corp": {"::ffff:127.0.0.1"}, "g.corp": {"64:ff9b::a9fe:a9fe"}}
	w := newWorld(t, []string{"private:*.corp"}, names)
	for name := range names {
		if !strings.HasSuffix(name, ".corp") {
			continue
		}
		if status, _ := w.say("CONNECT " + name + ":443 HTTP/1.1\r\nHost: " + name + "\r\n\r\n"); !strings.HasPrefix(status, "HTTP/1.1 403") {
			t.Errorf("%s: %q", name, status)
		}
	}
}

// TestSmuggling: what two readers could take for two different requests is refused,
// and one connection carries one request.
func TestSmuggling(t *testing.T) {
	w := newWorld(t, granted(), nil)
	at := "good.example:" + port(w.plain)
	first := "POST http://" + at + "/a HTTP/1.1\r\nHost: " + at + "\r\n"
	for _, text := range []string{
		first + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET",
		first + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		first + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nbodyx",
		first + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
		first + "Content-Length: +4\r\n\r\nbody", first + "Content-Length: 0x4\r\n\r\nbody", first + "Content-Length: 4, 4\r\n\r\nbody", first + "Content-Length:\r\n\r\n", first + "Content-Length: -1\r\n\r\n",
		first + "Transfer-Encoding: xchunked\r\n\r\n", first + "Transfer-Encoding: chunked, identity\r\n\r\n", first + "Transfer-Encoding: identity\r\n\r\n", first + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		first + "Transfer-Encoding\t: chunked\r\n\r\n", first + "Transfer-Encoding : chunked\r\n\r\n", first + "X: 1\r\n Content-Length: 4\r\n\r\nbody", first + "X: 1\r\n\tfolded\r\n\r\n",
		first + "X: 1\nContent-Length: 4\r\n\r\nbody", first + "X: a\rb\r\n\r\n", first + "X: a\x00b\r\n\r\n", first + ": empty\r\n\r\n", first + "no colon\r\n\r\n", first + "X\x80: 1\r\n\r\n",
		first + "Host: other.example\r\n\r\n", "GET http://" + at + "/ HTTP/1.1\r\n\r\n",
		"GET http://" + at + "/ HTTP/1.1\r\nHost: other.example\r\n\r\n", "GET http://" + at + "/ HTTP/1.1\r\nHost: good.example\r\n\r\n", "GET http://" + at + "/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://" + at + "/ HTTP/1.1\r\nHost:\r\n\r\n", "GET http://" + at + "/ HTTP/1.1\r\nHost: \r\n\r\n",
		"GET /  HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "GET / HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "GET\thttp://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "GET http://" + at + "/ HTTP/1.1 \r\nHost: " + at + "\r\n\r\n",
		"GET http://" + at + "/ HTTP/2.0\r\nHost: " + at + "\r\n\r\n", "GET http://" + at + "/ HTTP/0.9\r\nHost: " + at + "\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET https://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "GET ftp://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "GET http://u:p@" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n",
		"GET http:" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "GET http:///x HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: " + at + "\r\n\r\n",
		"CONNECT good.example HTTP/1.1\r\nHost: good.example\r\n\r\n", "CONNECT " + at + "/x HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "CONNECT " + at + " HTTP/1.1\r\nHost: other.example\r\n\r\n",
		"CONNECT " + at + " HTTP/1.1\r\nHost: " + at + "\r\nContent-Length: 3\r\n\r\nabc", "CONNECT good.example:0 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT good.example:080 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT good.example:99999 HTTP/1.1\r\nHost: a\r\n\r\n",
		"\r\nGET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "\x05\x01\x00", "\x04\x01\x00\x50\x7f\x00\x00\x01\x00\r\n\r\n", "SSH-2.0-x\r\n\r\n", "\x16\x03\x01\x00\x05hello",
	} {
		status, all := w.say(text)
		if status != "" && !strings.HasPrefix(status, "HTTP/1.1 403") && !strings.HasPrefix(status, "HTTP/1.1 400") || strings.Contains(all, "hello from") {
			t.Errorf("%q: %q", text, all)
		}
	}
	if seen := w.served(); len(seen) > 0 {
		t.Errorf("reached: %q", seen)
	}
	// A second request on the connection is not read, whomever it is for.
	w.say("GET http://" + at + "/one HTTP/1.1\r\nHost: " + at + "\r\n\r\nGET http://other.example:" + port(w.plain) + "/two HTTP/1.1\r\nHost: other.example\r\n\r\n")
	if seen := w.served(); len(seen) != 1 || !strings.Contains(seen[0], "/one") {
		t.Errorf("%q", seen)
	}
	if status, _ := w.say("GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\nX: " + strings.Repeat("a", maxHead) + "\r\n\r\n"); strings.HasPrefix(status, "HTTP/1.1 2") {
		t.Errorf("a head without end was taken: %q", status)
	}
}

// TestTunnelsAreForTheirHost: what goes through a tunnel is TLS for the host that was
// named, or a plain request to it.
func TestTunnelsAreForTheirHost(t *testing.T) {
	w := newWorld(t, granted(), nil)
	secure := "https://good.example:" + port(w.secure)
	for name, change := range map[string]func(*tls.Config){
		"another name": func(c *tls.Config) { c.ServerName = "other.example" },
		"below it":     func(c *tls.Config) { c.ServerName = "a.good.example" },
		"no name":      func(c *tls.Config) { c.ServerName = "127.0.0.1" }, // which Go does not send
	} {
		if got, err := get(t, w, secure, change); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, first := range map[string]string{
		"ssh": "SSH-2.0-x\r\n", "another host": "GET / HTTP/1.1\r\nHost: other.example:" + port(w.plain) + "\r\n\r\n", "an address": "GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n",
		"a tunnel in it": "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example\r\n\r\n", "bytes": "\x00\x01\x02", "an old hello": "\x80\x2e\x01\x00\x02", "an alert": "\x15\x03\x01\x00\x02\x01\x00",
		"the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no host": "GET / HTTP/1.0\r\n\r\n",
	} {
		conn, r, status := w.connect("good.example:" + port(w.plain))
		if status != "200 Connection established" {
			t.Fatal(status)
		}
		if _, err := io.WriteString(conn, first); err != nil {
			t.Fatal(err)
		}
		_ = conn.(*net.TCPConn).CloseWrite()
		if all, _ := io.ReadAll(r); bytes.Contains(all, []byte("hello from")) {
			t.Errorf("%s: %q", name, all)
		}
	}
	if seen := w.served(); len(seen) > 0 {
		t.Errorf("reached: %q", seen)
	}
	conn, r, _ := w.connect("good.example:" + port(w.plain))
	if _, err := io.WriteString(conn, "GET /t HTTP/1.1\r\nHost: good.example:"+port(w.plain)+"\r\n\r\nGET /second HTTP/1.1\r\nHost: other.example\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if all, _ := io.ReadAll(r); !bytes.Contains(all, []byte("hello from good.example")) {
		t.Errorf("a plain request within a tunnel: %q", all)
	}
	if seen := w.served(); len(seen) != 1 {
		t.Errorf("%q", seen)
	}
}

// TestRedirectsAreTheClients: an answer that leads elsewhere is passed on as it is;
// where the program goes then is judged like anything else.
func TestRedirectsAreTheClients(t *testing.T) {
	w := newWorld(t, granted(), nil)
	w.plain.Config.Handler = redirecting("http://other.example:" + port(w.plain) + "/")
	at := "good.example:" + port(w.plain)
	status, all := w.say("GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n")
	if status != "HTTP/1.1 302 Found" || !strings.Contains(all, "Location: http://other.example") {
		t.Errorf("%q", all)
	}
	if status, _ := w.say("GET http://other.example:" + port(w.plain) + "/ HTTP/1.1\r\nHost: other.example:" + port(w.plain) + "\r\n\r\n"); !strings.HasPrefix(status, "HTTP/1.1 403") {
		t.Errorf("%q", status)
	}
	if c := w.told(2)[1]; !c.NotListed || c.Host != "other.example" {
		t.Errorf("%+v", c)
	}
}
