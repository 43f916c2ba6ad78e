package sandbox

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/hostproxy"
)

func TestProxyEnv(t *testing.T) {
	env := ProxyEnv([]string{"A=1", "HTTPS_PROXY=http://elsewhere", "all_proxy=socks5://x", "HTTPS_PROXY_X=2", "NO_PROXY=*"}, "127.0.0.1:3128", []string{"good.example"})
	for _, want := range []string{"A=1", "HTTPS_PROXY_X=2", "HTTPS_PROXY=http://127.0.0.1:3128", "http_proxy=http://127.0.0.1:3128", "NO_PROXY=localhost,127.0.0.1,::1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	if all := strings.Join(env, "\n"); strings.Contains(all, "elsewhere") || strings.Contains(all, "socks5") || strings.Contains(all, "=*") {
		t.Errorf("%q", env)
	}
}

// TestOwnLoopback: who was granted this machine reaches it, which is never the loopback
// inside, so that programs must not pass the proxy by.
func TestOwnLoopback(t *testing.T) {
	for _, tt := range []struct{ hosts, want string }{
		{"", "localhost,127.0.0.1,::1"}, {"good.example 10.0.0.0/8", "localhost,127.0.0.1,::1"},
		{"LOCALHOST", "127.0.0.1,::1"}, {"127.0.0.1", "localhost,::1"}, {"localhost 127.0.0.0/8 ::1", ""},
	} {
		if got := strings.Join(ownLoopback(strings.Fields(tt.hosts)), ","); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.hosts, got, tt.want)
		}
	}
}

// TestNotesNameTheDeclaration: where a file declares the hosts, the settings would not help.
func TestNotesNameTheDeclaration(t *testing.T) {
	l := NetworkLog{Key: "hosts in weather.sh"}
	l.Add(hostproxy.Connection{Host: "pypi.org", Refused: "the host was not granted", NotListed: true})
	if got := l.Notes(); !slices.Equal(got, []string{"pypi.org was refused: hosts in weather.sh does not list it; to allow it, add it there"}) {
		t.Errorf("%q", got)
	}
	a := AskedNames{names: []string{"pypi.org"}}
	if got := strings.Join(a.Notes(false, "", &l), ""); strings.Contains(got, "grant.hosts") || !strings.Contains(got, l.Key) {
		t.Errorf("%q", got)
	}
}

func TestNetworkNotes(t *testing.T) {
	var l NetworkLog
	l.Add(hostproxy.Connection{Host: "good.example"})
	for range 3 {
		l.Add(hostproxy.Connection{Host: "registry.example", Refused: "the host was not granted", NotListed: true})
	}
	l.Add(hostproxy.Connection{Host: "pypi.org", Refused: "the host was not granted", NotListed: true})
	l.Add(hostproxy.Connection{Host: "nas.example", Refused: "it leads to a private address"})
	l.Add(hostproxy.Connection{Refused: "the request is not written in the plain way"})
	want := []string{
		"registry.example was refused: grant.hosts does not list it; to allow it, add it there", "pypi.org was refused: grant.hosts does not list it; grant.hosts: [pip] gives the registries of pip",
		"nas.example was refused: it leads to a private address", "a connection was refused: the request is not written in the plain way",
	}
	if got := l.Notes(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for i := range 30 {
		l.Add(hostproxy.Connection{Host: strings.Repeat("x", i+1), Refused: "no", NotListed: true})
	}
	if got := l.Notes(); len(got) != maxRefused+1 || !strings.Contains(got[maxRefused], "further") {
		t.Errorf("%d notes: %q", len(got), got)
	}
}

func question(name string) []byte {
	q := []byte{1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for label := range strings.SplitSeq(name, ".") {
		q = append(append(q, byte(len(label))), label...)
	}
	return append(q, 0, 0, 1, 0, 1)
}

// TestAskedNames: questions are answered at once, and remembered.
func TestAskedNames(t *testing.T) {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	var a AskedNames
	done := make(chan struct{})
	go func() { defer close(done); a.Answer(conn) }()
	client, err := net.Dial("udp4", conn.LocalAddr().String()) //nolint:noctx // it is this machine
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(30 * time.Second))
	for _, q := range [][]byte{[]byte("nonsense"), question("Crates.Example"), question("crates.example")} {
		if _, err := client.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 512)
	n, err := client.Read(buf)
	if err != nil || n != len(question("Crates.Example")) || buf[0] != 1 || buf[2]&0x80 == 0 || buf[3]&0x0f != 3 {
		t.Errorf("%x, %v", buf[:n], err)
	}
	if _, err := client.Read(buf); err != nil {
		t.Error(err)
	}
	_ = conn.Close()
	<-done
	if got := a.Notes(false, "", &NetworkLog{}); len(got) != 1 || got[0] != "this command has no network, and looked for crates.example: names in grant.hosts give commands those hosts" {
		t.Errorf("%q", got)
	}
}

func FuzzNoSuchName(f *testing.F) {
	f.Add(question("a.example"))
	f.Add([]byte{})
	f.Add(append(question("a"), 0xc0, 0x0c))
	f.Fuzz(func(t *testing.T, q []byte) {
		name, reply := noSuchName(q)
		if len(reply) > 0 && (len(reply) > len(q) || reply[2]&0x80 == 0) || strings.ContainsAny(name, "\x00\n\x1b ") || name != "" && reply == nil {
			t.Errorf("%q: %q, %x", q, name, reply)
		}
	})
}
