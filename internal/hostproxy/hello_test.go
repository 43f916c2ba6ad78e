package hostproxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// helloOf is what Go's own client sends first.
func helloOf(t testing.TB, name string) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		_ = tls.Client(theirs, &tls.Config{ServerName: name, InsecureSkipVerify: true}).HandshakeContext(context.Background()) //nolint:gosec // nothing is sent
		_ = theirs.Close()
	}()
	raw, _, err := readHello(ours)
	_ = ours.Close()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// cut puts a handshake message into records of that size.
func cut(message []byte, size int) (raw []byte) {
	for len(message) > 0 {
		n := min(size, len(message))
		raw = append(append(raw, recordHandshake, 3, 1, byte(n>>8), byte(n)), message[:n]...)
		message = message[n:]
	}
	return raw
}

// withExtension adds one at the end of a hello.
func withExtension(message []byte, kind uint16, data []byte) []byte {
	out := append(bytes.Clone(message), byte(kind>>8), byte(kind), byte(len(data)>>8), byte(len(data)))
	out = append(out, data...)
	n := len(out) - 4
	out[1], out[2], out[3] = byte(n>>16), byte(n>>8), byte(n)
	at := 4 + 2 + 32
	at += 1 + int(out[at])
	at += 2 + int(binary.BigEndian.Uint16(out[at:]))
	at += 1 + int(out[at])
	binary.BigEndian.PutUint16(out[at:], uint16(len(out)-at-2))
	return out
}

func judge(raw []byte, host string) error {
	_, message, err := readHello(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	h, err := parseHello(message)
	if err != nil {
		return err
	}
	return h.check(host, false)
}

func TestHello(t *testing.T) {
	plain := helloOf(t, "good.example")
	message := plain[5:]
	other := helloOf(t, "other.example")
	name := func(name string) []byte {
		entry := append([]byte{0, 0, byte(len(name))}, name...)
		return append([]byte{0, byte(len(entry))}, entry...)
	}
	two := append(name("good.example"), name("other.example")[2:]...)
	two[1] = byte(len(two) - 2)
	bare := helloOf(t, "127.0.0.1")[5:] // which has no name
	for what, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"as it is":           {plain, ""},
		"in small records":   {cut(message, 3), ""},
		"another name":       {other, "is for other.example"},
		"no name":            {cut(bare, 1<<14), "does not name its server"},
		"hidden":             {cut(withExtension(message, extensionECH, []byte{0}), 1<<14), "hides the name"},
		"hidden of old":      {cut(withExtension(message, extensionESNI, []byte{0}), 1<<14), "hides the name"},
		"two names":          {cut(withExtension(bare, extensionName, two), 1<<14), "not the beginning"},
		"the same twice":     {cut(withExtension(message, extensionName, name("other.example")), 1<<14), "not the beginning"},
		"its own name":       {cut(withExtension(bare, extensionName, name("GOOD.example")), 1<<14), ""},
		"a dot more":         {cut(withExtension(bare, extensionName, name("good.example.")), 1<<14), "is for good.example."},
		"a NUL":              {cut(withExtension(bare, extensionName, name("good.example\x00x")), 1<<14), "not the beginning"},
		"a second behind it": {cut(append(bytes.Clone(message), other[5:]...), 1<<14), "not the beginning"},
		"cut off":            {plain[:len(plain)-1], "EOF"},
		"too short":          {cut(message[:20], 1<<14)[:20], "EOF"},
		"no handshake":       {[]byte("\x17\x03\x01\x00\x05hello"), "not the beginning"},
		"an empty record":    {[]byte("\x16\x03\x01\x00\x00"), "not the beginning"},
		"endless":            {cut(append([]byte{1, 0xff, 0xff, 0xff}, make([]byte, 100)...), 1<<14), "not the beginning"},
	} {
		err := judge(c.raw, "good.example")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

// serverSays is the first message of a server, which may ask for a second hello.
func serverSays(again bool) []byte {
	random := sha256.Sum256([]byte("HelloRetryRequest"))
	if !again {
		random[0]++
	}
	message := append([]byte{messageServer, 0, 0, 34, 3, 3}, random[:]...)
	return append(cut(message, 7), "\x14\x03\x03\x00\x01\x01"...)
}

// TestSecondHello: where a server asks for a second hello, that one is for the same
// host too, whatever was sent between, and whenever it was sent.
func TestSecondHello(t *testing.T) {
	good, other := helloOf(t, "good.example"), helloOf(t, "other.example")
	change := []byte("\x14\x03\x03\x00\x01\x01")
	early := []byte("\x17\x03\x03\x00\x03abc")
	for what, c := range map[string]struct {
		server, client []byte
		passed         bool
	}{
		"again, the same":           {serverSays(true), good, true},
		"again, after a change":     {serverSays(true), bytes.Join([][]byte{change, good, early}, nil), true},
		"again, another":            {serverSays(true), other, false},
		"again, another, change":    {serverSays(true), append(bytes.Clone(change), other...), false},
		"again, another, early":     {serverSays(true), bytes.Join([][]byte{early, change, other}, nil), false},
		"again, another, in pieces": {serverSays(true), cut(other[5:], 5), false},
		"again, no hello":           {serverSays(true), []byte("\x16\x03\x03\x00\x04\x10\x00\x00\x00"), false},
		"not again":                 {serverSays(false), []byte("\x16\x03\x03\x00\x04\x10\x00\x00\x00"), true},
		"unasked":                   {serverSays(false), other, false},
		"unasked, in pieces":        {serverSays(false), cut(other[5:], 1), false},
		"unasked, after an alert":   {serverSays(false), append([]byte("\x15\x03\x03\x00\x02\x01\x00"), other...), false},
		"unasked, after a message":  {serverSays(false), cut(append([]byte("\x0b\x00\x00\x05\x01\x01\x01\x01\x01"), other[5:]...), 7), false},
		"unasked, after its alert":  {[]byte("\x15\x03\x03\x00\x02\x01\x70"), other, false},
		"encrypted":                 {serverSays(false), bytes.Join([][]byte{cut([]byte("\x10\x00\x00\x02\x01\x01"), 4), change, []byte("\x16\x03\x03\x00\x03\x01\x01\x01")}, nil), true},
		"an alert":                  {[]byte("\x15\x03\x03\x00\x02\x02\x28"), []byte("\x16\x03\x03\x00\x04\x10\x00\x00\x00"), true},
		"gone":                      {nil, []byte("\x16\x03\x03\x00\x04\x10\x00\x00\x00"), true},
	} {
		first := newAnswer()
		var toHost bytes.Buffer
		go func() { // the program need not wait for the server to say it
			time.Sleep(time.Millisecond)
			_ = first.look(bytes.NewReader(c.server), io.Discard)
			first.know(false)
		}()
		from := bytes.NewReader(c.client)
		err := checkSecond(from, &toHost, "good.example", first)
		_, _ = io.Copy(&toHost, from)
		if (err == nil) != c.passed {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil && !bytes.Equal(toHost.Bytes(), c.client) {
			t.Errorf("%s: %q came, %q was sent", what, toHost.Bytes(), c.client)
		}
		if err != nil && bytes.Contains(toHost.Bytes(), []byte("other.example")) {
			t.Errorf("%s: the other name came through", what)
		}
	}
}

// FuzzHello: whatever is sent, nothing breaks, and what is let through Go's own server
// takes for the same host.
func FuzzHello(f *testing.F) {
	f.Add(helloOf(f, "good.example"))
	f.Add(helloOf(f, "other.example"))
	f.Add(cut(helloOf(f, "good.example")[5:], 40))
	f.Add([]byte("\x16\x03\x01\x00\x04\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if judge(raw, "good.example") != nil {
			return
		}
		ours, theirs := net.Pipe()
		defer ours.Close()
		found := make(chan string, 1)
		go func() {
			defer theirs.Close()
			_ = tls.Server(theirs, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
				found <- h.ServerName
				return nil, io.EOF
			}}).HandshakeContext(context.Background()) //nolint:gosec // nothing is sent
			close(found)
		}()
		go func() { _, _ = ours.Write(raw) }()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		if name, ok := <-found; ok && !strings.EqualFold(name, "good.example") {
			t.Errorf("let through for good.example, and %q for a server", name)
		}
	})
}

// FuzzHead: a head that is let through is one request for net/http, of one host.
func FuzzHead(f *testing.F) {
	for _, text := range []string{
		"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", "CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n",
		"POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "GET / HTTP/1.0\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: a\r\n X: b\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bufio.NewReader(bytes.NewReader(raw))
		head, err := readHead(r)
		if err != nil {
			return
		}
		req, host, err := parseHead(head)
		if err != nil {
			return
		}
		if len(req.Header.Values("Content-Length")) > 1 || len(req.TransferEncoding) > 0 && req.Header.Get("Content-Length") != "" || bytes.Count(head, []byte("\n")) != bytes.Count(head, []byte("\r\n")) {
			t.Errorf("taken: %q", head)
		}
		if req.URL.Host == "" && req.Host != host && req.Method != http.MethodConnect {
			t.Errorf("%q: the host is %q here and %q there", head, host, req.Host)
		}
		strip(req.Header)
		for _, name := range []string{"Connection", "Upgrade", "Proxy-Authorization", "Transfer-Encoding"} {
			if _, ok := req.Header[name]; ok {
				t.Errorf("%s is left in %q", name, head)
			}
		}
	})
}
