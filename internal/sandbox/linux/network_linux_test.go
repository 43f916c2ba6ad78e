//go:build amd64 || arm64

package linux

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostproxy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// bash runs a script of bash, which can speak TCP and UDP by itself.
func bash(t *testing.T, s *Sandbox, hosts []string, watch *sandbox.NetworkWatch, script string) (string, toolcrib.Exit) {
	t.Helper()
	ctx := t.Context()
	if watch != nil {
		ctx = sandbox.WithWatch(ctx, *watch)
	}
	var out bytes.Buffer
	cmd := toolcrib.Cmd{Path: "/bin/bash", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin", "https_proxy=http://10.0.0.1:1", "ALL_PROXY=socks5://10.0.0.1:1"}, Stdout: &out, Stderr: &out}
	exit, err := s.Run(ctx, cmd, toolcrib.Grant{Hosts: hosts, Time: 30 * time.Second})
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return out.String(), exit
}

// asks sends a request to the proxy from inside and prints what comes back.
func asks(request string) string {
	return `exec 3<>/dev/tcp/127.0.0.1/3128 && printf '` + strings.ReplaceAll(request, "\r\n", `\r\n`) + `' >&3 && cat <&3; exec 3>&-; `
}

func server(t *testing.T) (at, port string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("hello " + r.Host)) }))
	t.Cleanup(srv.Close)
	at = srv.Listener.Addr().String()
	_, port, _ = net.SplitHostPort(at)
	return at, port
}

// TestNamedHosts: a program reaches exactly the hosts that were granted, by the proxy
// and in no other way, and each connection is told.
func TestNamedHosts(t *testing.T) {
	s := open(t, Config{})
	at, port := server(t)
	var mu sync.Mutex
	var told []hostproxy.Connection
	begun := 0
	watch := &sandbox.NetworkWatch{
		Begin: func(string, string) error { mu.Lock(); defer mu.Unlock(); begun++; return nil },
		Ended: func(c hostproxy.Connection) { mu.Lock(); defer mu.Unlock(); told = append(told, c) },
	}
	out, exit := bash(t, s, []string{"127.0.0.1", "good.example"}, watch,
		`env; `+asks("GET http://"+at+"/ HTTP/1.1\r\nHost: "+at+"\r\n\r\n")+asks("GET http://127.0.0.2:"+port+"/ HTTP/1.1\r\nHost: 127.0.0.2:"+port+"\r\n\r\n")+asks("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example\r\n\r\n"))
	if exit.Code != 0 || strings.Count(out, "hello "+at) != 1 || strings.Count(out, "HTTP/1.1 403") != 2 {
		t.Errorf("%+v\n%s", exit, out)
	}
	for _, want := range []string{"https_proxy=http://127.0.0.1:3128", "HTTP_PROXY=http://127.0.0.1:3128", "NO_PROXY=localhost", "NODE_USE_ENV_PROXY=1"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not set", want)
		}
	}
	if strings.Contains(out, "10.0.0.1") {
		t.Error("a proxy that cannot be reached is still named")
	}
	if begun != 1 || len(told) != 3 || told[0].Refused != "" || told[0].Received == 0 || !told[2].NotListed {
		t.Errorf("%d begun, told %+v", begun, told)
	}
	if notes := strings.Join(exit.Notes, "\n"); !strings.Contains(notes, "other.example was refused: grant.hosts does not list it") || !strings.Contains(notes, "127.0.0.2 was refused") {
		t.Errorf("notes: %s", notes)
	}
}

// TestNoWayAroundTheProxy: with hosts granted, a program has no more network of its
// own than without.
func TestNoWayAroundTheProxy(t *testing.T) {
	s := open(t, Config{})
	_, port := server(t)
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	_, udpPort, _ := net.SplitHostPort(udp.LocalAddr().String())
	own := "127.0.0.1"
	if addrs, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
				own = n.IP.String()
			}
		}
	}
	script := ""
	for _, to := range []string{"127.0.0.1/" + port, own + "/" + port, "198.51.100.1/80", "::1/" + port} {
		script += `(exec 3<>/dev/tcp/` + to + `) 2>/dev/null && echo reached ` + to + `; `
	}
	script += `(echo x >/dev/udp/127.0.0.1/` + udpPort + `) 2>/dev/null; (echo x >/dev/udp/198.51.100.1/53) 2>/dev/null && echo sent; `
	script += `grep -v -e Inter -e face -e ' lo:' /proc/net/dev; awk 'NR>1' /proc/net/route; true`
	if out, _ := bash(t, s, []string{"127.0.0.1"}, nil, script); out != "" {
		t.Errorf("there is a way: %s", out)
	}
	_ = udp.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, _, err := udp.ReadFrom(make([]byte, 10)); err == nil {
		t.Errorf("%d bytes came from inside", n)
	}
}

// TestProxiesAreApart: the proxy of a program is reached neither from out here nor by
// the program of another sandbox that runs at the same time.
func TestProxiesAreApart(t *testing.T) {
	s := open(t, Config{})
	at, _ := server(t)
	request := "GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n"
	ready, done := make(chan struct{}), make(chan struct{})
	reader, writer := net.Pipe()
	go func() { // one with hosts, that waits
		defer close(done)
		cmd := toolcrib.Cmd{Path: "/bin/bash", Args: []string{"-c", "echo ready; read -t 30 x; true"}, Stdin: reader, Stdout: &telling{ready: ready}}
		_, _ = s.Run(t.Context(), cmd, toolcrib.Grant{Hosts: []string{"127.0.0.1"}, Time: 40 * time.Second})
	}()
	<-ready
	if conn, err := net.DialTimeout("tcp", proxyAddress, time.Second); err == nil { //nolint:noctx // it has a time limit
		_ = conn.Close()
		t.Errorf("%s is open out here (another program may have it)", proxyAddress)
	}
	if out, _ := bash(t, s, nil, nil, asks(request)+"true"); strings.Contains(out, "hello") || strings.Contains(out, "HTTP/1.1") {
		t.Errorf("without hosts: %s", out)
	}
	if out, _ := bash(t, s, []string{"good.example"}, nil, asks(request)); !strings.Contains(out, "HTTP/1.1 403") || strings.Contains(out, "hello") {
		t.Errorf("with other hosts: %s", out)
	}
	_ = writer.Close()
	<-done
}

// telling closes ready at the first byte.
type telling struct {
	once  sync.Once
	ready chan struct{}
}

func (t *telling) Write(b []byte) (int, error) {
	t.once.Do(func() { close(t.ready) })
	return len(b), nil
}

// TestLookedForInVain: a program without a network fails at once, and its notes say
// what it looked for.
func TestLookedForInVain(t *testing.T) {
	s := open(t, Config{})
	for _, c := range []struct {
		hosts []string
		want  string
	}{
		{nil, "this command has no network, and looked for registry.npmjs.org: grant.hosts: [npm] gives"},
		{[]string{"good.example"}, "this command looked for registry.npmjs.org by itself"},
	} {
		began := time.Now()
		out, exit := bash(t, s, c.hosts, nil, "getent hosts registry.npmjs.org")
		if exit.Code == 0 || !strings.Contains(strings.Join(exit.Notes, "\n"), c.want) {
			t.Errorf("%v: %+v %s", c.hosts, exit, out)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %s", took)
		}
		if _, exit := bash(t, s, c.hosts, nil, "getent hosts registry.npmjs.org; true"); len(exit.Notes) > 0 {
			t.Errorf("told although nothing failed: %q", exit.Notes)
		}
	}
}

// TestDebuggersWork: programs may trace each other and have fixed addresses.
func TestDebuggersWork(t *testing.T) {
	if _, exit := bash(t, open(t, Config{}), nil, nil, "setarch -R true"); exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
}
