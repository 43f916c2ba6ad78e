package bus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

const (
	// DefaultAddr is where voice assistants look for their bus.
	DefaultAddr = "127.0.0.1:8181"
	// DefaultPath is the only path of a bus.
	DefaultPath = "/core"
	// DefaultMaxFrame is the limit that the voice assistant ships with.
	DefaultMaxFrame = 25 << 20
	// Greeting is the first frame a client gets, byte for byte.
	Greeting = `{"type":"connected","data":{},"context":{"session":{"session_id":"default"}}}`
)

// ServerConfig says how a bus is served. The zero value is a bus for the
// programs of this machine.
type ServerConfig struct {
	// Addr is where [Server.Listen] listens; empty is [DefaultAddr].
	Addr string
	// Path is the path of the bus; empty is [DefaultPath].
	Path string
	// Remote allows addresses other than loopback. It needs a Token.
	Remote bool
	// Token, if not empty, has to be presented by every client: as a bearer
	// token, or as ?token= after the path, which every client in the field can
	// be told in its route setting.
	Token string
	// Origins are the web pages (scheme://host:port) whose scripts may connect.
	Origins []string
	// TLS, if not nil, makes [Server.Serve] speak TLS.
	TLS *tls.Config
	// MaxFrame is the size limit of a frame; 0 is [DefaultMaxFrame].
	MaxFrame int
	// RelayPoison passes frames on that disconnect Python clients, as the
	// original does.
	RelayPoison bool
	// MaxClients is how many may be connected; 0 is 1000.
	MaxClients int
	// QueueFrames and QueueBytes are how far a client may fall behind before
	// it is dropped; 0 is 65536 frames and 64 MiB. Clients share the memory.
	QueueFrames int
	QueueBytes  int64
	// WriteTimeout is how long a client may take nothing at all while frames
	// wait for it; 0 is 20 s.
	WriteTimeout time.Duration
	// Joined, if not nil, is told of a client before it hears anything, and Left
	// after it is gone. Both must return soon.
	Joined, Left func()
	// Log gets what clients do wrong; nil is nowhere.
	Log *slog.Logger
}

// Stats are counts since the server was made, and the clients of now.
type Stats struct {
	Clients  int
	Received uint64 // frames that came in
	Sent     uint64 // frames that went out, each counted once per client
	Poison   uint64 // frames that were not passed on
	Slow     uint64 // clients dropped because they did not keep up
	Queued   int64  // bytes that wait for at least one client
}

// Server is a message bus. It is an http.Handler, and serves by itself.
type Server struct {
	cfg      ServerConfig
	origins  map[string]bool
	ofOthers func(*http.Request) bool // of another account; of nobody's in tests without a connection
	log      *slog.Logger
	feed     *feed
	scratch  sync.Pool    // of *[]byte, for writing batches
	arriving atomic.Int64 // bytes of large frames that are not complete

	mu      sync.Mutex
	closed  bool
	peers   map[*peer]bool
	entered int // handshakes under way and clients
	running sync.WaitGroup

	stats struct{ received, sent, poison, slow atomic.Uint64 }
}

// NewServer makes a server. It fails if the config asks for less safety than
// it may.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Remote && cfg.Token == "" {
		return nil, errors.New("a bus for other machines needs a token: whoever connects can use every tool")
	}
	cfg.Addr = cmp.Or(cfg.Addr, DefaultAddr)
	cfg.Path = cmp.Or(cfg.Path, DefaultPath)
	cfg.MaxFrame = cmp.Or(cfg.MaxFrame, DefaultMaxFrame)
	cfg.MaxClients = cmp.Or(cfg.MaxClients, 1000)
	cfg.QueueFrames = cmp.Or(cfg.QueueFrames, 65536)
	cfg.QueueBytes = cmp.Or(cfg.QueueBytes, 64<<20)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, 20*time.Second)
	if cfg.MaxFrame < 0 || cfg.MaxClients < 0 || cfg.QueueFrames < 0 || cfg.QueueBytes < 0 || cfg.WriteTimeout < 0 {
		return nil, errors.New("the limits of a bus cannot be negative")
	}
	origins, err := originSet(cfg.Origins)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, origins: origins, ofOthers: ofOthers, log: cfg.Log, feed: newFeed(cfg.QueueFrames, cfg.QueueBytes), peers: map[*peer]bool{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.scratch.New = func() any {
		b := make([]byte, 0, batchBytes)
		return &b
	}
	return s, nil
}

// Listen opens the configured address.
func (s *Server) Listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listening for the bus: %w. If another program has this address, stop it, or choose another one with 'toolcrib bus serve --listen ADDRESS' or in bus.listen", err)
	}
	if err := s.mayServe(ln.Addr()); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// Serve serves the bus on a listener until the context ends, then drops every
// client and returns nil. A server serves once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if err := s.mayServe(ln.Addr()); err != nil {
		return errors.Join(err, ln.Close())
	}
	if s.cfg.TLS != nil {
		secure := s.cfg.TLS.Clone()
		secure.NextProtos = []string{"http/1.1"} // a websocket begins in no other
		ln = tls.NewListener(ln, secure)
	}
	server := httpapi.NewServer(s, s.log)
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // the listener's error comes out of Serve
	defer stop()
	err := server.Serve(ln)
	s.Close()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serving the bus: %w", err)
}

// Close drops every client, without a closing handshake, and lets nobody in
// any more.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for p := range s.peers {
		p.wire.drop(false)
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Stats counts.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	clients := len(s.peers)
	s.mu.Unlock()
	s.feed.mu.Lock()
	queued := s.feed.bytes
	s.feed.mu.Unlock()
	return Stats{
		Clients: clients, Received: s.stats.received.Load(), Sent: s.stats.sent.Load(),
		Poison: s.stats.poison.Load(), Slow: s.stats.slow.Load(), Queued: queued,
	}
}

// budget is how much memory large frames may take while they arrive.
func (s *Server) budget() int64 { return 8 * (int64(s.cfg.MaxFrame) + headroom + 1) }

// ServeHTTP connects one client and returns when it has gone.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refusal := s.refuse(r); refusal != nil {
		s.log.Warn("bus client refused", "addr", r.RemoteAddr, "cause", refusal.why)
		httpapi.Fail(w, refusal.status, refusal.why)
		return
	}
	if !s.enter() {
		httpapi.Fail(w, http.StatusServiceUnavailable, "the bus is full or closing")
		return
	}
	defer s.leave()
	p := &peer{server: s, wire: &wireConn{timeout: s.cfg.WriteTimeout}, addr: r.RemoteAddr}
	defer s.forget(p)
	// Who sees that it is connected must not miss what is sent from then on.
	hijack := &hijackWriter{ResponseWriter: w, wire: p.wire, join: func() { s.join(p) }}
	// Origins were judged above, by a narrower rule than the library's.
	conn, err := websocket.Accept(hijack, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		s.log.Debug("bus handshake failed", "addr", r.RemoteAddr, "cause", err)
		return
	}
	conn.SetReadLimit(-1) // the library's limit says goodbye politely; see wireConn.drop
	p.conn = conn
	p.run()
}

// join gives a client its place, or drops it if the server has closed since.
func (s *Server) join(p *peer) {
	if s.cfg.Joined != nil {
		s.cfg.Joined()
	}
	p.at = s.feed.join(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = true
	if s.closed {
		p.wire.drop(false)
	}
}

// forget is the last that is done for a client.
func (s *Server) forget(p *peer) {
	s.feed.leaveQueue(p)
	p.wire.drop(false)
	s.mu.Lock()
	delete(s.peers, p)
	s.mu.Unlock()
	if s.cfg.Left != nil {
		s.cfg.Left()
	}
}

// enter counts a client in, if there is room and the server is open.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.entered >= s.cfg.MaxClients {
		return false
	}
	s.entered++
	s.running.Add(1)
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entered--
	s.running.Done()
}
