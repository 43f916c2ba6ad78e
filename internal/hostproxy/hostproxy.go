// Package hostproxy is the way of a confined program to the hosts that were granted:
// an HTTP proxy that judges each connection as the handle on hosts judges a request.
// Sandboxes that can give a program a network of its own serve it there.
//
// Its one invariant: no byte goes to a host that grant.hosts does not give, and none
// to an address that was not judged on the socket that connects to it.
//
// What passes: https by CONNECT, if what follows is TLS for the host that was named,
// and http, in the form that is meant for proxies or within CONNECT, one request for
// each connection. Everything else is refused, since nobody could tell which host it
// is for.
package hostproxy

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// Config says what a proxy lets through. Zero bounds have the usual values.
type Config struct {
	Hosts []string // entries of grant.hosts
	Key   string   // the setting that lists them, for refusals; empty: grant.hosts
	HTTP  httpclient.Options

	// Begin is asked before the first byte goes anywhere, once for each connection
	// that is let through; an error refuses it. Nil: nobody is asked.
	Begin func(host, port string) error
	// Ended is told of every connection, also those that were refused. It is called
	// by many at once. Nil: nobody is told.
	Ended func(Connection)

	Connections int           // at once; default 64
	Head        time.Duration // for a request, or the beginning of TLS, to come; default 30 s
	Idle        time.Duration // without a byte in either direction; default 10 min
	Now         func() time.Time
}

// Connection is what became of one. Host and Port are as the program asked for them,
// and empty if it asked for nothing that could be read.
type Connection struct {
	Host, Port string
	Refused    string // why; empty: it was let through
	NotListed  bool   // it was refused because grant.hosts does not give the host
	Failed     string // it was let through, and nothing came of it
	Sent       int64  // to the host
	Received   int64
	Start      time.Time
	Duration   time.Duration
}

// Proxy serves one program.
type Proxy struct {
	cfg  Config
	gate *httpclient.Gate

	life context.Context
	end  context.CancelFunc
	room chan struct{}
	busy sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]struct{} // nil: closed
	listen net.Listener
}

// New makes a proxy for the given hosts.
func New(cfg Config) *Proxy {
	cfg.Connections = cmp.Or(cfg.Connections, 64)
	cfg.Head = cmp.Or(cfg.Head, 30*time.Second)
	cfg.Idle = cmp.Or(cfg.Idle, 10*time.Minute)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Proxy{cfg: cfg, gate: httpclient.NewGate(cfg.Hosts, cfg.HTTP), room: make(chan struct{}, cfg.Connections), open: map[net.Conn]struct{}{}}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// Serve takes connections until the proxy is closed or the listener fails. It owns
// the listener.
func (p *Proxy) Serve(l net.Listener) {
	p.mu.Lock()
	closed := p.open == nil
	if !closed {
		p.listen = l
	}
	p.mu.Unlock()
	if closed {
		_ = l.Close() // nobody will be served
		return
	}
	for {
		select { // those that come later wait in the queue of the kernel
		case p.room <- struct{}{}:
		case <-p.life.Done():
			return
		}
		conn, err := l.Accept()
		if err != nil {
			<-p.room
			var t interface{ Temporary() bool }
			if p.life.Err() == nil && errors.As(err, &t) && t.Temporary() {
				pause(p.life, 10*time.Millisecond)
				continue
			}
			return
		}
		if !p.take(conn) {
			<-p.room
			_ = conn.Close() // it came too late
			return
		}
		go func() {
			defer p.busy.Done()
			defer func() { <-p.room }()
			defer p.drop(conn)
			p.serve(conn)
		}()
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (p *Proxy) take(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return false
	}
	p.open[conn] = struct{}{}
	p.busy.Add(1)
	return true
}

func (p *Proxy) drop(conn net.Conn) {
	_ = conn.Close() // it may be closed already
	p.mu.Lock()
	delete(p.open, conn)
	p.mu.Unlock()
}

// Close ends every connection and waits until all were told of.
func (p *Proxy) Close() {
	p.mu.Lock()
	conns, l := p.open, p.listen
	p.open = nil
	p.mu.Unlock()
	p.end()
	if l != nil {
		_ = l.Close() // what waits there is refused by the kernel
	}
	p.gate.Close()
	for c := range conns {
		_ = c.Close() // whoever serves it notices
	}
	p.busy.Wait()
}

// visit is one connection of the program.
type visit struct {
	proxy *Proxy
	conn  net.Conn
	told  Connection

	sent, received atomic.Int64
}

func (p *Proxy) serve(conn net.Conn) {
	v := &visit{proxy: p, conn: conn}
	v.told.Start = p.cfg.Now()
	asked := v.handle()
	if !asked { // a program that looked whether somebody is there
		return
	}
	v.told.Duration = p.cfg.Now().Sub(v.told.Start)
	v.told.Sent, v.told.Received = v.sent.Load(), v.received.Load()
	if p.cfg.Ended != nil {
		p.cfg.Ended(v.told)
	}
}

// admit judges a target, and has what is let through written down first.
func (v *visit) admit(scheme, hostport string) (httpclient.Target, error) {
	v.told.Host, v.told.Port = named(scheme, hostport)
	to, err := v.proxy.gate.Admit(scheme, hostport)
	if err != nil {
		v.told.NotListed = errors.Is(err, httpclient.ErrNotListed)
		if key := v.proxy.cfg.Key; key != "" && v.told.NotListed {
			err = refusal.New(refusal.Denied, "the host "+v.told.Host+" was not granted; to allow it, add it to "+key, httpclient.ErrNotListed)
		}
		return to, err
	}
	v.told.Host, v.told.Port = to.Host, to.Port
	if v.proxy.cfg.Begin != nil {
		if err := v.proxy.cfg.Begin(to.Host, to.Port); err != nil {
			return to, refusal.New(refusal.Unavailable, "the connection cannot be recorded, and what cannot be recorded is not done", err)
		}
	}
	return to, nil
}
