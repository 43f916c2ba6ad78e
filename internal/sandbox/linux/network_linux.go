//go:build amd64 || arm64

package linux

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostproxy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// proxyPort is where the proxy listens on the loopback of a program. It is always the
// same, so that a setting of a program that knows no variables can name it.
const (
	proxyPort    = 3128
	proxyAddress = "127.0.0.1:3128"
	namesPort    = 53
)

// Which socket comes with a report.
const (
	socketProxy = 1
	socketNames = 2
)

// ownSockets opens the sockets of the program's network that are served out here, and
// hands them over. They are made inside, where nobody else reaches them, and are
// closed there again before the program runs.
func (s *script) ownSockets(j *job) {
	l := label{stepNetwork, "looking for questions about names"}
	const quiet = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	names := s.kept(l, unix.SYS_SOCKET, num(unix.AF_INET), num(unix.SOCK_DGRAM|quiet), num(0))
	message := s.withFile(reportSocket, socketNames)
	bind := s.do(l, unix.SYS_BIND, names, at(s.put(loopback(namesPort))), num(16))
	bind.tolerate, bind.skip = anyError, 1 // it only serves a better answer
	s.do(l, unix.SYS_SENDMSG, num(reportAt), message, num(0))
	s.close(l, names)
	if !j.proxy {
		return
	}
	l.detail = "opening the proxy"
	proxy := s.kept(l, unix.SYS_SOCKET, num(unix.AF_INET), num(unix.SOCK_STREAM|quiet), num(0))
	message = s.withFile(reportSocket, socketProxy)
	s.do(l, unix.SYS_BIND, proxy, at(s.put(loopback(proxyPort))), num(16))
	s.do(l, unix.SYS_LISTEN, proxy, num(128))
	s.do(l, unix.SYS_SENDMSG, num(reportAt), message, num(0))
	s.close(l, proxy)
}

// loopback is a struct sockaddr_in.
func loopback(port uint16) []byte {
	address := make([]byte, 16)
	binary.LittleEndian.PutUint16(address, unix.AF_INET)
	binary.BigEndian.PutUint16(address[2:], port)
	copy(address[4:], []byte{127, 0, 0, 1})
	return address
}

// ownNetwork is what we serve on the loopback of one program. Nil: the program has
// the network of the host.
type ownNetwork struct {
	hosts []string
	proxy *hostproxy.Proxy // nil: no host was granted
	log   sandbox.NetworkLog

	mu    sync.Mutex
	names net.PacketConn // nil: not there, or closed
	asked sandbox.AskedNames
	busy  sync.WaitGroup
	over  bool
}

func (s *Sandbox) openNetwork(ctx context.Context, hosts []string) *ownNetwork {
	n := &ownNetwork{hosts: hosts}
	n.log.Key, n.log.Held = sandbox.HostsKey(ctx), sandbox.HeldHosts(ctx)
	if len(hosts) == 0 {
		return n
	}
	cfg := hostproxy.Config{Hosts: hosts, Key: n.log.Key, HTTP: s.cfg.HTTP, Ended: n.log.Add}
	if watch, ok := sandbox.WatchOf(ctx); ok {
		cfg.Begin = watch.Begin
		cfg.Ended = func(c hostproxy.Connection) {
			n.log.Add(c)
			watch.Ended(c)
		}
	}
	n.proxy = hostproxy.New(cfg)
	return n
}

// serve takes a socket over that was made inside.
func (n *ownNetwork) serve(which uint32, file *os.File) {
	if file == nil {
		return
	}
	defer func() { _ = file.Close() }() // what is served is a copy
	if n == nil {
		return
	}
	switch {
	case which == socketProxy && n.proxy != nil:
		if l, err := net.FileListener(file); err == nil { // else nobody answers inside
			n.busy.Go(func() { n.proxy.Serve(l) })
		}
	case which == socketNames:
		conn, err := net.FilePacketConn(file)
		if err != nil {
			return
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.over {
			_ = conn.Close() // nobody will ask
			return
		}
		n.names = conn
		n.busy.Go(func() { n.asked.Answer(conn) })
	}
}

// close ends every connection, and waits until all were told of.
func (n *ownNetwork) close() {
	if n == nil {
		return
	}
	n.mu.Lock()
	names := n.names
	n.names, n.over = nil, true
	n.mu.Unlock()
	if names != nil {
		_ = names.Close() // nobody is left to ask
	}
	if n.proxy != nil {
		n.proxy.Close()
	}
	n.busy.Wait()
}

// notes tell what a program was refused, and what it looked for in vain.
func (n *ownNetwork) notes(exit toolcrib.Exit) []string {
	if n == nil {
		return nil
	}
	notes := n.log.Notes()
	if exit.Code != 0 || exit.TimedOut {
		notes = append(notes, n.asked.Notes(n.proxy != nil, "http://127.0.0.1:"+strconv.Itoa(proxyPort), &n.log)...)
	}
	return notes
}
